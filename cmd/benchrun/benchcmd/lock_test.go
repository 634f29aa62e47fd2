package benchcmd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/measure/record"
)

// A second command on a run's folder reports the process that holds it, and changes
// nothing.
func TestSecondRunIsToldWhoHoldsTheFolder(t *testing.T) {
	begun, _ := interrupted(t)
	fresh := filepath.Join(t.TempDir(), "run")
	for _, c := range []struct {
		name, dir string
		args      []string
	}{
		{"run", fresh, tinyRun(t, fresh)},
		{"run, of a folder with a run", begun, tinyRun(t, begun)},
		{"resume", begun, []string{"run", "--resume", begun}},
		{"pair", fresh, append([]string{"pair"}, withoutProfile(tinyRun(t, fresh)[1:])...)},
		{"selfcheck", fresh, []string{"selfcheck", "--rounds", "0", "-o", fresh}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lock, err := record.LockDir(c.dir, []string{"benchrun", "run", "--of", "another"})
			if err != nil {
				t.Fatal(err)
			}
			before := content(t, c.dir)
			code, out, errOut := benchrun(t, c.args...)
			if code != exitBadInput {
				t.Errorf("exit code %d, want %d\n%s%s", code, exitBadInput, out, errOut)
			}
			for _, want := range []string{c.dir, fmt.Sprintf("process %d", os.Getpid()),
				"benchrun run --of another", "since 2"} {
				if !strings.Contains(errOut, want) {
					t.Errorf("the error does not say %q:\n%s", want, errOut)
				}
			}
			if after := content(t, c.dir); after != before {
				t.Errorf("it changed\n%s\nto\n%s", before, after)
			}
			if err := lock.Unlock(); err != nil {
				t.Fatal(err)
			}
		})
	}
	if code, _, errOut := benchrun(t, "run", "--resume", begun); code != 0 {
		t.Errorf("when it is free: exit code %d\n%s", code, errOut)
	}
}

// withoutProfile leaves out a flag that pair does not have.
func withoutProfile(args []string) []string {
	var out []string
	for _, a := range args {
		if !strings.HasPrefix(a, "--profile") {
			out = append(out, a)
		}
	}
	return out
}

// content is every file below dir with its text.
func content(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			fmt.Fprintf(&out, "%s\n%s\n", path, must(os.ReadFile(path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A run holds its folder from its beginning, before any measurement, until it ends, however
// it ends.
func TestRunHoldsItsFolderWhileItLives(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	// verifies first, for a while
	first := exec.CommandContext(t.Context(), must(os.Executable()), "run", "--preset", "stores", "-o",
		dir)
	first.Env = append(os.Environ(), asBenchrun+"=1")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	said := ""
	for said == "" { // the lock file's text comes after its lock
		b, _ := os.ReadFile(filepath.Join(dir, ".benchrun.lock")) // not there at first
		said = string(b)
		time.Sleep(time.Millisecond) // another process has to get so far
	}
	if code, _, errOut := benchrun(t, tinyRun(t, dir)...); code != exitBadInput ||
		!strings.Contains(errOut, fmt.Sprintf("process %d", first.Process.Pid)) {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // it was killed
	if code, _, errOut := benchrun(t, tinyRun(t, dir)...); code != 0 {
		t.Errorf("after its death: exit code %d\n%s", code, errOut)
	}
	checkWhole(t, dir)
}
