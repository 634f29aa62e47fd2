package benchcmd

// Runs that are interrupted, continued, refused, or that lose a cell on the way.

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/report"
)

// interrupted begins a small run and interrupts it at a progress line. It returns the
// run's folder and the number of forks of the whole run.
func interrupted(t *testing.T) (dir string, total int) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	workload := write(t, "small.yaml",
		"name: small\ncomponent: delay\nobjects:\n  count: 200\nwaiting: 100\nops: [mixed]\nduration: "+
			"5ms\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out, errOut bytes.Buffer
	watch := &cancelAfter{w: &errOut, text: "measuring", cancel: cancel, times: 3}
	code := execute(ctx, []string{"run", "-f", workload, "--impl", "btree,quadheap", "--forks",
		"3", "--skip-verify", "--profile=false", "-o", dir}, nil, &out, watch)
	if code != exitInterrupted || !strings.Contains(errOut.String(), "--resume "+dir) {
		t.Fatalf("exit code %d\n%s", code, errOut.String())
	}
	part, err := record.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	total = 3 * len(part.Cells)
	if part.Complete || len(part.Forks) == 0 || len(part.Forks) >= total {
		t.Fatalf("complete %v with %d of %d forks", part.Complete, len(part.Forks), total)
	}
	return dir, total
}

// An interrupted run keeps its forks and says how to resume; resuming counts nothing twice.
func TestInterruptAndResume(t *testing.T) {
	dir, total := interrupted(t)
	if code, _, errOut := benchrun(t, "run", "--resume", dir); code != 0 {
		t.Fatalf("resume: exit code %d\n%s", code, errOut)
	}
	whole, err := record.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !whole.Complete || len(whole.Forks) != total {
		t.Errorf("complete %v with %d forks, want %d", whole.Complete, len(whole.Forks), total)
	}
	for _, c := range whole.Cells {
		if n := len(whole.Measured(c)); n != 3 {
			t.Errorf("%s: %d forks, want 3", c.ID(), n)
		}
	}
	if code, _, errOut := benchrun(t, "run", "--resume", dir); code != exitBadInput ||
		!strings.Contains(errOut, "complete") {
		t.Errorf("a complete run was resumed: exit code %d\n%s", code, errOut)
	}
}

// A run of other code, or of another machine, is not resumed.
func TestResumeElsewhereIsRefused(t *testing.T) {
	dir, _ := interrupted(t)
	run, err := record.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	run.Environment.Cores += 90
	if err := record.WriteRun(dir, run); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, record.RunFile)
	other, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if code, _, errOut := benchrun(t, "run", "--resume", dir); code != exitBadInput ||
		!strings.Contains(errOut, "cores") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, other) {
		t.Errorf("the refused run was written to: %v", err)
	}
}

// --continue does not take a whole run of other code for its own.
func TestAWholeRunOfOtherCodeIsNotContinued(t *testing.T) {
	workload, dir := write(t, "tiny.yaml", shardedWorkload), filepath.Join(t.TempDir(), "run")
	args := []string{"run", "-f", workload, "--impl", "btree", "--forks", "1", "--profile=false",
		"--skip-verify", "--continue", "-o", dir}
	for range 2 {
		if code, _, errOut := benchrun(t, args...); code != 0 {
			t.Fatalf("exit code %d\n%s", code, errOut)
		}
	}
	run := read(t, dir)
	run.Environment.Revision = strings.Repeat("a", 40)
	if err := record.WriteRun(dir, run); err != nil {
		t.Fatal(err)
	}
	code, _, errOut := benchrun(t, args...)
	if code != exitBadInput || !strings.Contains(errOut,
		"is complete, and not what this command would measure: the code has changed") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
}

// A cell whose process fails is given up and named; the others are measured.
func TestACellThatFailsIsGivenUp(t *testing.T) {
	dir, total := interrupted(t)
	run, err := record.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	broken := run.Cells[0]
	broken.Impl = "nosuch"
	run.Cells = append(run.Cells, broken)
	if err := record.WriteRun(dir, run); err != nil {
		t.Fatal(err)
	}
	code, _, errOut := benchrun(t, "run", "--resume", dir)
	if code != exitBroken || !strings.Contains(errOut, "nosuch") ||
		!strings.Contains(errOut, "given up") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	if run, err = record.ReadRun(dir); err != nil || !run.Complete || len(run.Forks) != total {
		t.Fatalf("complete %v with %d forks, want %d: %v", run.Complete, len(run.Forks), total, err)
	}
	md, err := os.ReadFile(filepath.Join(dir, report.MarkdownFile))
	if err != nil || !bytes.Contains(md, []byte("given up")) {
		t.Errorf("the report does not say that a cell was given up: %v", err)
	}
}

// cancelAfter calls cancel when text was written the given number of times.
type cancelAfter struct {
	w      *bytes.Buffer
	text   string
	times  int
	cancel func()
}

func (c *cancelAfter) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(c.text)) {
		if c.times--; c.times == 0 {
			c.cancel()
		}
	}
	return c.w.Write(p)
}
