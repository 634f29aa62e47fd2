package mechanical

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// walk makes every mutant of the file.
func (w *rewriter) walk() {
	var stack []ast.Node
	ast.Inspect(w.file, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if len(stack) > 0 {
			w.parents[n] = stack[len(stack)-1]
		}
		stack = append(stack, n)
		return true
	})
	for _, d := range w.file.Decls {
		w.fn = nil
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				w.fn = d
				ast.Inspect(d.Body, w.visit)
			}
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				ast.Inspect(d, w.visit)
			}
		}
	}
}

// visit mutates one node and reports whether to visit its children.
func (w *rewriter) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.ArrayType, *ast.StructType, *ast.InterfaceType, *ast.FuncType:
		return false // lengths must be constant
	case *ast.IfStmt:
		w.condition(n.Cond)
		w.elseBranch(n)
	case *ast.ForStmt:
		if n.Cond != nil {
			w.condition(n.Cond)
		}
	case *ast.CaseClause:
		w.caseClause(n)
	case *ast.BinaryExpr:
		w.binary(n)
	case *ast.UnaryExpr:
		if n.Op == token.NOT && !w.isCondition(n) && w.basic(n.X, types.IsBoolean) {
			if id := w.mutate(n, n.Pos(), "! left out"); id > 0 {
				w.before(n, fmt.Sprintf("mechanical_.Not(%d, ", id))
				w.edits[len(w.edits)-1].length = 1 // the operator itself
				w.after(n, ")")
			}
		}
	case *ast.BasicLit:
		w.literal(n)
	case *ast.Ident:
		w.boolean(n)
	case *ast.CallExpr:
		w.call(n)
	case *ast.IncDecStmt:
		w.incDec(n)
		return false
	}
	if s, ok := n.(ast.Stmt); ok {
		w.statement(s)
	}
	return true
}

// condition mutates the condition of an if, a for or a case.
func (w *rewriter) condition(c ast.Expr) {
	if b, ok := w.typeOf(c).Underlying().(*types.Basic); !ok || b.Info()&types.IsBoolean == 0 || w.constant(c) {
		return
	}
	if id := w.mutate(c, c.Pos(), "true", "false", "negated"); id > 0 {
		w.before(c, fmt.Sprintf("mechanical_.Cond(%d, ", id))
		w.after(c, ")")
	}
}

// isCondition reports whether condition already negates the expression.
func (w *rewriter) isCondition(e ast.Expr) bool {
	switch p := w.parents[e].(type) {
	case *ast.IfStmt:
		return p.Cond == e
	case *ast.ForStmt:
		return p.Cond == e
	case *ast.CaseClause:
		s, ok := w.parents[w.parents[p]].(*ast.SwitchStmt)
		return ok && s.Tag == nil
	}
	return false
}

var arithmetic = map[token.Token]struct{ fn, to string }{
	token.ADD: {"Add", "-"}, token.SUB: {"Sub", "+"}, token.MUL: {"Mul", "/"}, token.QUO: {"Div", "*"}, token.REM: {"Rem", "*"},
	token.AND: {"BitAnd", "|"}, token.OR: {"BitOr", "&"}, token.XOR: {"Xor", "&"}, token.AND_NOT: {"AndNot", "&"},
}

func (w *rewriter) binary(n *ast.BinaryExpr) {
	if w.constant(n) {
		return
	}
	op := n.Op.String()
	call := func(fn, tail string, mutations ...string) {
		if id := w.mutate(n, n.OpPos, mutations...); id > 0 {
			w.before(n, fmt.Sprintf("mechanical_.%s(%d, ", fn, id))
			w.replace(n.OpPos, len(op), ", ")
			w.after(n, tail)
		}
	}
	switch n.Op {
	case token.LAND, token.LOR:
		fn, other := "And", "||"
		if n.Op == token.LOR {
			fn, other = "Or", "&&"
		}
		if id := w.mutate(n, n.OpPos, op+" to "+other, "left operand alone", "right operand alone"); id > 0 {
			w.before(n, fmt.Sprintf("mechanical_.%s(%d, ", fn, id))
			w.replace(n.OpPos, len(op), ", func() bool { return (")
			w.after(n, ") })")
		}
	case token.EQL, token.NEQ:
		if !w.isCondition(n) {
			if id := w.mutate(n, n.OpPos, "negated"); id > 0 {
				w.before(n, fmt.Sprintf("mechanical_.Flip(%d, ", id))
				w.after(n, ")")
			}
		}
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		if !w.basic(n.X, types.IsOrdered) && !w.basic(n.Y, types.IsOrdered) {
			return
		}
		w.comparison(n)
	case token.SHL, token.SHR:
		t, ok := w.typeName(w.typeOf(n))
		s, ok2 := w.typeName(w.typeOf(n.Y))
		if !ok2 {
			s, ok2 = "uint", w.constant(n.Y)
		}
		if ok && ok2 && w.basic(n, types.IsInteger) {
			fn, to := "Shl", ">>"
			if n.Op == token.SHR {
				fn, to = "Shr", "<<"
			}
			call(fn+"["+t+", "+s+"]", ")", op+" to "+to)
		}
	default:
		a, ok := arithmetic[n.Op]
		t, named := w.typeName(w.typeOf(n))
		if ok && named && w.basic(n, types.IsNumeric) && !w.basic(n, types.IsComplex) {
			call(a.fn+"["+t+"]", ")", op+" to "+a.to)
		}
	}
}

// comparison mutates the bound. > and >= become < and <= with swapped operands, which are
// evaluated in their original order.
func (w *rewriter) comparison(n *ast.BinaryExpr) {
	type as struct {
		fn        string
		mutations []string
	}
	a := map[token.Token]as{
		token.LSS: {"Less", []string{"< to <=", "< to >="}},
		token.LEQ: {"LessEqual", []string{"<= to <", "<= to >"}},
		token.GTR: {"Greater", []string{"> to >=", "> to <="}},
		token.GEQ: {"GreaterEqual", []string{">= to >", ">= to <"}},
	}[n.Op]
	if w.isCondition(n) {
		a.mutations[1] = "" // condition makes the negation already
	}
	if id := w.mutate(n, n.OpPos, a.mutations...); id > 0 {
		w.before(n, fmt.Sprintf("mechanical_.%s(%d, ", a.fn, id))
		w.replace(n.OpPos, len(n.Op.String()), ", ")
		w.after(n, ")")
	}
}

func (w *rewriter) literal(n *ast.BasicLit) {
	if n.Kind != token.INT || !w.basic(n, types.IsNumeric) {
		return
	}
	switch p := w.parents[n].(type) {
	case *ast.KeyValueExpr:
		if p.Key == n {
			return // an array's index must be constant
		}
	case *ast.CaseClause:
		return
	}
	t, ok := w.typeName(w.typeOf(n))
	if !ok {
		return
	}
	mutations := []string{n.Value + " to " + n.Value + "+1", n.Value + " to " + n.Value + "-1", n.Value + " to 0"}
	if n.Value == "0" || n.Value == "1" {
		mutations = mutations[:2] // for 0 this is the original, for 1 it equals 1 - 1
	}
	if id := w.mutate(w.around(n), n.Pos(), mutations...); id > 0 {
		w.before(n, fmt.Sprintf("mechanical_.Num[%s](%d, ", t, id))
		w.after(n, ")")
	}
}

// around is the smallest node that shows a reader which literal is meant.
func (w *rewriter) around(n ast.Expr) ast.Node {
	switch p := w.parents[n].(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause, *ast.FuncDecl, nil:
		return n
	default:
		return p
	}
}

func (w *rewriter) boolean(n *ast.Ident) {
	if n.Name != "true" && n.Name != "false" || w.p.TypesInfo.Uses[n] == nil || w.p.TypesInfo.Uses[n].Parent() != types.Universe {
		return
	}
	if _, clause := w.parents[n].(*ast.CaseClause); clause || w.isCondition(n) {
		return
	}
	if id := w.mutate(w.around(n), n.Pos(), n.Name+" negated"); id > 0 {
		w.before(n, fmt.Sprintf("mechanical_.Flip(%d, ", id))
		w.after(n, ")")
	}
}

// call replaces the called function by another of the same signature.
func (w *rewriter) call(n *ast.CallExpr) {
	var options []string
	switch f := n.Fun.(type) {
	case *ast.SelectorExpr:
		sel := w.p.TypesInfo.Selections[f]
		if sel == nil || sel.Kind() != types.MethodVal || !plain(f.X) {
			return
		}
		set := types.NewMethodSet(types.NewPointer(sel.Recv()))
		if _, pointer := sel.Recv().(*types.Pointer); pointer || types.IsInterface(sel.Recv()) {
			set = types.NewMethodSet(sel.Recv())
		}
		for m := range set.Methods() {
			fn := m.Obj().(*types.Func)
			if fn != sel.Obj() && (fn.Exported() || fn.Pkg() == w.p.Types) && types.Identical(signature(m.Type()), signature(sel.Type())) {
				options = append(options, fn.Name())
			}
		}
		if other := after(options, f.Sel.Name); other != "" {
			if id := w.mutate(n, n.Pos(), f.Sel.Name+" to "+other); id > 0 {
				x := w.source(f.X)
				w.before(f, fmt.Sprintf("mechanical_.Fn(%d, ", id))
				w.after(f, fmt.Sprintf(", %s.%s)", x, other))
			}
		}
	case *ast.Ident:
		fn, ok := w.p.TypesInfo.Uses[f].(*types.Func)
		if !ok || fn.Parent() != w.p.Types.Scope() || signature(fn.Type()).TypeParams() != nil {
			return
		}
		for _, name := range w.p.Types.Scope().Names() {
			g, ok := w.p.Types.Scope().Lookup(name).(*types.Func)
			if ok && g != fn && g.Name() != w.fnName() && types.Identical(g.Type(), fn.Type()) {
				options = append(options, name)
			}
		}
		if other := after(options, f.Name); other != "" {
			if id := w.mutate(n, n.Pos(), f.Name+" to "+other); id > 0 {
				w.before(f, fmt.Sprintf("mechanical_.Fn(%d, ", id))
				w.after(f, ", "+other+")")
			}
		}
	}
}

func (w *rewriter) fnName() string {
	if w.fn == nil {
		return ""
	}
	return w.fn.Name.Name
}

func signature(t types.Type) *types.Signature {
	s, _ := t.(*types.Signature)
	if s == nil {
		return nil
	}
	return types.NewSignatureType(nil, nil, nil, s.Params(), s.Results(), s.Variadic())
}

// after is the option after name in alphabetical order, or the first.
func after(options []string, name string) string {
	slices.Sort(options)
	for _, o := range options {
		if o > name {
			return o
		}
	}
	if len(options) > 0 {
		return options[0]
	}
	return ""
}

// plain reports whether evaluating the expression twice has no side effect.
func plain(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return plain(e.X)
	}
	return false
}
