package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// gate is the name of the feature gate, and nextGate the gate that follows it in the
// alphabetical lists of client-go's features/known_features.go.
const (
	gate     = "LockFreeThreadSafeStore"
	nextGate = "UnlockWhileProcessingFIFO"
)

// The lines that client-go's own files get. The gate has the minor version that the patches
// apply to: a component refuses a gate that is newer than the version it emulates.
const (
	gateConstant = `	// owner: TBD
	// kep: TBD
	// alpha: v1.37
	//
	// Keep the objects of an informer in a store whose readers take no lock, so that
	// goroutines that list cannot keep the informer from writing. Index may then call an
	// IndexFunc beside a write, so an IndexFunc that keeps state needs a lock.
	` + gate + ` Feature = "` + gate + `"

`
	gateSpec = `	` + gate + `: {
		{Version: version.MustParse("1.37"), Default: false, PreRelease: Alpha},
	},
`
	indexFuncDoc = `// It may be called by several goroutines at once: by Index, and with the feature gate
// ` + gate + ` beside a write too.
`
	constructorDoc = `// NewThreadSafeStore returns an empty store with the given indexes. The store without reader
// locks (feature gate ` + gate + `) does not use indices.
`
	choice = `	if clientgofeaturegate.FeatureGates().Enabled(clientgofeaturegate.` + gate + `) {
		return newLockFreeStore(indexers, store.metrics)
	}
`
)

// Tests of client-go that are about threadSafeMap itself, and those that are about every store
// but name its type.
var (
	testsOfMap = []string{
		"TestThreadSafeStoreDeleteRemovesEmptySetsFromIndex",
		"TestThreadSafeStoreAddKeepsNonEmptySetPostDeleteFromIndex",
		"TestThreadSafeStoreIndexingFunctionsWithMultipleValues",
	}
	testsOfStores = []string{"TestThreadSafeStoreRV", "BenchmarkIndexer"}
)

const (
	// gateOff is in thread_safe_store_lockfree_test.go.
	gateOff = "	withoutLockFreeStore(t)\n"

	mapType   = ".(*threadSafeMap)"
	storeType = ".(ThreadSafeStoreWithTransaction)"
)

// hookEdits returns the changes of client-go's own files. Their places are found in the
// syntax tree.
func hookEdits(source string) ([]fileDiff, error) {
	var diffs []fileDiff
	for _, f := range []struct {
		path   string
		places func(*ast.File) []place
	}{
		{"features/known_features.go", func(f *ast.File) []place {
			return []place{
				{at: find(f, isConstant(nextGate)), text: gateConstant},
				{at: find(f, isKey(nextGate)), text: gateSpec},
			}
		}},
		{"tools/cache/thread_safe_store.go", func(f *ast.File) []place {
			return []place{
				{at: find(f, isFunc("NewThreadSafeStore")), text: constructorDoc},
				{at: find(f, isLastReturn("NewThreadSafeStore")), text: choice},
			}
		}},
		{"tools/cache/index.go", func(f *ast.File) []place {
			return []place{{at: find(f, isType("IndexFunc")), text: indexFuncDoc}}
		}},
		{"tools/cache/thread_safe_store_test.go", func(f *ast.File) (places []place) {
			for _, name := range testsOfMap {
				places = append(places, place{at: find(f, isBody(name)), text: gateOff})
			}
			for _, name := range testsOfStores {
				for _, pos := range assertions(f, name) {
					places = append(places, place{at: pos, from: mapType, text: storeType})
				}
			}
			return places
		}},
	} {
		diff, err := editFile(source, f.path, f.places)
		if err != nil {
			return nil, err
		}
		diffs = append(diffs, diff)
	}
	return diffs, nil
}

// place says what is done at the line of a node: text goes before it or, with from, into the
// line in place of from.
type place struct {
	at   token.Pos
	from string
	text string
}

func editFile(source, path string, places func(*ast.File) []place) (fileDiff, error) {
	text, err := os.ReadFile(filepath.Join(source, filepath.FromSlash(path)))
	if err != nil {
		return fileDiff{}, err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, text, parser.ParseComments)
	if err != nil {
		return fileDiff{}, err
	}
	var changes []change
	lines := strings.SplitAfter(string(text), "\n")
	for i, p := range places(f) {
		if p.at == token.NoPos {
			return fileDiff{}, fmt.Errorf("%s: the place of change %d is not there: has client-go changed?",
				path, i+1)
		}
		c := change{before: fset.Position(p.at).Line - 1, text: p.text}
		if p.from != "" {
			c.instead, c.text = 1, strings.Replace(lines[c.before], p.from, p.text, 1)
		}
		changes = append(changes, c)
	}
	return changed(path, string(text), changes)
}

// find returns the position that is says of the first node that it says one of.
func find(f *ast.File, is func(ast.Node) token.Pos) (pos token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		if pos == token.NoPos && n != nil {
			pos = is(n)
		}
		return pos == token.NoPos
	})
	return pos
}

// isConstant finds a constant of type string by its value, with its comment.
func isConstant(value string) func(ast.Node) token.Pos {
	return func(n ast.Node) token.Pos {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return token.NoPos
		}
		if literal, ok := spec.Values[0].(*ast.BasicLit); !ok || literal.Value != strconv.Quote(value) {
			return token.NoPos
		}
		if spec.Doc != nil {
			return spec.Doc.Pos()
		}
		return spec.Pos()
	}
}

// isKey finds an entry of a map literal by its key.
func isKey(name string) func(ast.Node) token.Pos {
	return func(n ast.Node) token.Pos {
		entry, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return token.NoPos
		}
		if key, ok := entry.Key.(*ast.Ident); !ok || key.Name != name {
			return token.NoPos
		}
		return entry.Pos()
	}
}

// isBody finds the first statement of a function.
func isBody(name string) func(ast.Node) token.Pos {
	return func(n ast.Node) token.Pos {
		if f, ok := n.(*ast.FuncDecl); ok && f.Name.Name == name && len(f.Body.List) > 0 {
			return f.Body.List[0].Pos()
		}
		return token.NoPos
	}
}

// assertions returns the positions in a function where a value is asserted to be a
// *threadSafeMap; NoPos alone if there is none.
func assertions(f *ast.File, name string) (found []token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncDecl); ok {
			return f.Name.Name == name
		}
		a, ok := n.(*ast.TypeAssertExpr)
		if !ok {
			return true
		}
		if star, ok := a.Type.(*ast.StarExpr); ok {
			if t, ok := star.X.(*ast.Ident); ok && t.Name == "threadSafeMap" {
				found = append(found, a.Pos())
			}
		}
		return true
	})
	if len(found) == 0 {
		return []token.Pos{token.NoPos}
	}
	return found
}

// isFunc finds a function, without its comment.
func isFunc(name string) func(ast.Node) token.Pos {
	return func(n ast.Node) token.Pos {
		if f, ok := n.(*ast.FuncDecl); ok && f.Name.Name == name && f.Recv == nil {
			return f.Type.Func
		}
		return token.NoPos
	}
}

// isType finds the declaration of one type, without its comment.
func isType(name string) func(ast.Node) token.Pos {
	return func(n ast.Node) token.Pos {
		if d, ok := n.(*ast.GenDecl); ok && len(d.Specs) == 1 {
			if spec, ok := d.Specs[0].(*ast.TypeSpec); ok && spec.Name.Name == name {
				return d.TokPos
			}
		}
		return token.NoPos
	}
}

// isLastReturn finds the return at the end of a function.
func isLastReturn(name string) func(ast.Node) token.Pos {
	return func(n ast.Node) token.Pos {
		f, ok := n.(*ast.FuncDecl)
		if !ok || f.Name.Name != name || f.Recv != nil || len(f.Body.List) == 0 {
			return token.NoPos
		}
		if last, ok := f.Body.List[len(f.Body.List)-1].(*ast.ReturnStmt); ok {
			return last.Pos()
		}
		return token.NoPos
	}
}
