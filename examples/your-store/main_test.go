package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Two operations and a load, so small that a run takes seconds.
const workload = `name: small
component: store
objects:
  count: 500
ops: [get, update]
groups:
- name: writer
  op: update
  goroutines: 1
  rate: 2000
- name: listers
  op: list
  goroutines: 2
duration: 20ms
`

// run runs a command in this folder and returns what it prints. It fails unless the command
// exits with 0 and prints each of want.
func run(t *testing.T, command []string, want ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", command, err, out)
	}
	for _, w := range want {
		if !strings.Contains(string(out), w) {
			t.Errorf("%q does not print %q:\n%s", command, w, out)
		}
	}
	return string(out)
}

// The program has mystore in its commands, its report and its gates.
func TestProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, small, results := filepath.Join(dir, "your-store.exe"), filepath.Join(dir, "small.yaml"),
		filepath.Join(dir, "results")
	if err := os.WriteFile(small, []byte(workload), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, []string{"go", "build", "-o", program, "."})
	run(t, []string{program, "list", "--component", "store"}, "mystore", "lockfree",
		"ByIndex looks at every object", "from example.com/your-store")
	run(t, []string{program, "version"}, "benchrun ", "example.com/your-store ")
	run(t, []string{program, "run", "-f", small, "--impl", "clientgo,mystore", "--forks", "2", "-o",
		results}, "ok   store/mystore", "waived STORE-21", "achieved-%")
	run(t, []string{program, "report", results, "--format", "markdown"}, "mystore", "clientgo")
	run(t, []string{program, "compare", results, results, "--gate", "store/*/mystore/ns/op <= +900%",
		"--inconclusive=pass"}, "mystore")
	for _, file := range []string{"report.html", "bench.txt"} {
		if page, err := os.ReadFile(filepath.Join(results, file)); err != nil ||
			!strings.Contains(string(page), "mystore") {
			t.Errorf("%s lacks mystore: %v", file, err)
		}
	}
}

// benchstat puts what go test -bench measures side by side.
func TestBenchmark(t *testing.T) {
	t.Parallel()
	numbers := filepath.Join(t.TempDir(), "bench.out")
	out := run(t, []string{"go", "test", "-run=^$", "-bench=.", "-benchtime=1x", "-count=2",
		"./mystore"},
		"# store/clientgo waives STORE-21",
		"BenchmarkStore/op=by-index/impl=mystore/objects=10000/goroutines=1",
		"BenchmarkStore/workload=store-contended/impl=clientgo/objects=10000", "writer-achieved-%")
	if n := strings.Count(out, "# store/clientgo waives STORE-21"); n != 1 {
		t.Errorf("the reference was verified %d times, want once for both counts", n)
	}
	if err := os.WriteFile(numbers, []byte(out), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, []string{"go", "tool", "benchstat", "-col", "/impl", numbers}, "clientgo", "mystore",
		"vs base", "Store/op=by-index", "Store/workload=store-contended")
}
