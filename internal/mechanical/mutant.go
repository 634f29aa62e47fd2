package mechanical

import (
	"fmt"
	"go/ast"
	"strings"
)

// Mutant is one mistake in the rewritten package.
type Mutant struct {
	ID       int    // the value of active.Env that activates it
	Package  string // folder within the module, such as "core/impl/dense"
	File     string // its base name
	Line     int
	Function string // such as "(*Store).Add"; "" outside functions
	Source   string // the mutated text, on one line
	Mutation string // such as "< to <=" or "dropped"
	N        int    // distinguishes mutants that differ only in the line; from 1
}

// Key names the mutant in the ledger. It changes only with the function, the mutated text
// or the number of equal texts before it in the function.
func (m Mutant) Key() string {
	return strings.Join([]string{m.Package, m.Function, m.Source, m.Mutation, fmt.Sprint(m.N)}, " | ")
}

func (m Mutant) String() string {
	return fmt.Sprintf("%s/%s:%d %s: %s: %s", m.Package, m.File, m.Line, m.Function, m.Source, m.Mutation)
}

// functionName formats the name of a mutant's function.
func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	star := ""
	if p, ok := t.(*ast.StarExpr); ok {
		star, t = "*", p.X
	}
	switch g := t.(type) {
	case *ast.IndexExpr:
		t = g.X
	case *ast.IndexListExpr:
		t = g.X
	}
	name := "?"
	if id, ok := t.(*ast.Ident); ok {
		name = id.Name
	}
	return fmt.Sprintf("(%s%s).%s", star, name, d.Name.Name)
}
