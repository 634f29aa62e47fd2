package explore

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// Code says how to instrument a package, beyond its faults.
type Code struct {
	// Edits are edits of the source that are not faults: they call no Planted.
	Edits []Fault
	// Plain are fields, as Type.field, that threads read or write plainly beside others. These
	// reads and writes are points too.
	Plain []string
	// Quiet are patterns of path.Match for operations that are no points, such as loads of what
	// only this thread changes. They have the name of the point and the operation: Func.field.Load,
	// Func.field.Plain.
	Quiet []string
	// Tests are test files to be instrumented too.
	Tests []string
}

// marked says that this binary was built from instrumented files.
var marked bool

// Mark is called by every instrumented file.
func Mark() bool {
	marked = true
	return marked
}

// Instrument is called by an init function of a test package. It builds the test binary again,
// from copies of the package's files in which each atomic operation is a point (see rewrite),
// runs that with the same arguments, and exits as it does. In the new binary it does nothing.
func Instrument(c Code) {
	if marked {
		return
	}
	code, err := c.rerun()
	if err != nil {
		fmt.Fprintln(os.Stderr, "explore:", err)
		code = 1
	}
	os.Exit(code)
}

func (c Code) rerun() (code int, err error) {
	dir, err := os.MkdirTemp("", "explore")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tags := "-tags=" + tags()
	overlay, err := c.overlay(dir, tags)
	if err != nil {
		return 0, err
	}
	binary := filepath.Join(dir, "explore.test")
	build := exec.Command("go", "test", "-c", tags, "-overlay="+overlay, "-o="+binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", build, err, out)
	}
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(arg string) bool {
		return strings.HasPrefix(arg, "-test.testlogfile") // is this process's
	})
	run := exec.Command(binary, args...)
	run.Stdout, run.Stderr = os.Stdout, os.Stderr
	if err := run.Run(); run.ProcessState == nil {
		return 0, err
	}
	return run.ProcessState.ExitCode(), nil
}

// overlay writes the copies to dir, and the file for go's flag -overlay.
func (c Code) overlay(dir, tags string) (file string, err error) {
	here, err := filepath.Abs(".")
	if err != nil {
		return "", err
	}
	texts, err := c.texts(here)
	if err != nil {
		return "", err
	}
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedSyntax |
			packages.NeedTypes | packages.NeedTypesInfo,
		BuildFlags: []string{tags}, Overlay: texts, Tests: len(c.Tests) > 0,
	}, ".")
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			return "", e
		}
		for _, syntax := range p.Syntax {
			name := p.Fset.File(syntax.Package).Name()
			text, ours := texts[name]
			if !ours || replace[name] != "" {
				continue
			}
			replace[name] = filepath.Join(dir, filepath.Base(name))
			r := rewriter{code: c, pkg: p}
			if err := os.WriteFile(replace[name], r.rewrite(syntax, text), 0o600); err != nil {
				return "", err
			}
		}
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, b, 0o600)
}

const imported = `"github.com/informerbench/informerbench/internal/explore"`

// texts returns the files of the package with edits and faults, by path. Each imports this
// package, in the line of its package clause so that lines keep their numbers.
func (c Code) texts(here string) (map[string][]byte, error) {
	all, err := filepath.Glob(filepath.Join(here, "*.go"))
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	for _, path := range all {
		name := filepath.Base(path)
		if strings.HasSuffix(name, "_test.go") && !slices.Contains(c.Tests, name) {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		text := string(b)
		if strings.Contains(text, imported) {
			continue // it has points of its own
		}
		for _, f := range slices.Concat(c.Edits, faults) {
			if f.File != name {
				continue
			}
			if text, err = f.edit(text); err != nil {
				return nil, err
			}
		}
		before, rest, _ := strings.Cut("\n"+text, "\npackage ")
		clause, after, _ := strings.Cut(rest, "\n")
		text = before + "\npackage " + clause + "; import " + imported + "\n" + after +
			"\nvar _ = explore.Mark()\n"
		texts[path] = []byte(text[1:])
	}
	return texts, nil
}

// tags are the build tags of this binary.
func tags() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" {
				return s.Value
			}
		}
	}
	return ""
}

// Fault is a mistake that the explorer must find. Instrument plants it in its copy of a source
// file, so that the file itself contains no fault.
type Fault struct {
	Name string
	File string // in the folder of the test
	// Edits are pairs of a text that occurs in File exactly once, and its replacement. The
	// replacement calls explore.Planted(Name), and changes nothing while that is false.
	Edits [][2]string
}

var (
	faults  []Fault // of this test binary
	planted string  // the name of the active one
)

// Faults registers faults with Instrument. Call it in the declaration of a variable.
func Faults(some []Fault) []Fault {
	faults = append(faults, some...)
	return some
}

// Planted reports whether the fault with this name is active.
func Planted(name string) bool { return planted == name }

// Plant activates one registered fault after the other and calls find, which must find it.
func Plant(t *testing.T, some []Fault, find func(t *testing.T)) {
	t.Helper()
	for _, f := range some {
		t.Run(f.Name, func(t *testing.T) {
			planted = f.Name
			defer func() { planted = "" }()
			find(t)
		})
	}
}

// edit makes the edits of f in text.
func (f Fault) edit(text string) (string, error) {
	for _, e := range f.Edits {
		if n := strings.Count(text, e[0]); n != 1 {
			return "", fmt.Errorf(
				"fault %q cannot be planted: %q stands in %s %d times; adapt it to the code", f.Name, e[0],
				f.File, n)
		}
		text = strings.Replace(text, e[0], e[1], 1)
	}
	return text, nil
}
