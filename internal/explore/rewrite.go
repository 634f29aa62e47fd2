package explore

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"

	"golang.org/x/tools/go/packages"
)

// rewriter inserts points into one file of a package. The name of a point is the function's and
// the field's:
//
//	x.f.Load()                    explore.At("Func.f", &x.f).Load()
//	x.f.Store(g())                x.f.Store(explore.Arg("Func.f", g()))
//	atomic.LoadPointer(&x.f)      atomic.LoadPointer(explore.At("Func.f", &x.f))
//	x.f, one of Code.Plain        (*explore.At("Func.f", &x.f))
//	x.c <- v                      explore.Arg("Func.c", x.c) <- v
//	runtime.Gosched()             explore.Point("Func.Gosched")
//	sync.Mutex, RWMutex, Cond     explore.Mutex, RWMutex, Cond
//	rand.IntN(n)                  explore.Rand().IntN(n)
//	maphash.String(seed, s)       explore.Hash(seed, s)
//	maphash.Comparable(seed, v)   explore.HashOf(seed, v)
//	range m, a map                range explore.Ordered(m)
//
// So each expression is evaluated in the order in which it was, and a point comes right before
// what it stands for. A deferred operation has its point at the defer statement.
type rewriter struct {
	code Code
	pkg  *packages.Package
	in   string // the function
	// edits have from <= to. Of those at one place the order decides.
	edits  []edit
	atomic map[ast.Expr]bool    // operands of &, which are no plain reads
	uses   map[types.Object]int // of imported packages
	gone   map[types.Object]int // of these uses, the replaced ones
}

type edit struct {
	from, to, order int
	text            string
}

// rewrite returns the text of a file with points.
func (r *rewriter) rewrite(file *ast.File, text []byte) []byte {
	r.atomic, r.uses, r.gone = map[ast.Expr]bool{}, map[types.Object]int{}, map[types.Object]int{}
	for _, d := range file.Decls {
		r.in = "init"
		if f, ok := d.(*ast.FuncDecl); ok {
			r.in = f.Name.Name
		}
		ast.Inspect(d, r.visit)
	}
	for _, spec := range file.Imports {
		p := r.pkg.TypesInfo.Implicits[spec]
		if spec.Name != nil {
			p = r.pkg.TypesInfo.Defs[spec.Name]
		}
		if r.gone[p] > 0 && r.gone[p] == r.uses[p] {
			r.replace(spec.Pos(), spec.Path.Pos(), "_ ")
		}
	}
	slices.SortFunc(r.edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.order, b.order))
	})
	var out []byte
	at := 0
	for _, e := range r.edits {
		out = append(append(out, text[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, text[at:]...)
}

func (r *rewriter) replace(from, to token.Pos, text string) {
	offset := r.pkg.Fset.File(from).Offset
	r.edits = append(r.edits, edit{offset(from), offset(to), 1 << 30, text})
}

// wrap puts text before and after x. The outer of two wraps that begin or end at one place comes
// first, so it is the outer one in the result.
func (r *rewriter) wrap(x ast.Expr, before, after string) {
	offset, n := r.pkg.Fset.File(x.Pos()).Offset, len(r.edits)+1
	r.edits = append(r.edits, edit{offset(x.Pos()), offset(x.Pos()), n, before},
		edit{offset(x.End()), offset(x.End()), -n, after})
}

// point returns the name of a point before an operation on x, quoted; false if there is to be none.
func (r *rewriter) point(x ast.Expr, operation string) (name string, ok bool) {
	name = r.in + "." + fieldOf(x)
	return strconv.Quote(name), !slices.ContainsFunc(r.code.Quiet, func(pattern string) bool {
		quiet, _ := path.Match(pattern, name+"."+operation)
		return quiet
	})
}

// fieldOf returns the last name in x.
func fieldOf(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.CallExpr:
		return fieldOf(x.Fun)
	case *ast.IndexExpr:
		return fieldOf(x.X)
	case *ast.ParenExpr:
		return fieldOf(x.X)
	case *ast.StarExpr:
		return fieldOf(x.X)
	case *ast.UnaryExpr:
		return fieldOf(x.X)
	}
	return "it"
}

func (r *rewriter) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Ident:
		if p, ok := r.pkg.TypesInfo.Uses[n].(*types.PkgName); ok {
			r.uses[p]++
		}
	case *ast.UnaryExpr:
		r.atomic[n.X] = n.Op == token.AND
	case *ast.CallExpr:
		r.call(n)
	case *ast.SelectorExpr:
		r.selector(n)
	case *ast.SendStmt:
		if name, ok := r.point(n.Chan, "Send"); ok {
			r.wrap(n.Chan, "explore.Arg("+name+", ", ")")
		}
	case *ast.RangeStmt:
		if m, ok := r.pkg.TypesInfo.TypeOf(n.X).Underlying().(*types.Map); ok {
			if key, ok := m.Key().Underlying().(*types.Basic); ok && key.Info()&types.IsOrdered != 0 {
				r.wrap(n.X, "explore.Ordered(", ")")
			}
		}
	}
	return true
}

func (r *rewriter) call(n *ast.CallExpr) {
	fun, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	f, ok := r.pkg.TypesInfo.Uses[fun.Sel].(*types.Func)
	if !ok || f.Pkg() == nil {
		return
	}
	switch f.Pkg().Path() + "." + f.Name() {
	case "runtime.Gosched":
		if name, ok := r.point(fun.Sel, "Call"); ok {
			r.take(fun.X)
			r.replace(n.Pos(), n.End(), "explore.Point("+name+")")
		}
		return
	case "hash/maphash.String":
		r.take(fun.X)
		r.replace(fun.Pos(), fun.End(), "explore.Hash")
		return
	case "hash/maphash.Comparable":
		r.take(fun.X)
		r.replace(fun.Pos(), fun.End(), "explore.HashOf")
		return
	}
	method := f.Signature().Recv() != nil
	switch f.Pkg().Path() {
	case "math/rand/v2":
		if !method {
			r.take(fun.X)
			r.replace(fun.X.Pos(), fun.X.End(), "explore.Rand()")
		}
	case "sync/atomic":
		subject, args, and := fun.X, n.Args, "&"
		if !method {
			subject, args = n.Args[0], n.Args[1:]
		}
		if _, pointer := r.pkg.TypesInfo.TypeOf(subject).Underlying().(*types.Pointer); pointer {
			and = ""
		}
		name, ok := r.point(subject, f.Name())
		if !ok {
			return
		}
		for _, arg := range slices.Backward(args) {
			if r.calls(arg) {
				r.wrap(arg, "explore.Arg("+name+", ", ")")
				return
			}
		}
		r.wrap(subject, "explore.At("+name+", "+and, ")")
	}
}

// take notes that the use of a package is replaced.
func (r *rewriter) take(pkg ast.Expr) {
	if ident, ok := pkg.(*ast.Ident); ok {
		r.gone[r.pkg.TypesInfo.Uses[ident]]++
	}
}

// calls reports whether x calls a function, not a builtin one or a conversion.
func (r *rewriter) calls(x ast.Expr) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			found = found || r.pkg.TypesInfo.Types[c.Fun].IsValue()
		}
		return !found
	})
	return found
}

func (r *rewriter) selector(n *ast.SelectorExpr) {
	switch o := r.pkg.TypesInfo.Uses[n.Sel]; {
	case o.Pkg() == nil:
	case o.Pkg().Path() == "sync" && slices.Contains([]string{"Mutex", "RWMutex", "Cond", "NewCond"},
		o.Name()):
		if _, imported := r.pkg.TypesInfo.Selections[n]; !imported {
			r.take(n.X)
			r.replace(n.X.Pos(), n.X.End(), "explore")
		}
	default:
		s := r.pkg.TypesInfo.Selections[n]
		if s == nil || s.Kind() != types.FieldVal || r.atomic[n] {
			return
		}
		of := s.Recv()
		if p, ok := of.Underlying().(*types.Pointer); ok {
			of = p.Elem()
		}
		named, ok := types.Unalias(of).(*types.Named)
		if !ok || !slices.Contains(r.code.Plain, named.Obj().Name()+"."+o.Name()) {
			return
		}
		if name, ok := r.point(n, "Plain"); ok {
			r.wrap(n, "(*explore.At("+name+", &", "))")
		}
	}
}
