package mechanical

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

const module = "github.com/informerbench/informerbench"

// Instrumented is a package that contains all its mutants.
type Instrumented struct {
	Mutants []Mutant
	// Files are the rewritten files, by the path of the original.
	Files map[string][]byte
}

// Load reads a package of the module; root is the module's folder, dir the package's folder
// within it.
func Load(root, dir string) (*packages.Package, error) {
	cfg := &packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo,
		Dir:  root,
	}
	pkgs, err := packages.Load(cfg, module+"/"+dir)
	if err != nil {
		return nil, err
	}
	if len(pkgs) != 1 || len(pkgs[0].Errors) > 0 {
		return nil, fmt.Errorf("loading %s: %d packages, errors %v", dir, len(pkgs), pkgs[0].Errors)
	}
	return pkgs[0], nil
}

// Place is a line of a file, by its full path.
type Place struct {
	File string
	Line int
}

// Instrument rewrites the package. Lines keep their numbers. The lines of spoiled stay
// unchanged, because the compiler has refused mutants there.
func Instrument(p *packages.Package, dir string, spoiled map[Place]bool) (Instrumented, error) {
	out := Instrumented{Files: map[string][]byte{}}
	next := 1
	seen := map[string]int{}
	for _, file := range p.Syntax {
		path := p.Fset.Position(file.Package).Filename
		src, err := os.ReadFile(path)
		if err != nil {
			return out, err
		}
		w := &rewriter{
			p: p, dir: dir, path: path, src: src, file: file, next: next, spoiled: spoiled,
			parents: map[ast.Node]ast.Node{},
		}
		w.walk()
		if len(w.mutants) == 0 {
			continue
		}
		for _, m := range w.mutants {
			k := m.Key()
			seen[k]++
			m.N = seen[k]
			out.Mutants = append(out.Mutants, m)
		}
		next = w.next
		w.insert(file.Name.End(), fmt.Sprintf("; import mechanical_ %q", module+"/internal/mechanical/active"), 0)
		out.Files[path] = w.text()
	}
	return out, nil
}

// edit replaces length bytes at offset by text. The rank orders edits at one offset: below
// 0 at the end of a node, the deepest node first; above 0 at its beginning, the deepest
// last.
type edit struct {
	offset, length int
	text           string
	rank           int
	made           int
}

// rewriter makes the edits of one file.
type rewriter struct {
	p       *packages.Package
	dir     string
	path    string
	src     []byte
	file    *ast.File
	next    int
	spoiled map[Place]bool
	parents map[ast.Node]ast.Node
	fn      *ast.FuncDecl

	edits   []edit
	mutants []Mutant
}

func (w *rewriter) offset(pos token.Pos) int { return w.p.Fset.Position(pos).Offset }

func (w *rewriter) source(n ast.Node) string {
	return strings.Join(strings.Fields(string(w.src[w.offset(n.Pos()):w.offset(n.End())])), " ")
}

// depth is the node's depth in the syntax tree.
func (w *rewriter) depth(n ast.Node) (d int) {
	for ; n != nil; n = w.parents[n] {
		d++
	}
	return d
}

func (w *rewriter) insert(pos token.Pos, text string, rank int) {
	w.edits = append(w.edits, edit{offset: w.offset(pos), text: text, rank: rank})
}

// before and after insert text around a node, inside the texts around its parents.
func (w *rewriter) before(n ast.Node, text string) { w.insert(n.Pos(), text, w.depth(n)) }
func (w *rewriter) after(n ast.Node, text string)  { w.insert(n.End(), text, -w.depth(n)) }

func (w *rewriter) replace(pos token.Pos, length int, text string) {
	w.edits = append(w.edits, edit{offset: w.offset(pos), length: length, text: text})
}

// mutate numbers the mutants of a node, one for each mutation, and returns the first
// number. It returns 0 if the node must not be mutated.
func (w *rewriter) mutate(n ast.Node, at token.Pos, mutations ...string) int {
	line := w.p.Fset.Position(at).Line
	if w.spoiled[Place{w.path, line}] {
		return 0
	}
	id := w.next
	function := ""
	if w.fn != nil {
		function = functionName(w.fn)
	}
	for _, m := range mutations {
		if m != "" {
			w.mutants = append(w.mutants, Mutant{
				ID: w.next, Package: w.dir, File: filepath.Base(w.path), Line: line, Function: function, Source: shortened(w.source(n)), Mutation: m,
			})
		}
		w.next++
	}
	return id
}

// shortened limits the text that shows a mutant to people.
func shortened(s string) string {
	const most = 90
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

// text applies the edits.
func (w *rewriter) text() []byte {
	for i := range w.edits {
		w.edits[i].made = i
	}
	slices.SortFunc(w.edits, func(a, b edit) int {
		switch {
		case a.offset != b.offset:
			return a.offset - b.offset
		case a.rank != b.rank:
			return a.rank - b.rank
		case a.rank < 0: // two edits of one node: the first made is the outer one
			return b.made - a.made
		}
		return a.made - b.made
	})
	var out []byte
	at := 0
	for _, e := range w.edits {
		out = append(out, w.src[at:e.offset]...)
		out = append(out, e.text...)
		at = e.offset + e.length
	}
	return append(out, w.src[at:]...)
}

// typeName formats a type as this file can refer to it.
func (w *rewriter) typeName(t types.Type) (string, bool) {
	ok := t != nil
	if b, basic := t.(*types.Basic); basic && b.Info()&types.IsUntyped != 0 {
		return "", false
	}
	name := types.TypeString(t, func(q *types.Package) string {
		if q == w.p.Types {
			return ""
		}
		for _, spec := range w.file.Imports {
			if strings.Trim(spec.Path.Value, `"`) == q.Path() {
				if spec.Name != nil {
					return spec.Name.Name
				}
				return q.Name()
			}
		}
		ok = false
		return q.Name()
	})
	return name, ok
}

func (w *rewriter) typeOf(e ast.Expr) types.Type { return w.p.TypesInfo.TypeOf(e) }

// constant reports whether the compiler knows the value.
func (w *rewriter) constant(e ast.Expr) bool { return w.p.TypesInfo.Types[e].Value != nil }

func (w *rewriter) basic(e ast.Expr, info types.BasicInfo) bool {
	t := w.typeOf(e)
	if t == nil {
		return false
	}
	if _, parameter := t.(*types.TypeParam); parameter {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&info != 0 && b.Info()&types.IsUntyped == 0
}
