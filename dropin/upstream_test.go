package dropin_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// upstreamSuite is a package of tests, and what stands in for the package that they test. A name in
// LeftOut, Bodies or Renames is for one file if it is written "file_test.go:Name".
type upstreamSuite struct {
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
	// Renames replace identifiers, such as a constructor of Theirs by one that Bridge has; ".name"
	// is one after a dot.
	Renames map[string]string
	// Bridge is a file of ours that is compiled with the tests, in their package; "" means none.
	// It stands in for unexported names of Theirs. It lies in a folder testdata, so that nothing
	// else compiles it.
	Bridge string
	// Within is, by the path of a package that Ours imports, a file like Bridge that lets Bridge
	// reach its unexported names.
	Within map[string]string
	// Specs is the test that runs the suite's specs, if it has any (Ginkgo). Each spec is reported
	// by itself, by its texts; "" means none.
	Specs string
	// Differs are the tests and specs that Ours answers in another way on purpose, each with the
	// page that says so. They must fail, or they are no longer different.
	Differs map[string]string
	// Races are the ends of names of tests and specs that may fail on a busy machine whatever is
	// tested, each with the reason. Of those with the same end, one must pass.
	Races map[string]string
	// Timed are tests that want something within two seconds, which a busy machine may not give
	// them. One that fails is tried alone, retries times at most, and must pass then.
	Timed []string
}

const retries = 3

// Run runs the suite in a process of its own, and reports each of its tests as a subtest. A
// test that is left out is skipped with its reason.
func (s upstreamSuite) Run(t *testing.T) {
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
	s.count(t, len(tests))
	results, output, err := s.goTest(overlay, modules, tests)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range s.Timed {
		if !slices.Contains(tests, name) {
			t.Errorf("there is no test %s to be tried again", name)
			continue
		}
		for try := 0; results[name] != "pass" && try < retries; try++ {
			again, said, err := s.goTest(overlay, modules, []string{name})
			if err != nil {
				t.Fatal(err)
			}
			results[name], output[name] = again[name], output[name]+said[name]
		}
	}
	if s.Specs != "" {
		tests = slices.DeleteFunc(tests, func(name string) bool { return name == s.Specs })
		specs, err := readSpecs(filepath.Join(tmp, specsFile), results, output)
		if err != nil {
			t.Fatalf("%s: %v\n%s", s.Specs, err, output[s.Specs])
		}
		tests = append(tests, specs...)
	}
	for end := range s.Races {
		if !slices.ContainsFunc(tests, func(name string) bool {
			return strings.HasSuffix(name, end) && results[name] == "pass"
		}) {
			t.Errorf("no test or spec whose name ends with %q passes", end)
		}
	}
	for _, name := range tests {
		t.Run(name, func(t *testing.T) {
			page, differs := s.Differs[name]
			switch result := results[name]; {
			case result == "fail" && s.race(name) != "":
				t.Skipf("failed, as it may: %s\n%s", s.race(name), output[name])
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

// count asserts that doc.go says how many tests run, and how many are left out.
func (s upstreamSuite) count(t *testing.T, run int) {
	theirs, err := list(s.Theirs)
	doc, unread := os.ReadFile("doc.go")
	if err := errors.Join(err, unread); err != nil {
		t.Fatal(err)
	}
	leftOut := 0
	for name := range s.LeftOut {
		if strings.HasPrefix(name, "Test") {
			leftOut++
		}
	}
	line := fmt.Sprintf("%s %s: %d run, %d are left out", s.Theirs, theirs.Module.Version, run, leftOut)
	if !strings.Contains(theirs.Module.Version, "-") && !bytes.Contains(doc, []byte(line+"\n")) {
		t.Errorf("doc.go does not say %q", line)
	}
}

// race says why a test may fail on a busy machine, "" if it may not.
func (s upstreamSuite) race(name string) string {
	for end, reason := range s.Races {
		if strings.HasSuffix(name, end) {
			return reason
		}
	}
	return ""
}

// listed is what go list says of a package.
type listed struct {
	Dir    string
	Module struct{ Dir, Version string }
}

var listings sync.Map // import path to func() (listed, error)

// list runs go list on a package, once.
func list(path string) (listed, error) {
	once, _ := listings.LoadOrStore(path, sync.OnceValues(func() (p listed, err error) {
		out, err := exec.Command("go", "list", "-json=Dir,Module", path).Output() //nolint:gosec // constants
		if err == nil {
			err = json.Unmarshal(out, &p)
		}
		if err != nil {
			return p, fmt.Errorf("finding %s: %w", path, err)
		}
		return p, nil
	}))
	return once.(func() (listed, error))()
}

// modules writes a copy of our go.mod to tmp, and beside it the sums of both modules. The go
// command adds to the copy what the tests import and we do not, such as testify, in the
// version that Theirs requires.
func (s upstreamSuite) modules(tmp string) (file string, err error) {
	theirs, err := list(s.Theirs)
	if err != nil {
		return "", err
	}
	ours, err := list(s.Ours)
	if err != nil {
		return "", err
	}
	var sums []byte
	for _, dir := range []string{ours.Module.Dir, theirs.Module.Dir} {
		text, err := os.ReadFile(filepath.Join(dir, "go.sum"))
		if err != nil {
			return "", err
		}
		sums = append(sums, text...)
	}
	text, err := os.ReadFile(filepath.Join(ours.Module.Dir, "go.mod"))
	if err != nil {
		return "", err
	}
	file = filepath.Join(tmp, "go.mod")
	return file, errors.Join(os.WriteFile(file, text, 0o644),
		os.WriteFile(filepath.Join(tmp, "go.sum"), sums, 0o644)) //nolint:gosec // no secrets
}

// overlay writes the rewritten test files to tmp, and the file that lays them over ours. Our
// own tests are taken away, since theirs leave goroutines behind. It returns the tests' names.
func (s upstreamSuite) overlay(tmp string) (file string, tests []string, err error) {
	theirs, err := list(s.Theirs)
	if err != nil {
		return "", nil, err
	}
	ours, err := list(s.Ours)
	if err != nil {
		return "", nil, err
	}
	replace := map[string]string{}
	own, err := filepath.Glob(filepath.Join(ours.Dir, "*_test.go"))
	if err != nil {
		return "", nil, err
	}
	for _, path := range own {
		replace[path] = ""
	}
	files, err := filepath.Glob(filepath.Join(theirs.Dir, "*_test.go"))
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
	for name := range s.Renames {
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
		replace[filepath.Join(ours.Dir, "upstream_"+name)] = written
	}
	if s.Bridge != "" {
		bridge := filepath.Join(ours.Dir, "upstream_bridge_test.go")
		if replace[bridge], err = filepath.Abs(s.Bridge); err != nil {
			return "", nil, err
		}
	}
	for path, within := range s.Within {
		changed, err := list(path)
		if err != nil {
			return "", nil, err
		}
		if replace[filepath.Join(changed.Dir, "upstream_bridge.go")], err = filepath.Abs(within); err != nil {
			return "", nil, err
		}
	}
	for name := range unused {
		err = errors.Join(err, fmt.Errorf("%s has no %s any more", s.Theirs, name))
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

// goTest runs the tests, and returns the result and the output of each.
func (s upstreamSuite) goTest(overlay, modules string, tests []string) (results,
	output map[string]string,
	err error) {
	args := []string{"test", "-json", "-count=1", "-vet=off", "-timeout=5m", "-mod=mod", "-modfile", modules,
		"-overlay", overlay, "-run", "^(" + strings.Join(tests, "|") + ")$", s.Ours}
	if s.Specs != "" {
		args = append(args, "-ginkgo.json-report="+filepath.Join(filepath.Dir(overlay), specsFile))
	}
	cmd := exec.Command("go", args...) //nolint:gosec // constants of a test
	ours, err := list(s.Ours)
	if err != nil {
		return nil, nil, err
	}
	cmd.Dir = ours.Dir
	cmd.Env = append(os.Environ(), "GOMEGA_DEFAULT_EVENTUALLY_TIMEOUT=30s") // on a busy machine too
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
