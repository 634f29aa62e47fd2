// Package upstream runs another module's own tests of a package against the package that
// stands in for it. It takes the tests from the module cache when it runs, and gives them to
// the go command as an overlay: nothing of theirs is copied into this repository.
package upstream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Suite is a package of tests, and what stands in for the package that they test.
type Suite struct {
	Theirs string // the import path of the package whose tests are run
	Ours   string // the import path of the package that is tested
	// Files are the files with tests; nil means all.
	Files []string
	// LeftOut are the functions, types and variables that do not compile against Ours, such as
	// tests of unexported fields, each with the reason.
	LeftOut map[string]string
	// Bodies replace the bodies of helper functions that reach into Theirs.
	Bodies map[string]string
	// Differs are the tests that Ours answers in another way on purpose, each with the page
	// that says so. They must fail, or they are no longer different.
	Differs map[string]string
}

// Run runs the suite in a process of its own, and reports each of its tests as a subtest. A
// test that is left out is skipped with its reason.
func (s Suite) Run(t *testing.T) {
	overlay, tests, err := s.overlay(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if len(tests) == 0 {
		t.Fatalf("%s has no tests", s.Theirs)
	}
	results, output, err := s.goTest(overlay, tests)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tests {
		t.Run(name, func(t *testing.T) {
			page, differs := s.Differs[name]
			switch result := results[name]; {
			case result == "pass" && differs:
				t.Errorf("it passes: %s need not speak of it", page)
			case result == "fail" && differs:
				t.Skipf("another answer on purpose: %s", page)
			case result == "skip":
				t.Skip("it skips itself")
			case result != "pass":
				t.Errorf("%s\n%s", result, output[name])
			}
		})
	}
	for name, reason := range s.LeftOut {
		if strings.HasPrefix(name, "Test") {
			t.Run(name, func(t *testing.T) { t.Skip(reason) })
		}
	}
}

func (s Suite) dirOf(path string) (string, error) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", path).Output() //nolint:gosec // a constant of a test
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", path, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// overlay writes the rewritten test files to tmp, and the file that lays them over ours. Our
// own tests are taken away, since theirs leave goroutines behind. It returns the tests' names.
func (s Suite) overlay(tmp string) (file string, tests []string, err error) {
	theirs, err := s.dirOf(s.Theirs)
	if err != nil {
		return "", nil, err
	}
	ours, err := s.dirOf(s.Ours)
	if err != nil {
		return "", nil, err
	}
	replace := map[string]string{}
	own, err := filepath.Glob(filepath.Join(ours, "*_test.go"))
	if err != nil {
		return "", nil, err
	}
	for _, path := range own {
		replace[path] = ""
	}
	files, err := filepath.Glob(filepath.Join(theirs, "*_test.go"))
	if err != nil {
		return "", nil, err
	}
	unused := map[string]bool{}
	for name := range s.LeftOut {
		unused[name] = true
	}
	for name := range s.Bodies {
		unused[name] = true
	}
	for _, path := range files {
		name := filepath.Base(path)
		if s.Files != nil && !slices.Contains(s.Files, name) {
			continue
		}
		text, found, err := s.rewrite(path, unused)
		if err != nil {
			return "", nil, err
		}
		tests = append(tests, found...)
		written := filepath.Join(tmp, name)
		if err := os.WriteFile(written, text, 0o644); err != nil {
			return "", nil, err
		}
		replace[filepath.Join(ours, "upstream_"+name)] = written
	}
	for name := range unused {
		err = errors.Join(err, fmt.Errorf("%s declares no %s any more", s.Theirs, name))
	}
	if err != nil {
		return "", nil, err
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", nil, err
	}
	file = filepath.Join(tmp, "overlay.json")
	return file, tests, os.WriteFile(file, text, 0o644)
}

// rewrite makes a test file one of Ours: its imports, and what Bodies and LeftOut say. It
// takes the names that it finds there out of unused.
func (s Suite) rewrite(path string, unused map[string]bool) (text []byte, tests []string, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
	if err != nil {
		return nil, nil, err
	}
	var kept []ast.Decl
	for _, d := range f.Decls {
		name := declared(d)
		body, replaced := s.Bodies[name]
		_, leftOut := s.LeftOut[name]
		if replaced || leftOut {
			delete(unused, name)
		}
		if leftOut {
			continue
		}
		if fn, ok := d.(*ast.FuncDecl); ok && replaced {
			if fn.Body, err = block(body); err != nil {
				return nil, nil, fmt.Errorf("the body of %s: %w", name, err)
			}
		}
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(name, "Test") && name != "TestMain" {
			tests = append(tests, name)
		}
		kept = append(kept, d)
	}
	f.Decls = kept
	f.Comments = nil // their places are no longer right
	s.imports(f)
	var out bytes.Buffer
	if err := format.Node(&out, token.NewFileSet(), f); err != nil {
		return nil, nil, err
	}
	return out.Bytes(), tests, nil
}

// imports points imports of Theirs at Ours, and drops those that nothing uses any more.
func (s Suite) imports(f *ast.File) {
	used := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok {
				used[id.Name] = true
			}
		}
		return true
	})
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			continue
		}
		g.Specs = slices.DeleteFunc(g.Specs, func(spec ast.Spec) bool {
			im := spec.(*ast.ImportSpec)
			path, _ := strconv.Unquote(im.Path.Value)
			name := path[strings.LastIndex(path, "/")+1:]
			if im.Name != nil {
				name = im.Name.Name
			}
			if path == s.Theirs {
				im.Path.Value = strconv.Quote(s.Ours)
			}
			return name != "_" && name != "." && !used[name] && !versioned(name)
		})
	}
	f.Imports = nil
}

// versioned reports whether a path's last element may not be the package's name, such as v2.
func versioned(name string) bool { return strings.HasPrefix(name, "v") && len(name) <= 3 }

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

func block(body string) (*ast.BlockStmt, error) {
	e, err := parser.ParseExpr("func() {" + body + "\n}")
	if err != nil {
		return nil, err
	}
	return e.(*ast.FuncLit).Body, nil
}

// goTest runs the tests, and returns the result and the output of each.
func (s Suite) goTest(overlay string, tests []string) (results, output map[string]string, err error) {
	cmd := exec.Command("go", "test", "-json", "-count=1", "-timeout=5m", "-overlay", overlay, "-run", "^("+strings.Join(tests, "|")+")$", s.Ours) //nolint:gosec // constants of a test
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, failed := cmd.Output()
	results, output = map[string]string{}, map[string]string{}
	all := ""
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var e struct{ Action, Test, Output string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, nil, fmt.Errorf("reading what go test says: %w: %s", err, lines.Text())
		}
		all += e.Output
		name, _, _ := strings.Cut(e.Test, "/")
		output[name] += e.Output
		if e.Test == name && slices.Contains([]string{"pass", "fail", "skip"}, e.Action) {
			results[name] = e.Action
		}
	}
	if len(results) <= 1 && failed != nil { // it did not compile
		return nil, nil, fmt.Errorf("go test: %w\n%s%s", failed, all, stderr.String())
	}
	for _, name := range tests {
		if results[name] == "" {
			results[name] = "no result: the process ended before"
			output[name] = all
		}
	}
	return results, output, nil
}
