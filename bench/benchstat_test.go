package bench_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// benchstat reads the output of go test -bench and projects it by key.
func TestBenchstatReadsGoTestBench(t *testing.T) {
	if testing.Short() {
		t.Skip("runs benchmarks in a process of its own")
	}
	out, err := exec.Command(os.Args[0], "-test.run=^$", //nolint:gosec // this program
		"-test.bench=Delay/op=mixed|FIFO/op=add-pop", "-test.benchtime=20x").Output()
	if err != nil {
		t.Fatalf("the benchmarks: %v\n%s", err, out)
	}
	path := filepath.Join(t.TempDir(), "bench.out")
	if err := os.WriteFile(path, out, 0o644); err != nil {
		t.Fatal(err)
	}
	table, err := exec.Command("go", "tool", "benchstat", "-col", "/impl", "-row", "/op",
		path).CombinedOutput()
	if err != nil {
		t.Fatalf("benchstat: %v\n%s", err, table)
	}
	for _, want := range []string{"clientgo-deltafifo", "btree", "add-pop", "mixed", "sec/op",
		"allocs/op"} {
		if !bytes.Contains(table, []byte(want)) {
			t.Errorf("benchstat's table lacks %q:\n%s", want, table)
		}
	}
}
