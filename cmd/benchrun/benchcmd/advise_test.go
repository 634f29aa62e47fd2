package benchcmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/informerbench/informerbench/load"
)

// The examples of the help run, and say for each component what to use or to measure.
func TestAdvise(t *testing.T) {
	t.Parallel()
	kept := filepath.Join("..", "results", "lock-starvation")
	trace := write(t, "whole.trace", aTrace(t))
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--objects", "50000", "--readers", "10", "--reads", "list", "--writes", "2000",
			"--memory", "2GiB"}, []string{"store: use lockfree", "informer: use informerbench",
			"fifo: use inorder-atomic", "of 2.0 GiB"}},
		{[]string{"--objects", "100000", "--readers", "10", "--reads", "by-index=2000", "--writes",
			"10000"}, []string{"look up 2,000 by index", "store: use lockfree",
			"of 10,000 updates a second"}},
		{[]string{"--delayed", "1000000", "--workers", "8"},
			[]string{"queue: use workqueue", "delay: use quadheap", "says nothing of store"}},
		{[]string{"--workers", "8", "--delayed", "1000", "--priorities"},
			[]string{"queue: use priority"}},
		{[]string{"--objects", "100000", "--writes", "100", "--readers", "0", "--events", "merged"},
			[]string{"fifo: use coalescing", "store: use clientgo"}},
		{[]string{"--objects", "5000000", "--readers", "10", "--reads", "list"},
			[]string{"store: measure this", "--workload store", "benchrun run -f store.yaml"}},
		{[]string{"--all", "--objects", "50000", "--readers", "10", "--reads", "list", "--writes",
			"2000"}, []string{"repeat", "benchrun run --preset lock-starvation"}},
		{[]string{kept}, []string{"80 goroutines list everything", "store: use lockfree",
			"comparisons are inconclusive", "memory 0."}},
		{[]string{filepath.Join("..", "results", "kcm-150k")},
			[]string{"store: use lockfree", "price", "lister:list delay-p90-ns is 1."}},
		{[]string{kept, "--readers", "500"},
			[]string{"store: measure this", "The run did not measure this load (500 goroutines read"}},
		{[]string{"--trace", trace, "--readers", "2", "--reads", "list"},
			[]string{"500 objects", "the most pods at once", "store: measure this",
				"--trace " + trace + " \\ -f store.yaml"}},
	} {
		code, out, errOut := benchrun(t, append([]string{"advise"}, c.args...)...)
		flat := strings.Join(strings.Fields(out), " ")
		for _, want := range c.want {
			if code != 0 || !strings.Contains(flat, want) {
				t.Errorf("%q lacks %q: exit code %d\n%s%s", c.args, want, code, out, errOut)
			}
		}
		for line := range strings.SplitSeq(out, "\n") {
			// A long path or a list of names cannot be broken.
			if n := utf8.RuneCountInString(line); n > 80 && !regexp.MustCompile(`\S{40}`).MatchString(line) {
				t.Errorf("%q: %d columns: %s", c.args, n, line)
			}
		}
	}
}

// Each workload that an advice names is one that benchrun run takes.
func TestAdviseWritesWorkloads(t *testing.T) {
	t.Parallel()
	for _, component := range load.Components() {
		code, out, errOut := benchrun(t, "advise", "--objects", "20", "--readers", "2", "--reads",
			"by-index=5", "--writes", "1000", "--delayed", "10", "--workers", "2", "--workload",
			string(component))
		if code != 0 {
			t.Fatalf("%s: exit code %d: %s", component, code, errOut)
		}
		w, err := load.ParseWorkload("advised.yaml", []byte(out))
		if err != nil || w.Component != component {
			t.Errorf("%s: %v\n%s", component, err, out)
		}
	}
}

// An advised workload can be measured, and its run can be asked in turn.
func TestAdvisedWorkloadRuns(t *testing.T) {
	_, out, _ := benchrun(t, "advise", "--objects", "20", "--readers", "2", "--reads", "list",
		"--writes", "1000", "--workload", "store")
	file, dir := write(t, "store.yaml", out), filepath.Join(t.TempDir(), "run")
	if code, _, errOut := benchrun(t, "run", "-f", file, "--impl", "clientgo,mutexmap", "--forks", "1",
		"--duration", "2ms", "--profile=false", "--skip-verify", "-o", dir); code != 0 {
		t.Fatalf("exit code %d: %s", code, errOut)
	}
	code, out, errOut := benchrun(t, "advise", dir)
	if flat := strings.Join(strings.Fields(out), " "); code != 0 ||
		!strings.Contains(flat, "20 objects; 2 goroutines list everything; 1,000 writes a second") ||
		!strings.Contains(flat, "The run proves none better") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
}

func TestAdviseForMachines(t *testing.T) {
	t.Parallel()
	args := []string{"advise", "--objects", "50000", "--readers", "10", "--reads", "list", "--writes",
		"2000", "--format"}
	code, out, _ := benchrun(t, append(args, "json")...)
	var given struct {
		Advice []struct{ Component, Decision, Use string }
	}
	if err := json.Unmarshal([]byte(out), &given); code != 0 || err != nil || len(given.Advice) != 5 ||
		given.Advice[0].Use != "lockfree" {
		t.Errorf("exit code %d: %v\n%s", code, err, out)
	}
	if code, out, _ := benchrun(t, append(args, "markdown")...); code != 0 ||
		!strings.Contains(out, "## store: use `lockfree`") || !strings.Contains(out, "```go") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// Mistakes name the flag and what is allowed.
func TestAdviseBadInput(t *testing.T) {
	t.Parallel()
	empty, plain := t.TempDir(), write(t, "plain.trace", "not a trace")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"no load", "--objects 50000", "--trace", "RUN"}},
		{[]string{"--objects", "0"}, []string{"--objects", "1 to 50,000,000"}},
		{[]string{"--objects", "many"}, []string{"--objects", "a whole number"}},
		{[]string{"--readers", "-1"}, []string{"--readers", "0 to 100,000"}},
		{[]string{"--writes", "NaN"}, []string{"--writes", "a number"}},
		{[]string{"--delayed", "1.5"}, []string{"--delayed", "a whole number"}},
		{[]string{"--reads", "scan"}, []string{"--reads", "by-index=N", "list"}},
		{[]string{"--objects", "5", "--reads", "by-index=6"}, []string{"--reads", "1 to 5"}},
		{[]string{"--memory", "lots"}, []string{"--memory", "512MiB"}},
		{[]string{"--workers", "1", "--events", "some"}, []string{"--events", "every or merged"}},
		{[]string{"--workers", "1", "--format", "html"}, []string{"--format", "text, markdown or json"}},
		{[]string{"--workers", "1", "--workload", "stores"},
			[]string{"--workload", "did you mean store"}},
		{[]string{"--workers", "1", "--workload", "limiter"}, []string{"--workload", "store, fifo"}},
		{[]string{"--trace", plain}, []string{"plain.trace"}},
		{[]string{empty}, []string{"run.json", "folder of a run"}},
		{[]string{empty, empty}, []string{"one RUN"}},
	} {
		code, out, errOut := benchrun(t, append([]string{"advise"}, c.args...)...)
		if code != exitBadInput || out != "" {
			t.Errorf("%q: exit code %d, want %d; %s", c.args, code, exitBadInput, out)
		}
		for _, want := range c.want {
			if !strings.Contains(errOut, want) {
				t.Errorf("%q: %q lacks %q", c.args, errOut, want)
			}
		}
	}
}

func TestAdviseIsExplained(t *testing.T) {
	t.Parallel()
	_, help, _ := benchrun(t, "advise", "--help")
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Examples:", "--reads", "docs/which.md", "--workload"} {
		if !strings.Contains(help, want) {
			t.Errorf("the help lacks %q:\n%s", want, help)
		}
	}
	for _, want := range []string{"go run ./cmd/benchrun advise", "docs/which.md"} {
		if !strings.Contains(string(readme), want) {
			t.Errorf("the README lacks %q", want)
		}
	}
	if _, out, _ := benchrun(t, "__complete", "advise", "--reads", ""); !strings.Contains(out,
		"by-index=") {
		t.Errorf("completion of --reads: %s", out)
	}
}
