package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
)

// gate is the name of the feature gate, and nextGate the gate that follows it in the
// alphabetical lists of client-go's features/known_features.go.
const (
	gate     = "LockFreeThreadSafeStore"
	nextGate = "UnlockWhileProcessingFIFO"
)

// The lines that client-go's own files get.
const (
	gateConstant = `	// alpha: v1.38
	//
	// Keep the objects of an informer in a store whose readers take no lock, so that
	// goroutines that list cannot keep the informer from writing.
	` + gate + ` Feature = "` + gate + `"

`
	gateSpec = `	` + gate + `: {
		{Version: version.MustParse("1.38"), Default: false, PreRelease: Alpha},
	},
`
	choice = `	if clientgofeaturegate.FeatureGates().Enabled(clientgofeaturegate.` + gate + `) {
		return newLockFreeStore(indexers, store.metrics)
	}
`
)

// hookEdits returns the changes of client-go's own files. Their places are found in the
// syntax tree.
func hookEdits(source string) ([]fileDiff, error) {
	known, err := editFile(source, "features/known_features.go", func(f *ast.File) []place {
		return []place{
			{find(f, isConstant(nextGate)), gateConstant},
			{find(f, isKey(nextGate)), gateSpec},
		}
	})
	if err != nil {
		return nil, err
	}
	store, err := editFile(source, "tools/cache/thread_safe_store.go", func(f *ast.File) []place {
		return []place{{find(f, isLastReturn("NewThreadSafeStore")), choice}}
	})
	if err != nil {
		return nil, err
	}
	return []fileDiff{known, store}, nil
}

// place says what goes before the line of a node.
type place struct {
	before token.Pos
	text   string
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
	var insertions []insertion
	for i, p := range places(f) {
		if p.before == token.NoPos {
			return fileDiff{}, fmt.Errorf("%s: the place of change %d is not there: has client-go changed?", path, i+1)
		}
		insertions = append(insertions, insertion{fset.Position(p.before).Line - 1, p.text})
	}
	return inserted(path, string(text), insertions)
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
