package benchcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"golang.org/x/perf/benchfmt"

	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/report"
)

// One small run through everything: verification, forks in processes of their
// own, profiles, the reports.
func TestRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	workload := write(t, "small.yaml", `name: small
component: store
objects:
  count: 200
ops: [get, list, update, replace]
groups:
- name: writer
  op: update
  goroutines: 1
  rate: 2000
- name: listers
  op: list
  goroutines: 2
duration: 20ms
`)
	code, out, errOut := benchrun(t, "run", "-f", workload, "--impl", "clientgo,mutexmap", "--forks",
		"2", "-o", dir)
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, errOut)
	}
	for _, want := range []string{"clientgo", "mutexmap", "get", "ns/op", "achieved-%", "report.md"} {
		if !strings.Contains(out, want) {
			t.Errorf("the table lacks %q:\n%s", want, out)
		}
	}
	run, err := record.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !run.Complete || len(run.Cells) != 3 {
		t.Errorf("complete %v, %d cells; want true and 3 (two stores, and the second copy of the first)",
			run.Complete, len(run.Cells))
	}
	for _, f := range run.Forks {
		for _, s := range append(f.Series, record.Series{Values: f.Process}) {
			for name := range s.Values {
				if metrics.Of(name).Help == "" {
					t.Errorf("%s: %s is not in the table of metrics", s.Name(), name)
				}
			}
		}
	}
	for _, c := range run.Cells {
		if n := len(run.Measured(c)); n != 2 {
			t.Errorf("%s: %d forks, want 2", c.ID(), n)
		}
		for _, f := range run.Measured(c) { // operations alone carry the ratios of their turns
			for _, s := range f.Series {
				if (s.Duet == nil) != (s.Group != "") {
					t.Errorf("%s %s: a duet: %v", c.ID(), s.Name(), s.Duet != nil)
				}
			}
		}
		for _, s := range []string{"get", "replace"} {
			for _, v := range run.Values(c, s, metrics.NsPerOp) {
				if v <= 0 {
					t.Errorf("%s %s: %g ns/op", c.ID(), s, v)
				}
			}
		}
		if n := len(run.Values(c, "writer:update", metrics.Percentile("delay", 99.99))); n != 2 {
			t.Errorf("%s: %d values of the writer's delay, want 2", c.ID(), n)
		}
	}
	checkBenchText(t, filepath.Join(dir, report.BenchTextFile))
	checkProfiles(t, dir)
	md, err := os.ReadFile(filepath.Join(dir, report.MarkdownFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"delay-p50", "offered/s", "is waived", "Where the time goes",
		"GOGC"} {
		if !bytes.Contains(md, []byte(want)) {
			t.Errorf("report.md lacks %q", want)
		}
	}

	again := filepath.Join(dir, report.MarkdownFile)
	if err := os.Remove(again); err != nil {
		t.Fatal(err)
	}
	if code, out, errOut := benchrun(t, "report", dir, "--wide"); code != 0 ||
		!strings.Contains(out, "mutexmap") || !strings.Contains(out, "took turns") {
		t.Errorf("report: exit code %d\n%s%s", code, out, errOut)
	}
	if got, err := os.ReadFile(again); err != nil || !bytes.Equal(got, md) {
		t.Errorf("the report made again differs: %v", err)
	}
}

// checkBenchText lets benchfmt, benchstat's own reader, read every line.
func checkBenchText(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	names := map[string]bool{}
	for r := benchfmt.NewReader(f, path); r.Scan(); {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			names[string(rec.Name.Full())] = true
		case *benchfmt.SyntaxError:
			t.Errorf("benchfmt: %v", rec)
		}
	}
	if want := "Store/workload=small/objects=200/group=writer/op=update/impl=mutexmap-2"; !names[want] && !names[strings.TrimSuffix(want, "-2")] {
		found := false
		for n := range names {
			found = found || strings.HasPrefix(n, strings.TrimSuffix(want, "-2"))
		}
		if !found {
			t.Errorf("no line for %s among %d", want, len(names))
		}
	}
	out, err := exec.Command("go", "tool", "benchstat", "-col", "/impl", path).CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("mutexmap")) {
		t.Errorf("benchstat: %v\n%s", err, out)
	}
}

// checkProfiles lets pprof's own reader read every profile, and go tool pprof one.
func checkProfiles(t *testing.T, dir string) {
	t.Helper()
	var kinds []string
	err := filepath.WalkDir(filepath.Join(dir, "profiles"),
		func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			if _, err := profile.Parse(f); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if len(kinds) == 0 {
				out, err := exec.Command("go", "tool", "pprof", "-top", path).CombinedOutput()
				if err != nil {
					t.Errorf("go tool pprof -top %s: %v\n%s", path, err, out)
				}
			}
			kinds = append(kinds, filepath.Base(path))
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(kinds)
	if got := slices.Compact(kinds); !slices.Equal(got,
		[]string{"allocs.pb.gz", "block.pb.gz", "cpu.pb.gz", "heap.pb.gz", "mutex.pb.gz"}) {
		t.Errorf("profiles %v", got)
	}
}

func TestForkRefusesNonsense(t *testing.T) {
	for _, in := range []string{"", "{",
		`{"cell":{"component":"store","impl":"nosuch","procs":1},"workload":"name: x\ncomponent: store\nobjects:\n  count: 1\nops: [get]\n"}`} {
		var out, errOut bytes.Buffer
		if code := execute(t.Context(), []string{runner.ForkCommand}, strings.NewReader(in), &out,
			&errOut); code == 0 {
			t.Errorf("request %q was taken", in)
		}
		if json.Valid(out.Bytes()) && out.Len() > 0 {
			t.Errorf("request %q gave a fork: %s", in, out.String())
		}
	}
	if errors.Is(broken(nil), errBroken) {
		t.Error("no error is broken")
	}
}
