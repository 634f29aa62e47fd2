package mechanical

// Statements that are dropped, reversed or made conditional.

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// listed reports whether the statement is in a list of statements.
func (w *rewriter) listed(s ast.Stmt) bool {
	switch p := w.parents[s].(type) {
	case *ast.BlockStmt:
		return true
	case *ast.CaseClause:
		return true
	case *ast.CommClause:
		return p.Comm != s
	}
	return false
}

// statement drops a statement.
func (w *rewriter) statement(s ast.Stmt) {
	if !w.listed(s) {
		return
	}
	what := "dropped"
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE || blank(s.Lhs) {
			return
		}
		w.reversed(s)
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); ok {
			if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "panic" && !w.early(s) {
				return
			}
		}
	case *ast.DeferStmt, *ast.SendStmt, *ast.GoStmt:
	case *ast.ReturnStmt, *ast.BranchStmt:
		if b, ok := s.(*ast.BranchStmt); ok && b.Tok == token.FALLTHROUGH || !w.early(s) {
			return
		}
	default:
		return
	}
	if id := w.mutate(s, s.Pos(), what); id > 0 {
		w.before(s, fmt.Sprintf("if mechanical_.On(%d) { ", id))
		w.after(s, " }")
	}
}

func blank(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return !ok || id.Name != "_"
	})
}

// early reports whether a statement that ends its block may be dropped. The compiler must
// not need it to see that the function ends. Dropping it must also do more than the mutants
// of the condition of its if.
func (w *rewriter) early(s ast.Stmt) bool {
	block, ok := w.parents[s].(*ast.BlockStmt)
	if !ok {
		return false
	}
	switch p := w.parents[block].(type) {
	case *ast.IfStmt:
		return p.Else == nil && p.Body == block && len(block.List) > 1
	case *ast.ForStmt:
		return p.Cond != nil
	case *ast.RangeStmt:
		return true
	}
	return false
}

// reversed turns += into -= and back.
func (w *rewriter) reversed(s *ast.AssignStmt) {
	if s.Tok != token.ADD_ASSIGN && s.Tok != token.SUB_ASSIGN || !w.basic(s.Lhs[0], types.IsNumeric) {
		return
	}
	t, ok := w.typeName(w.typeOf(s.Lhs[0]))
	if !ok {
		return
	}
	to := map[token.Token]string{token.ADD_ASSIGN: "+= to -=", token.SUB_ASSIGN: "-= to +="}[s.Tok]
	if id := w.mutate(s, s.TokPos, to); id > 0 {
		w.before(s.Rhs[0], fmt.Sprintf("mechanical_.Neg[%s](%d, ", t, id))
		w.after(s.Rhs[0], ")")
	}
}

// incDec drops or reverses ++ and --.
func (w *rewriter) incDec(s *ast.IncDecStmt) {
	if !w.listed(s) {
		return
	}
	other := strings.Replace("++--", s.Tok.String(), "", 1)
	if id := w.mutate(s, s.Pos(), "dropped", s.Tok.String()+" to "+other); id > 0 {
		w.before(s, fmt.Sprintf("if mechanical_.Is(%d) { %s%s } else if mechanical_.On(%d) { ", id+1, w.source(s.X), other, id))
		w.after(s, " }")
	}
}

// elseBranch drops an else that is not another if.
func (w *rewriter) elseBranch(n *ast.IfStmt) {
	if block, ok := n.Else.(*ast.BlockStmt); ok && len(block.List) > 1 && !terminates(block.List) {
		w.branch(block, block.List, "else dropped")
	}
}

// caseClause mutates the conditions of a switch without a tag, and drops the bodies of
// cases.
func (w *rewriter) caseClause(n *ast.CaseClause) {
	s, ok := w.parents[w.parents[n]].(*ast.SwitchStmt)
	if ok && s.Tag == nil {
		for _, c := range n.List {
			w.condition(c)
		}
	}
	if len(n.Body) > 1 && !terminates(n.Body) {
		w.branch(n, n.Body, "case dropped")
	}
}

// branch makes a list of statements conditional. No code outside the list uses the names
// that it declares.
func (w *rewriter) branch(n ast.Node, list []ast.Stmt, mutation string) {
	first, last := list[0], list[len(list)-1]
	if b, ok := last.(*ast.BranchStmt); ok && b.Tok == token.FALLTHROUGH {
		return
	}
	if id := w.mutate(first, n.Pos(), mutation); id > 0 {
		w.insert(first.Pos(), fmt.Sprintf("if mechanical_.On(%d) { ", id), w.depth(first)-1)
		w.insert(last.End(), " }", -(w.depth(last) - 1))
	}
}

// terminates reports whether the list may end the function.
func terminates(list []ast.Stmt) bool {
	switch s := list[len(list)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt, *ast.SwitchStmt, *ast.SelectStmt, *ast.TypeSwitchStmt, *ast.BlockStmt, *ast.LabeledStmt:
		return true
	case *ast.ForStmt:
		return s.Cond == nil
	case *ast.IfStmt:
		return s.Else != nil
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		id, ok := call.Fun.(*ast.Ident)
		return ok && id.Name == "panic"
	}
	return false
}
