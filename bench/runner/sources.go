package runner

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/load"
)

// The hashes of what a run measures, in Run.Sources: its instrument and its loads have these
// keys, an implementation has catalog.Entry.ID.
const (
	InstrumentSource = "instrument"
	LoadsSource      = "loads"
)

const (
	modulePath  = "github.com/informerbench/informerbench"
	catalogPath = modulePath + "/bench/catalog"
	// instrumentPath imports all that happens in a process while it measures.
	instrumentPath = modulePath + "/bench/internal/subject"
)

// notInstrument are packages that instrumentPath imports and that measure nothing: the table of
// implementations, each of which has a hash of its own, and the record of what was measured.
var notInstrument = []string{catalogPath, modulePath + "/measure/record"}

// Sources hashes the code that the plan's run measures, so that a result can tell whether its
// code has changed since. Comments and formatting do not count; versions of modules and the
// minor version of Go do. The error says why the code cannot be found: the program runs without
// its source, or the source is of another commit.
func (p *Plan) Sources() (map[string]string, error) {
	loads, err := p.loads()
	if err != nil {
		return nil, err
	}
	listed.Lock()
	defer listed.Unlock()
	list, known := listed.of[p.options.WorkTree]
	if !known {
		if list, err = listPackages(p.options.WorkTree); err != nil {
			return nil, err
		}
		listed.of[p.options.WorkTree] = list
	}
	instrument, err := list.hash(nil, notInstrument, instrumentPath)
	if err != nil {
		return nil, err
	}
	out := map[string]string{InstrumentSource: instrument, LoadsSource: loads}
	for _, e := range p.entries {
		text, roots, err := list.constructor(e)
		if err != nil {
			return nil, err
		}
		if len(roots) == 0 {
			continue // an entry of another program, whose constructor the catalog wraps
		}
		if out[e.ID()], err = list.hash(text, nil, roots...); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// listed are the packages of each work tree, once listed. The program was built from them, so what
// changes there while it runs is none of its code; and go list takes longer than a small run.
var listed = struct {
	sync.Mutex
	of map[string]packageList
}{of: map[string]packageList{}}

// loads hashes the plan's workloads, without what they say of themselves, and its forks.
func (p *Plan) loads() (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, p.options.Forks, p.options.Budget, p.options.Profile, p.options.Procs)
	for _, v := range p.variants {
		w := v.Workload
		w.Description, w.Source = "", ""
		if err := load.WriteWorkload(sum, w); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%.8x", sum.Sum(nil)), nil
}

// packageList has the packages that a program is built from, by import path.
type packageList map[string]*listedPackage

// listedPackage is a package as go list prints it.
type listedPackage struct {
	ImportPath, Name, Dir                          string
	Standard                                       bool
	GoFiles, CgoFiles, SFiles, EmbedFiles, Imports []string
	Module                                         *struct {
		Path, Version string
		Main          bool
		Replace       *struct{ Path, Version string }
	}
	hashed []byte // of its files
}

// listPackages lists what the main packages of a work tree's module may be built from.
func listPackages(workTree string) (packageList, error) {
	if workTree == "" {
		return nil, errors.New("no work tree has this program's source")
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		i := slices.IndexFunc(build.Settings, func(s debug.BuildSetting) bool {
			return s.Key == "vcs.revision"
		})
		head, err := exec.Command("git", "-C", workTree, "rev-parse", "HEAD").Output()
		if i >= 0 && (err != nil || strings.TrimSpace(string(head)) != build.Settings[i].Value) {
			return nil, errors.New("this program was built from another commit than the work tree's")
		}
	}
	cmd := exec.Command("go", "list", "-deps",
		"-json=ImportPath,Name,Dir,Standard,GoFiles,CgoFiles,SFiles,EmbedFiles,Imports,Module",
		instrumentPath)
	cmd.Dir = workTree
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w", workTree, err)
	}
	list := packageList{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &listedPackage{}
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		list[p.ImportPath] = p
	}
}

// hash is over a text and over the packages with all that they import, but for some.
func (l packageList) hash(text []byte, without []string, roots ...string) (string, error) {
	parts := map[string][]byte{}
	seen := map[string]bool{}
	var add func(string) error
	add = func(path string) error {
		p := l[path]
		if seen[path] || p == nil || p.Standard || slices.Contains(without, path) {
			return nil
		}
		seen[path] = true
		if m := p.Module; m != nil && !m.Main && (m.Replace == nil || m.Replace.Version != "") {
			version := m.Version
			if m.Replace != nil {
				version = m.Replace.Path + m.Replace.Version
			}
			parts[m.Path] = []byte(version)
		} else if err := p.read(); err != nil {
			return err
		} else {
			parts[path] = p.hashed
		}
		for _, imported := range p.Imports {
			if err := add(imported); err != nil {
				return err
			}
		}
		return nil
	}
	for _, r := range roots {
		if err := add(r); err != nil {
			return "", err
		}
	}
	minor := strings.Join(strings.SplitN(runtime.Version(), ".", 3)[:2], ".")
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %x\n", minor, text)
	for _, path := range slices.Sorted(maps.Keys(parts)) {
		fmt.Fprintf(sum, "%s %x\n", path, parts[path])
	}
	return fmt.Sprintf("%.8x", sum.Sum(nil)), nil
}

// read hashes the package's files. The presets' definitions are left out: a run's own are in
// its hash of loads.
func (p *listedPackage) read() error {
	if p.hashed != nil {
		return nil
	}
	sum := sha256.New()
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles, p.SFiles, p.EmbedFiles) {
		if p.ImportPath == modulePath+"/load" && strings.HasPrefix(name, "presets") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return err
		}
		if filepath.Ext(name) == ".go" {
			text = tokens(text)
		}
		fmt.Fprintf(sum, "%x\n", sha256.Sum256(text))
	}
	p.hashed = sum.Sum(nil)
	return nil
}

// tokens is Go source as one line: without comments, except the compiler's, and without the
// commas and semicolons that depend on line breaks.
func tokens(src []byte) []byte {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, src, func(token.Position, string) {}, scanner.ScanComments)
	var out []byte
	pending := "" // a separator that a bracket swallows
	for {
		_, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return out
		case tok == token.COMMENT && !strings.HasPrefix(text, "//go:"):
			continue
		case tok == token.COMMA, tok == token.SEMICOLON:
			pending = tok.String()
			continue
		case tok != token.RPAREN && tok != token.RBRACE && tok != token.RBRACK:
			out = append(out, pending...)
		}
		pending = ""
		out = append(append(out, ' '), cmp.Or(text, tok.String())...)
	}
}

// constructor returns the packages that an entry's constructor calls. The catalog's own
// function literals are read for them; their text has the options of the implementation.
func (l packageList) constructor(e catalog.Entry) (text []byte, roots []string, err error) {
	file, line := e.Source()
	dir := path.Dir(filepath.ToSlash(file)) // or the import path, of a build with -trimpath
	for _, p := range l {
		if (filepath.ToSlash(p.Dir) == dir || p.ImportPath == dir) && p.ImportPath != catalogPath {
			return nil, []string{p.ImportPath}, nil
		}
	}
	own := l[catalogPath]
	if own == nil || filepath.ToSlash(own.Dir) != dir && own.ImportPath != dir {
		return nil, nil, nil // another program's, in a package that go list was not asked for
	}
	set := token.NewFileSet()
	functions := map[string]*ast.FuncDecl{}
	imports := map[string]string{} // name to path; the package uses each name for one path
	var begin, around ast.Node     // the node at the line, and the type of the function around it
	for _, name := range own.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(own.Dir, name), nil, 0)
		if err != nil {
			return nil, nil, err
		}
		for _, i := range f.Imports {
			if p := l[strings.Trim(i.Path.Value, `"`)]; p != nil && i.Name == nil {
				imports[p.Name] = p.ImportPath
			} else if p != nil {
				imports[i.Name.Name] = p.ImportPath
			}
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil {
				functions[d.Name.Name] = d
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil || begin != nil || name != path.Base(filepath.ToSlash(file)) {
				return false
			}
			if d, ok := n.(*ast.FuncDecl); ok {
				around = d.Type
			}
			// A function literal, or an instance of a generic function: Key: pkg.New[string].
			at := set.Position(n.Pos()).Line == line
			switch n.(type) {
			case *ast.FuncLit, *ast.IndexExpr:
				if at {
					begin = n
				}
			}
			return begin == nil
		})
	}
	if begin == nil {
		return nil, nil, fmt.Errorf("%s: no constructor at %s:%d", e.ID(), file, line)
	}
	seen := map[ast.Node]bool{}
	var visit func(ast.Node)
	visit = func(n ast.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		from, to := set.Position(n.Pos()), set.Position(n.End())
		if src, e := os.ReadFile(from.Filename); e == nil {
			text = append(text, tokens(src[from.Offset:to.Offset])...)
		}
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && functions[id.Name] != nil {
				visit(functions[id.Name])
			} else if ok && strings.HasPrefix(imports[id.Name], modulePath+"/") &&
				imports[id.Name] != modulePath+"/contract" {
				roots = append(roots, imports[id.Name])
			}
			return true
		})
	}
	visit(around)
	visit(begin)
	return text, roots, nil
}
