package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The package for client-go is impl/lockfree as normal builds have it, and the
// declarations of impl/indexing that it uses. The tree is parsed to find what must
// change; the changes are made in the text. So the code keeps its comments and its lines.

const (
	module  = "github.com/informerbench/informerbench/core/"
	license = `/*
Copyright The Kubernetes Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

`
)

// renamed says what becomes of names of other packages. Keys are as in the source;
// types.go, which is written by hand, has the types that stand in for those of contract.
var renamed = map[string]string{
	"contract.IndexFunc":             "IndexFunc",
	"contract.Indexers":              "Indexers",
	"contract.StoreTransaction":      "KeyedTransaction",
	"contract.Transaction":           "Transaction",
	"contract.TransactionTypeAdd":    "TransactionTypeAdd",
	"contract.TransactionTypeUpdate": "TransactionTypeUpdate",
	"contract.TransactionTypeDelete": "TransactionTypeDelete",

	"indexing.ErrTaken":    "errTaken",
	"indexing.ErrUnknown":  "errUnknown",
	"indexing.Few":         "fewValues",
	"indexing.MakeValues":  "makeIndexValues",
	"indexing.NewWanted":   "newWantedBuckets",
	"indexing.Stored":      "storedObject",
	"indexing.Values":      "indexValues",
	"indexing.ValuesOf":    "valuesOf",
	"indexing.VersionOf":   "resourceVersionOf",
	"indexing.Wanted":      "wantedBuckets",
	"indexing.indexed":     "indexedValue",
	"explore.Mutex":        "sync.Mutex",
	"explore.RWMutex":      "sync.RWMutex",
	"explore.Cond":         "sync.Cond",
	"explore.Uint32":       "rand.Uint32",
	"explore.Hash":         "maphash.String",
	"explore.Point(call)":  "",
	"explore.Ordered(map)": "",
}

// importPaths are those of the packages whose names the changes bring in.
var importPaths = map[string]string{"rand": "math/rand/v2", "sync": "sync",
	"maphash": "hash/maphash"}

// dropped are the declarations and calls that check the store in builds for tests, and
// functions that nothing in client-go calls.
var (
	droppedFiles = []string{"invariants_off.go"}
	// view.commit calls core.commit, and checks
	droppedFuncs = []string{"view.commit", "Store.AppendList", "Values.Len"}
	droppedCalls = []string{"checkAll", "checkSome"}
	droppedField = "checker"
)

// portedTests are the tests that go with the package. They need nothing but the package.
var portedTests = []string{
	"addindexers_test.go", "inplace_test.go", "readers_test.go", "stalled_compare_test.go",
	"stalled_history_test.go",
	"stalled_test.go", "standin_test.go", "table_test.go", "values_test.go",
}

// references are words of this repository that comments contain and client-go's readers
// cannot look up: numbers of clauses, and names of pages.
var references = regexp.MustCompile(
	`\s*(?://)?\s*\((?:(?:STORE-\d+(?:, )?)+|docs/(?:log/)?stores\.md)\)`)

// leftOver must not be in what is written: the package is a part of client-go.
var leftOver = regexp.MustCompile(
	`(?i)client-go|STORE-\d|docs/|\bcontract\.|\bexplore\b|\bindexing\.|degraded|invariants_on|-tags|informerbench|//go:build`)

type file struct {
	name string
	text []byte
}

// storeFiles returns the files of the package that are made from our sources.
func storeFiles(root string) ([]file, error) {
	dir := filepath.Join(root, "core", "impl", "lockfree")
	sources, err := parseDir(dir, "")
	if err != nil {
		return nil, err
	}
	var files []file
	var uses []*ast.File
	for _, s := range sources {
		if slices.Contains(droppedFiles, s.name) {
			continue
		}
		if !strings.HasSuffix(s.name, "_test.go") {
			uses = append(uses, s.syntax)
		}
		text, err := s.rewrite()
		if err != nil {
			return nil, err
		}
		files = append(files, file{s.name, text})
	}
	values, err := indexingFile(filepath.Join(root, "core", "impl", "indexing"), uses)
	if err != nil {
		return nil, err
	}
	files = append(files, values)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	for _, s := range sentencesLeft(files) {
		return nil, fmt.Errorf("%s: change it, or add its replacement to sentences.go", s)
	}
	return files, nil
}

// sentencesLeft returns the lines that name what is not in client-go.
func sentencesLeft(files []file) (lines []string) {
	for _, f := range files {
		for i, line := range strings.Split(string(f.text), "\n") {
			if leftOver.MatchString(line) {
				lines = append(lines, fmt.Sprintf("%s:%d: %s", f.name, i+1, strings.TrimSpace(line)))
			}
		}
	}
	return lines
}

// source is one file of ours, parsed.
type source struct {
	name    string
	prefix  string // of its own names in renamed
	text    string
	set     *token.FileSet
	syntax  *ast.File
	edits   []edit
	imports map[string]bool // import paths; to true if the file still needs it
}

// edit replaces a range of the text.
type edit struct {
	from, to int
	text     string
}

// parseDir parses the files that a normal build has, and the tests that are ported.
func parseDir(dir, prefix string) ([]*source, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	normal := build.Default
	normal.GOOS, normal.GOARCH, normal.BuildTags, normal.ToolTags = "linux", "amd64", nil, nil
	var sources []*source
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") &&
			(prefix != "" || !slices.Contains(portedTests, name)) {
			continue
		}
		if in, err := normal.MatchFile(dir, name); err != nil || !in {
			if err != nil {
				return nil, err
			}
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		s := &source{name: name, prefix: prefix, text: strings.ReplaceAll(string(text), "\r\n", "\n"),
			set: token.NewFileSet(), imports: map[string]bool{}}
		if s.syntax, err = parser.ParseFile(s.set, name, s.text,
			parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	return sources, nil
}

func (s *source) offset(p token.Pos) int { return s.set.Position(p).Offset }

func (s *source) replace(from, to token.Pos, text string) {
	s.edits = append(s.edits, edit{s.offset(from), s.offset(to), text})
}

// dropLines removes the whole lines of a node, with the comments before it and behind it.
func (s *source) dropLines(n ast.Node, doc *ast.CommentGroup) {
	from := s.offset(n.Pos())
	if doc != nil {
		from = s.offset(doc.Pos())
	}
	from = strings.LastIndexByte(s.text[:from], '\n') + 1
	to := s.offset(n.End())
	to += strings.IndexByte(s.text[to:], '\n') + 1
	s.edits = append(s.edits, edit{from, to, ""})
}

// rewrite returns the file as client-go gets it.
func (s *source) rewrite() ([]byte, error) {
	if err := s.change(s.syntax); err != nil {
		return nil, err
	}
	for _, decl := range s.syntax.Decls {
		switch d := decl.(type) {
		case *ast.GenDecl:
			if d.Tok == token.IMPORT || isAssertion(d) {
				s.dropLines(d, d.Doc)
			}
		case *ast.FuncDecl:
			if slices.Contains(droppedFuncs, funcName(d)) {
				s.dropLines(d, d.Doc)
			}
		}
	}
	// The package comment stays; a build constraint, which is a comment before it, goes.
	head := ""
	if s.syntax.Doc != nil {
		head = s.text[s.offset(s.syntax.Doc.Pos()):s.offset(s.syntax.Doc.End())] + "\n"
	}
	end := s.offset(s.syntax.Name.End())
	body := apply(s.text, append(s.edits, edit{0, end, ""}))
	return s.finish(head+"package lockfree\n\n"+s.importBlock()+body, s.name)
}

// finish formats a file and does what is done to sentences.
func (s *source) finish(text, name string) ([]byte, error) {
	text = references.ReplaceAllString(text, "")
	for _, r := range sentences[name] {
		if n := strings.Count(text, r.from); n != 1 {
			return nil, fmt.Errorf(
				"%s: this text is there %d times, and should be once; correct sentences.go:\n%s", name, n,
				r.from)
		}
		text = strings.Replace(text, r.from, r.to, 1)
	}
	out, err := format.Source([]byte(license + text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", name, err, text)
	}
	return out, nil
}

// change notes the edits of a node's code: names of other packages, points, checks.
func (s *source) change(n ast.Node) (err error) {
	inserted := map[string]bool{}
	for _, spec := range s.syntax.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		s.imports[path] = false
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return !isAssertion(n)
		case *ast.ExprStmt:
			if call, ok := n.X.(*ast.CallExpr); ok && s.isDropped(call) {
				s.dropLines(n, nil)
				return false
			}
		case *ast.Field:
			if len(n.Names) == 1 && n.Names[0].Name == droppedField {
				s.dropLines(n, n.Doc)
				return false
			}
		case *ast.CallExpr:
			if is(n.Fun, "explore", "Ordered") {
				s.replace(n.Pos(), n.Args[0].Pos(), "")
				s.replace(n.Args[0].End(), n.End(), "")
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok {
				return true
			}
			switch x.Name {
			case "contract", "indexing", "explore":
				if is(n, "explore", "Ordered") {
					return false
				}
				name, known := renamed[x.Name+"."+n.Sel.Name]
				if !known {
					err = fmt.Errorf("%s: %s.%s has no counterpart in client-go", s.set.Position(n.Pos()), x.Name,
						n.Sel.Name)
					return false
				}
				s.replace(n.Pos(), n.End(), name)
				if pkg, _, selects := strings.Cut(name, "."); selects {
					inserted[importPaths[pkg]] = true
				}
				return false
			default:
				for path := range s.imports {
					if packageName(path) == x.Name {
						s.imports[path] = true
					}
				}
			}
		case *ast.Ident:
			if name, known := renamed[s.prefix+n.Name]; s.prefix != "" && known {
				s.replace(n.Pos(), n.End(), name)
			}
		}
		return true
	})
	maps.Copy(s.imports, inserted)
	return err
}

// isDropped reports whether a statement is a point of the explorer or a check.
func (s *source) isDropped(call *ast.CallExpr) bool {
	if is(call.Fun, "explore", "Point") {
		return true
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains(droppedCalls, selector.Sel.Name)
}

// importBlock returns the import declaration: the standard library first.
func (s *source) importBlock() string {
	var std, others []string
	for _, path := range slices.Sorted(maps.Keys(s.imports)) {
		switch {
		case !s.imports[path] || strings.HasPrefix(path, module):
		case strings.Contains(strings.Split(path, "/")[0], "."):
			others = append(others, strconv.Quote(path))
		default:
			std = append(std, strconv.Quote(path))
		}
	}
	groups := slices.DeleteFunc([]string{strings.Join(std, "\n"), strings.Join(others, "\n")},
		func(g string) bool {
			return g == ""
		})
	if len(groups) == 0 {
		return ""
	}
	return "import (\n" + strings.Join(groups, "\n\n") + "\n)\n"
}

// apply makes the edits, which do not overlap except where one holds another.
func apply(text string, edits []edit) string {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b edit) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	var out strings.Builder
	done := 0
	for _, e := range edits {
		if e.from < done {
			continue // within one that was dropped
		}
		out.WriteString(text[done:e.from] + e.text)
		done = e.to
	}
	return out.String() + text[done:]
}

func is(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// isAssertion reports whether a declaration only says that types satisfy interfaces.
func isAssertion(d *ast.GenDecl) bool {
	if d.Tok != token.VAR {
		return false
	}
	for _, spec := range d.Specs {
		if v := spec.(*ast.ValueSpec); len(v.Names) != 1 || v.Names[0].Name != "_" {
			return false
		}
	}
	return true
}

// funcName returns the name of a function, and before it that of its receiver's type.
func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if generic, ok := t.(*ast.IndexExpr); ok {
		t = generic.X
	}
	return t.(*ast.Ident).Name + "." + f.Name.Name
}

// packageName returns the name by which a file uses an import. A version is not a name.
func packageName(path string) string {
	parts := strings.Split(path, "/")
	if last := parts[len(parts)-1]; len(parts) > 1 && regexp.MustCompile(`^v\d+$`).MatchString(last) {
		return parts[len(parts)-2]
	}
	return parts[len(parts)-1]
}
