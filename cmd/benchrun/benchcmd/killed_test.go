package benchcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/measure/record"
)

// dieVariable names, in the environment, a folder with a file for each fork process to be
// killed.
const dieVariable = "BENCHRUN_TEST_DIE"

// dieOnPurpose kills this process if it can remove a file of that folder.
func dieOnPurpose() {
	dir := os.Getenv(dieVariable)
	if dir == "" {
		return
	}
	for _, f := range must(filepath.Glob(filepath.Join(dir, "*"))) {
		if os.Remove(f) == nil {
			_ = must(os.FindProcess(os.Getpid())).Kill()
			select {}
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A fork whose process is killed is measured again. After three kills the cell is given up,
// and --resume measures it after all.
func TestKilledForksAreMeasuredAgain(t *testing.T) {
	for _, c := range []struct{ kills, code, warnings int }{{2, 0, 2}, {3, exitBroken, 3}} {
		t.Run(fmt.Sprint(c.kills), func(t *testing.T) {
			deaths := t.TempDir()
			for i := range c.kills {
				if err := os.WriteFile(filepath.Join(deaths, fmt.Sprint(i)), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv(dieVariable, deaths)
			dir := filepath.Join(t.TempDir(), "run")
			code, _, errOut := benchrun(t, tinyRun(t, dir)...)
			if code != c.code {
				t.Fatalf("exit code %d, want %d\n%s", code, c.code, errOut)
			}
			run := read(t, dir)
			if len(run.Warnings) != c.warnings {
				t.Errorf("warnings %q, want %d", run.Warnings, c.warnings)
			}
			first := run.Schedule()[0].Cell.ID()
			for _, w := range run.Warnings {
				if !strings.Contains(w, first) || !strings.Contains(w, "killed") {
					t.Errorf("the warning does not name the cell %s and what befell it: %s", first, w)
				}
			}
			if c.code == 0 {
				checkWhole(t, dir)
				return
			}
			if !run.Complete || !strings.Contains(errOut, "given up") ||
				!strings.Contains(errOut, "--resume "+dir) {
				t.Errorf("complete %v; want true, and how to measure the cell again:\n%s", run.Complete, errOut)
			}
			if code, _, errOut := benchrun(t, "run", "--resume", dir); code != 0 {
				t.Fatalf("resume: exit code %d\n%s", code, errOut)
			}
			checkWhole(t, dir)
			if run = read(t, dir); slices.ContainsFunc(run.Warnings, func(w string) bool {
				return strings.Contains(w, "given up")
			}) {
				t.Errorf("measured, and still called given up: %q", run.Warnings)
			}
		})
	}
}

// Where two processes take turns and one is killed, both are measured again: a ratio has two
// sides.
func TestAKilledProcessOfAPairIsMeasuredAgain(t *testing.T) {
	deaths := t.TempDir()
	if err := os.WriteFile(filepath.Join(deaths, "1"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv(dieVariable, deaths)
	out := filepath.Join(t.TempDir(), "pair")
	code, _, errOut := benchrun(t, "pair", "-f", write(t, "tiny.yaml", tiny), "--impl", "mutexmap",
		"--forks", "2", "--skip-verify", "--inconclusive=pass", "-o", out)
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	for _, side := range []string{runner.BaseDir, runner.HeadDir} {
		run := read(t, filepath.Join(out, side))
		if !run.Complete || len(run.Forks) != 2*len(run.Cells) || len(run.Warnings) != 1 ||
			!strings.Contains(run.Warnings[0], "measured again") {
			t.Errorf("%s: complete %v, %d forks of %d cells, warnings %q", side, run.Complete,
				len(run.Forks), len(run.Cells), run.Warnings)
		}
	}
}

const tinyForks = 2

// tinyRun is the command line of a run of some tenths of a second: two cells of
// tinyForks forks each.
func tinyRun(t *testing.T, dir string) []string {
	t.Helper()
	workload := write(t, "tiny.yaml",
		"name: tiny\ncomponent: delay\nobjects:\n  count: 200\nwaiting: 100\nops: [mixed]\nduration: "+
			"5ms\n")
	return []string{"run", "-f", workload, "--impl", "btree,quadheap", "--forks",
		fmt.Sprint(tinyForks), "--procs", "1", "--skip-verify", "--profile=false", "-o", dir}
}

func read(t *testing.T, dir string) *record.Run {
	t.Helper()
	run, err := record.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// checkWhole wants every fork of a tinyRun, and no files that a finished run does not need.
// ReadRun finds duplicate forks.
func checkWhole(t *testing.T, dir string) {
	t.Helper()
	run := read(t, dir)
	if want := tinyForks * len(run.Cells); !run.Complete || len(run.Cells) != 2 ||
		len(run.Forks) != want {
		t.Errorf("complete %v with %d forks of %d cells, want true with %d of 2", run.Complete,
			len(run.Forks), len(run.Cells), want)
	}
	for _, c := range run.Cells {
		for i := range tinyForks {
			if !slices.ContainsFunc(run.Forks, func(f record.Fork) bool {
				return f.Cell.ID() == c.ID() && f.Index == i
			}) {
				t.Errorf("fork %d of %s is missing", i, c.ID())
			}
		}
	}
	var names []string
	for _, e := range must(os.ReadDir(dir)) {
		names = append(names, e.Name())
	}
	if want := []string{"bench.txt", "report.html", "report.md", "run.json"}; !slices.Equal(names,
		want) {
		t.Errorf("the folder holds %v, want %v", names, want)
	}
}
