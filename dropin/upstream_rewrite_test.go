package dropin_test

// Changes of a test file's text.

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// rewrite makes a test file one of Ours: its imports, and what Bodies, LeftOut and Renames say.
// Every line stays where it is, and a line directive names the file, so that failures and
// logs show client-go's own lines. It takes the names that it finds out of unused. The text is nil
// if nothing is left of the file.
func (s upstreamSuite) rewrite(path string, unused map[string]bool) (text []byte, tests []string,
	err error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	e := edits{text: source, at: func(p token.Pos) int { return fset.Position(p).Offset }}
	used := map[string]bool{} // qualifiers
	empty := true
	for _, d := range f.Decls {
		name := declared(d)
		body, replaced := inFile(s.Bodies, path, name, unused)
		_, leftOut := inFile(s.LeftOut, path, name, unused)
		if leftOut {
			e.replace(d, "")
			continue
		}
		empty = empty && name == ""
		var scope ast.Node = d
		if fn, ok := d.(*ast.FuncDecl); ok {
			if replaced {
				if _, err := parser.ParseExpr("func() {" + body + "\n}"); err != nil {
					return nil, nil, fmt.Errorf("the body of %s: %w", name, err)
				}
				e.replace(fn.Body, "{ "+body+" }")
				scope = fn.Type
			}
			if fn.Recv == nil && strings.HasPrefix(name, "Test") && name != "TestMain" {
				tests = append(tests, name)
			}
		}
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			continue
		}
		ast.Inspect(scope, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if id, ok := n.X.(*ast.Ident); ok {
					used[id.Name] = true
				}
				if to, ok := inFile(s.Renames, path, "."+n.Sel.Name, unused); ok {
					e.replace(n.Sel, to)
				}
			case *ast.Ident:
				if to, ok := inFile(s.Renames, path, n.Name, unused); ok {
					e.replace(n, to)
				}
			}
			return true
		})
	}
	if empty {
		return nil, nil, nil
	}
	for _, im := range f.Imports {
		s.pointImport(im, used, &e)
	}
	return append(fmt.Appendf(nil, "//line %s:1\n", path), e.apply()...), tests, nil
}

// inFile looks a name up that may be given for one file only, and takes it out of unused.
func inFile(names map[string]string, path, name string, unused map[string]bool) (value string,
	ok bool) {
	for _, key := range []string{filepath.Base(path) + ":" + name, name} {
		if value, ok = names[key]; ok {
			delete(unused, key)
			return value, true
		}
	}
	return "", false
}

// pointImport points an import of Theirs at Ours, one of k8s.io/ktesting at what stands in for it,
// and drops one that nothing uses any more.
func (s upstreamSuite) pointImport(im *ast.ImportSpec, used map[string]bool, e *edits) {
	path, _ := strconv.Unquote(im.Path.Value)
	names := namesOf(path)
	if im.Name != nil {
		names = []string{im.Name.Name}
	}
	switch {
	case !slices.ContainsFunc(names, func(name string) bool {
		return name == "_" || name == "." || used[name]
	}):
		e.replace(im, "")
	case path == s.Theirs:
		e.replace(im.Path, strconv.Quote(s.Ours))
	case path == "k8s.io/ktesting":
		e.replace(im.Path, strconv.Quote(module+"/dropin/testdata/ktesting"))
	}
}

// edits are changes of a file's text that keep its lines where they are.
type edits struct {
	text []byte
	at   func(token.Pos) int // offsets
	all  []edit
}

type edit struct {
	from, to int
	text     string
}

func (e *edits) replace(n ast.Node, text string) {
	e.all = append(e.all, edit{e.at(n.Pos()), e.at(n.End()), text})
}

// apply returns the text with the changes. Where one lies within another, the outer counts.
func (e *edits) apply() []byte {
	slices.SortFunc(e.all, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	var out []byte
	done := 0
	for _, c := range e.all {
		if c.from < done {
			continue
		}
		out = append(append(out, e.text[done:c.from]...), c.text...)
		lines := bytes.Count(e.text[c.from:c.to], []byte("\n")) - strings.Count(c.text, "\n")
		out = append(out, strings.Repeat("\n", max(0, lines))...)
		done = c.to
	}
	return append(out, e.text[done:]...)
}

// namesOf are the names that a package with this path may have: the last element or, if that
// is a version, the one before.
func namesOf(path string) []string {
	elements := strings.Split(path, "/")
	names := elements[len(elements)-1:]
	if last := names[0]; len(elements) > 1 && strings.HasPrefix(last, "v") && len(last) <= 3 {
		names = elements[len(elements)-2:]
	}
	return names
}

// declared is the name of a declaration, of its first name if there are several.
func declared(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && len(d.Recv.List) == 1 {
			t := d.Recv.List[0].Type
			if star, ok := t.(*ast.StarExpr); ok {
				t = star.X
			}
			if id, ok := t.(*ast.Ident); ok {
				return id.Name + "." + d.Name.Name
			}
		}
		return d.Name.Name
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				return spec.Name.Name
			case *ast.ValueSpec:
				return spec.Names[0].Name
			}
		}
	}
	return ""
}
