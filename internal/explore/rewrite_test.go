package explore

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// rewritten has a line of source and what becomes of it, in a function f.
var rewritten = [][2]string{
	{`_ = t.n.Load()`, `_ = explore.At("f.n", &t.n).Load()`},
	{`t.p.Store(nil)`, `explore.At("f.p", &t.p).Store(nil)`},
	{`t.p.Load().n.Store(1)`, `explore.At("f.n", &explore.At("f.p", &t.p).Load().n).Store(1)`},
	{`t.n.Store(uint64(g()))`, `t.n.Store(explore.Arg("f.n", uint64(g())))`},
	{`t.n.CompareAndSwap(uint64(g()), 2)`, `t.n.CompareAndSwap(explore.Arg("f.n", uint64(g())), 2)`},
	{`(&t.n).Add(uint64(t.plain))`,
		`explore.At("f.n", (&t.n)).Add(uint64((*explore.At("f.plain", &t.plain))))`},
	{`atomic.StorePointer(&t.u, nil)`, `atomic.StorePointer(explore.At("f.u", &t.u), nil)`},
	{`atomic.StorePointer(&t.u, h())`, `atomic.StorePointer(&t.u, explore.Arg("f.u", h()))`},
	{`t.plain = 1`, `(*explore.At("f.plain", &t.plain)) = 1`},
	{`t.quiet.Store(t.quiet.Load())`, `t.quiet.Store(explore.Arg("f.quiet", t.quiet.Load()))`},
	{`t.c <- 1`, `explore.Arg("f.c", t.c) <- 1`},
	{`goruntime.Gosched()`, `explore.Point("f.Gosched")`},
	{`var mu sync.RWMutex; mu.Lock()`, `var mu explore.RWMutex; mu.Lock()`},
	{`_ = rand.IntN(3) + int(rand.Uint32())`,
		`_ = explore.Rand().IntN(3) + int(explore.Rand().Uint32())`},
	{`_ = maphash.String(seed, "x") + maphash.Comparable(seed, 1)`,
		`_ = explore.Hash(seed, "x") + explore.HashOf(seed, 1)`},
	{`for range map[string]int{} { }`, `for range explore.Ordered(map[string]int{}) { }`},
	{`for range map[*T]int{} { }`, `for range map[*T]int{} { }`},
}

const around = `package p; import explore "github.com/informerbench/informerbench/internal/explore"

import ("hash/maphash"; "math/rand/v2"; goruntime "runtime"; "sync"; "sync/atomic"; "unsafe")

type T struct { n, quiet atomic.Uint64; p atomic.Pointer[T]; u unsafe.Pointer; plain int
	c chan int }

var seed = maphash.MakeSeed()
func g() int { return 0 }
func h() unsafe.Pointer { return nil }
func f(t *T) {
	explore.Point("x")
	BODY
}
`

func TestRewrite(t *testing.T) {
	lines, want := "", ""
	for _, r := range rewritten {
		lines, want = lines+r[0]+"\n", want+r[1]+"\n"
	}
	text := strings.Replace(around, "BODY\n", lines, 1)
	want = strings.Replace(around, "BODY\n", want, 1)
	for _, name := range []string{`"math/rand/v2"`, `goruntime "runtime"`, `"sync"`} {
		want = strings.Replace(want, name, "_ "+strings.TrimPrefix(name, "goruntime "), 1)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}}
	conf := types.Config{Importer: stub{importer.ForCompiler(fset, "source", nil)}}
	if _, err := conf.Check("p", fset, []*ast.File{file}, info); err != nil {
		t.Fatal(err)
	}
	r := rewriter{code: Code{Plain: []string{"T.plain"}, Quiet: []string{"*.quiet.Load"}},
		pkg: &packages.Package{Fset: fset, TypesInfo: info}}
	got := strings.Split(string(r.rewrite(file, []byte(text))), "\n")
	for i, line := range strings.Split(want, "\n") {
		if i >= len(got) || got[i] != line {
			t.Fatalf("line %d is\n%s, want\n%s", i+1, got[min(i, len(got)-1)], line)
		}
	}
}

// stub imports this package without its imports.
type stub struct{ types.Importer }

func (s stub) Import(path string) (*types.Package, error) {
	if !strings.HasSuffix(path, "internal/explore") {
		return s.Importer.Import(path)
	}
	p := types.NewPackage(path, "explore")
	name := types.NewVar(token.NoPos, p, "name", types.Typ[types.String])
	p.Scope().Insert(types.NewFunc(token.NoPos, p, "Point",
		types.NewSignatureType(nil, nil, nil, types.NewTuple(name), nil, false)))
	p.MarkComplete()
	return p, nil
}

func TestFaultsThatCannotBePlanted(t *testing.T) {
	f := Fault{Name: "x", File: "p.go", Edits: [][2]string{{"a", "b"}}}
	for _, text := range []string{"", "a a"} {
		if _, err := f.edit(text); err == nil {
			t.Errorf("planted in %q", text)
		}
	}
	if text, err := f.edit("cac"); err != nil || text != "cbc" {
		t.Errorf("%q, %v", text, err)
	}
}
