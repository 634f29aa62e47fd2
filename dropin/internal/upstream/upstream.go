// Package upstream runs another module's own tests of a package against the package that
// stands in for it. It takes the tests from the module cache when it runs, and gives them to
// the go command as an overlay: nothing of theirs is copied into this repository.
package upstream

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
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
	// Bodies replace the bodies of helper functions that reach into Theirs. A method's name has
	// its receiver's type: "Queue.len".
	Bodies map[string]string
	// Renames replace identifiers, such as a constructor of Theirs by one that Bridge has. A key
	// "file_test.go:Name" is for one file.
	Renames map[string]string
	// Bridge is a file of ours that is compiled with the tests, in their package; "" means none.
	// It stands in for unexported names of Theirs. It lies in a folder testdata, so that nothing
	// else compiles it.
	Bridge string
	// Differs are the tests that Ours answers in another way on purpose, each with the page
	// that says so. They must fail, or they are no longer different.
	Differs map[string]string
}

// Run runs the suite in a process of its own, and reports each of its tests as a subtest. A
// test that is left out is skipped with its reason.
func (s Suite) Run(t *testing.T) {
	tmp := t.TempDir()
	overlay, tests, err := s.overlay(tmp)
	if err != nil {
		t.Fatal(err)
	}
	modules, err := s.modules(tmp)
	if err != nil {
		t.Fatal(err)
	}
	if len(tests) == 0 {
		t.Fatalf("%s has no tests", s.Theirs)
	}
	results, output, err := s.goTest(overlay, modules, tests)
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

func (s Suite) dirOf(path string) (string, error) { return list(path, "{{.Dir}}") }

// list runs go list on a package.
func list(path, format string) (string, error) {
	out, err := exec.Command("go", "list", "-f", format, path).Output() //nolint:gosec // constants of a test
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", path, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// modules writes a copy of our go.mod to tmp, and beside it the sums of both modules. The go
// command adds to the copy what the tests import and we do not, such as testify, in the
// version that Theirs requires.
func (s Suite) modules(tmp string) (file string, err error) {
	theirs, err := list(s.Theirs, "{{.Module.Dir}}")
	if err != nil {
		return "", err
	}
	ours, err := list(s.Ours, "{{.Module.Dir}}")
	if err != nil {
		return "", err
	}
	var sums []byte
	for _, dir := range []string{ours, theirs} {
		text, err := os.ReadFile(filepath.Join(dir, "go.sum"))
		if err != nil {
			return "", err
		}
		sums = append(sums, text...)
	}
	text, err := os.ReadFile(filepath.Join(ours, "go.mod"))
	if err != nil {
		return "", err
	}
	file = filepath.Join(tmp, "go.mod")
	return file, errors.Join(os.WriteFile(file, text, 0o644), os.WriteFile(filepath.Join(tmp, "go.sum"), sums, 0o644)) //nolint:gosec // no secrets
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
		if text == nil {
			continue
		}
		tests = append(tests, found...)
		written := filepath.Join(tmp, name)
		if err := os.WriteFile(written, text, 0o644); err != nil {
			return "", nil, err
		}
		replace[filepath.Join(ours, "upstream_"+name)] = written
	}
	if s.Bridge != "" {
		written, err := filepath.Abs(s.Bridge)
		if err != nil {
			return "", nil, err
		}
		replace[filepath.Join(ours, "upstream_bridge_test.go")] = written
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

// rewrite makes a test file one of Ours: its imports, and what Bodies, LeftOut and Renames say.
// Every line stays where it is, and a line directive names the file, so that failures and
// logs show client-go's own lines. It takes the names that it finds out of unused. The text is nil
// if nothing is left of the file.
func (s Suite) rewrite(path string, unused map[string]bool) (text []byte, tests []string, err error) {
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
		body, replaced := s.Bodies[name]
		_, leftOut := s.LeftOut[name]
		if replaced || leftOut {
			delete(unused, name)
		}
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
			case *ast.Ident:
				if to := cmp.Or(s.Renames[filepath.Base(path)+":"+n.Name], s.Renames[n.Name]); to != "" {
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

// pointImport points an import of Theirs at Ours, and drops one that nothing uses any more.
func (s Suite) pointImport(im *ast.ImportSpec, used map[string]bool, e *edits) {
	path, _ := strconv.Unquote(im.Path.Value)
	names := namesOf(path)
	if im.Name != nil {
		names = []string{im.Name.Name}
	}
	switch {
	case !slices.ContainsFunc(names, func(name string) bool { return name == "_" || name == "." || used[name] }):
		e.replace(im, "")
	case path == s.Theirs:
		e.replace(im.Path, strconv.Quote(s.Ours))
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
	slices.SortFunc(e.all, func(a, b edit) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
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

// goTest runs the tests, and returns the result and the output of each.
func (s Suite) goTest(overlay, modules string, tests []string) (results, output map[string]string, err error) {
	cmd := exec.Command("go", "test", "-json", "-count=1", "-timeout=5m", "-mod=mod", "-modfile", modules, "-overlay", overlay, "-run", "^("+strings.Join(tests, "|")+")$", s.Ours) //nolint:gosec // constants of a test
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, failed := cmd.Output()
	results, output = map[string]string{}, map[string]string{}
	all := ""
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
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
