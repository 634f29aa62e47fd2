package benchcmd

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// A command ends though the pipe that it is given brings nothing, or the device would bring bytes
// without end.
func TestPipesAndDevices(t *testing.T) {
	t.Parallel()
	bench := write(t, "bench.txt", strings.Repeat("BenchmarkX 1 5 ns/op\n", 6))
	out := filepath.Join(t.TempDir(), "out.trace")
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	silent, err := os.OpenFile(pipe, os.O_RDWR, 0) // a writer that writes nothing
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	var all sync.WaitGroup
	defer all.Wait()
	for _, args := range [][]string{
		{"compare", "PATH", bench}, {"compare", bench, "PATH"},
		{"compare", bench, bench, "--gates", "PATH"},
		{"run", "-f", "PATH"}, {"run", "--trace", "PATH"},
		{"trace", "info", "PATH"}, {"trace", "cat", "PATH"}, {"trace", "salvage", "PATH", "-o", out},
		{"trace", "import", "--pods", "PATH", "-o", out},
	} {
		for path, want := range map[string]string{pipe: "a pipe", "/dev/zero": "is a device"} {
			line := strings.Split(strings.ReplaceAll(strings.Join(args, "\n"), "PATH", path), "\n")
			all.Go(func() {
				code, _, errOut := benchrun(t, line...)
				if code != exitBadInput || !strings.Contains(errOut, path) ||
					!strings.Contains(errOut, want) && !strings.Contains(errOut, "brought nothing for 5s") {
					t.Errorf("%v: exit code %d\n%s", line, code, errOut)
				}
			})
		}
	}
}
