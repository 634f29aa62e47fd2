package coretest

import (
	"crypto/sha256"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var core = filepath.Join("..", "..", "core")

// go test ./... ends where another module begins, so this test runs the tests of core.
func TestCore(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("skipped with -short: it runs all tests of the module core")
	}
	// The go command repeats a test when a file that it read has changed.
	sum := sha256.New()
	err := filepath.WalkDir(core, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		_, _ = sum.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("sources %x", sum.Sum(nil)[:8])
	cmd := exec.CommandContext(t.Context(), "go", "test", "./...")
	cmd.Dir = core
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), "\nok"); n < 10 {
		t.Errorf("%d packages with tests passed, want 10 or more:\n%s", n, out)
	}
}

// A program that imports core gets no module that client-go would not have brought.
func TestCoreBringsWhatClientGoBrings(t *testing.T) {
	t.Parallel()
	ours := modules(t, "github.com/informerbench/informerbench/core v0.0.0",
		`replace github.com/informerbench/informerbench/core => `+absolute(t, core),
		"github.com/informerbench/informerbench/core/dropin/cache", "github.com/informerbench/informerbench/core/dropin/workqueue",
		"github.com/informerbench/informerbench/core/impl/lockfree", "github.com/informerbench/informerbench/core/informer/informers",
		"github.com/informerbench/informerbench/core/queue/workqueue")
	theirs := modules(t, clientGo(t), "", "k8s.io/client-go/tools/cache", "k8s.io/client-go/util/workqueue", "k8s.io/client-go/informers")
	if len(theirs) < 20 {
		t.Fatalf("client-go brings %d modules: the test sees nothing", len(theirs))
	}
	for _, m := range ours {
		if !slices.Contains(theirs, m) && m != "github.com/informerbench/informerbench/core" {
			t.Errorf("%s is in the module graph of a program that imports core, and not in client-go's", m)
		}
	}
	t.Logf("%d modules beside core, %d with client-go", len(ours)-2, len(theirs)-1) // without the program's own
}

// modules are the paths that go list -m all gives for a program with one requirement.
func modules(t *testing.T, require, replace string, imports ...string) []string {
	t.Helper()
	dir := t.TempDir()
	program := "package main\n\nimport (\n"
	for _, path := range imports {
		program += fmt.Sprintf("\t_ %q\n", path)
	}
	program += ")\n\nfunc main() {}\n"
	tags := build.Default.ReleaseTags
	version := tags[len(tags)-1] // "go1.26"
	mod := fmt.Sprintf("module example.com/program\n\ngo %s.0\n\nrequire %s\n\n%s\n", strings.TrimPrefix(version, "go"), require, replace)
	for name, text := range map[string]string{"main.go": program, "go.mod": mod} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "mod", "tidy")
	return strings.Fields(run(t, dir, "list", "-m", "-f", "{{.Path}}", "all"))
}

// clientGo is the requirement on client-go in core's go.mod.
func clientGo(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(run(t, core, "list", "-m", "-f", "{{.Path}} {{.Version}}", "k8s.io/client-go"))
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	if dir != core {
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, stderr.String())
	}
	return string(out)
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
