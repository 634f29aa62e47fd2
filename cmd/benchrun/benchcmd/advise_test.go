package benchcmd

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/tools/go/packages"

	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/record/recordtest"
)

// A run under results/ is asked for what it has measured.
func TestAdviseByRun(t *testing.T) {
	t.Parallel()
	results := filepath.Join("..", "..", "..", "results")
	for _, c := range []struct {
		run  string
		want []string
	}{
		{"lock-starvation", []string{"store: use lockfree", " writer:update response-p99 ",
			"cases of its suite passed in this run", "import \"" + modulePath + "/dropin/cache\"",
			"store := cache.NewIndexer(keyFunc, indexers)"}},
		{"requeue-storm", []string{"queue: use workqueue", "and ", " more"}},
		{"delay-million", []string{"use quadheap", "price add-earlier "}},
	} {
		dir := filepath.Join(results, c.run)
		if _, err := os.Stat(dir); err != nil {
			t.Skip(err)
		}
		code, out, errOut := benchrun(t, "advise", dir)
		flat := strings.Join(strings.Fields(out), " ")
		for _, want := range c.want {
			if code != 0 || !strings.Contains(flat, want) {
				t.Errorf("%s lacks %q: exit code %d\n%s%s", c.run, want, code, out, errOut)
			}
		}
		for line := range strings.SplitSeq(out, "\n") {
			if n := utf8.RuneCountInString(line); n > 80 && !regexp.MustCompile(`\S{40}`).MatchString(line) {
				t.Errorf("%s: %d columns: %s", c.run, n, line)
			}
		}
	}
}

// A planned load is measured, with progress, and its run can be asked again.
func TestAdviseMeasures(t *testing.T) {
	t.Parallel()
	l := askedLoad{objects: 20, readers: 1, reads: load.OpGet, writes: 100, workers: -1, delayed: -1}
	workloads, err := l.workloads()
	if err != nil {
		t.Fatal(err)
	}
	for i := range workloads {
		workloads[i].Duration = 5 * time.Millisecond
	}
	dir := filepath.Join(t.TempDir(), "run")
	p, err := runner.NewPlan(runner.Options{Workloads: workloads, Forks: 1, SkipVerify: true, Out: dir,
		Impls: append(candidatesOf(contract.ComponentStore)[:2],
			candidatesOf(contract.ComponentInformer)[:2]...)})
	if err != nil {
		t.Fatal(err)
	}
	var out, errOut strings.Builder
	cmd := newAdvise()
	cmd.SetOut(&out)
	cmd.SetErr(&errOut)
	cmd.SetContext(t.Context())
	result, err := measureAdvice(cmd, p, 10*time.Minute)
	if err = errors.Join(err, writeAdvice(cmd, result)); err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"Load 20 objects; 1 goroutine gets; 100 writes a second",
		"store: not settled; until it is, keep clientgo", "informer: not settled", "comparisons, such as",
		"verified not in this run: benchrun verify --component store --impl clientgo",
		"processes: " + filepath.Join(dir, "report.html")} {
		if !strings.Contains(flat, want) {
			t.Errorf("lacks %q:\n%s", want, &out)
		}
	}
	if !strings.Contains(errOut.String(), " left, measuring") {
		t.Errorf("no progress: %s", &errOut)
	}
	code, again, text := benchrun(t, "advise", dir)
	if code != 0 || again != out.String() {
		t.Errorf("exit code %d: %s\nasked again:\n%s\nat first:\n%s", code, text, again, &out)
	}
	// Time that is over before the suites are done leaves nothing to answer from.
	p, err = planAdvice(runner.Options{Budget: adviseTime, Out: dir + "2"}, l)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := measureAdvice(cmd, p, reporting); err == nil ||
		!strings.Contains(err.Error(), "give more") {
		t.Errorf("%v", err)
	}
}

// Every valid load makes workloads that a run takes.
func TestAdvisedWorkloads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--objects", "20", "--readers", "2", "--reads", "by-index=5", "--writes", "1000"},
			"20 objects; 2 goroutines look up 5 by index; 1,000 writes a second"},
		{[]string{"--objects", "1", "--readers", "1", "--reads", "get"}, "1 object; 1 goroutine gets"},
		{[]string{"--objects", "20", "--readers", "0", "--writes", "0"}, "20 objects; 0 writes a second"},
		{[]string{"--reads", "list"}, "10,000 objects; 1 goroutine lists"},
		{[]string{"--workers", "8", "--delayed", "0"}, "8 workers; 0 items wait for their time"},
		{[]string{"--writes", "7", "--delayed", "1"},
			"10,000 objects; 7 writes a second; 1 item waits for its time"},
	} {
		l := unknownLoad
		cmd := newVersion()
		l.addFlags(cmd)
		if err := cmd.ParseFlags(c.args); err != nil {
			t.Fatal(err)
		}
		p, err := planAdvice(runner.Options{Budget: adviseTime, Out: filepath.Join(t.TempDir(), "run")},
			l)
		if err != nil || p == nil {
			t.Errorf("%q: %v", c.args, err)
		}
		workloads, err := l.workloads()
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range workloads {
			if w.Duration = time.Second; w.Description != c.want || w.Validate() != nil {
				t.Errorf("%q: %q, want %q; %v", c.args, w.Description, c.want, w.Validate())
			}
		}
	}
}

// A trace gives the objects and the writes, and flags come before it.
func TestAdviseByTrace(t *testing.T) {
	t.Parallel()
	info := load.TraceInfo{PeakRate: 70, Resources: []load.TraceResourceInfo{{PeakLive: 5},
		{PeakLive: 500}}}
	if l := unknownLoad.over(info); l.objects != 500 || l.writes != 70 {
		t.Errorf("%+v", l)
	}
	if l := (askedLoad{objects: 3, writes: 4}).over(info); l.objects != 3 || l.writes != 4 {
		t.Errorf("%+v", l)
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
		{[]string{"--readers", "3"}, []string{"--reads list"}},
		{[]string{"--writes", "NaN"}, []string{"--writes", "a whole number"}},
		{[]string{"--delayed", "1.5"}, []string{"--delayed", "a whole number"}},
		{[]string{"--reads", "scan"}, []string{"--reads", "by-index=N", "list"}},
		{[]string{"--objects", "5", "--reads", "by-index=6"}, []string{"--reads", "1 to 5"}},
		{[]string{"--objects", "5000000"}, []string{"--budget 2m0s", "give --budget "}},
		{[]string{"--workers", "1", "--budget", "0"}, []string{"--budget", "more than 0"}},
		{[]string{"--trace", plain}, []string{"plain.trace"}},
		{[]string{empty}, []string{"run.json", "folder of a run"}},
		{[]string{empty, "--objects", "5"}, []string{"--objects", "leave out one"}},
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
	for _, want := range []string{"Examples:", "--reads", "--budget", "2m0s"} {
		if !strings.Contains(help, want) {
			t.Errorf("the help lacks %q:\n%s", want, help)
		}
	}
	if _, out, _ := benchrun(t, "__complete", "advise", "--reads", ""); !strings.Contains(out,
		"by-index=") {
		t.Errorf("completion of --reads: %s", out)
	}
}

// Each implementation of ours that may be advised has lines, and all lines compile in a program
// that has what they take.
func TestLinesCompile(t *testing.T) {
	t.Parallel()
	for _, c := range load.Components() {
		for _, id := range candidatesOf(c) {
			ours := !strings.Contains(id, "/clientgo") && c != contract.ComponentDelay &&
				!strings.Contains(id, "controllerruntime")
			if ours && linesOf[id] == nil {
				t.Errorf("%s has no lines", id)
			}
		}
	}
	var text strings.Builder
	var imports []string
	for _, key := range slices.Sorted(maps.Keys(linesOf)) {
		for _, l := range linesOf[key] {
			code := l.code
			if !strings.Contains(code, ":=") {
				code = "line := " + code
			}
			name, _, _ := strings.Cut(code, " ")
			given := ""
			for _, g := range []string{"keyFunc cache.KeyFunc", "indexers cache.Indexers",
				"options cache.DeltaFIFOOptions", "client kubernetes.Interface", "resync time.Duration",
				"limiter workqueue.TypedRateLimiter[string]", "name string"} {
				if param, _, _ := strings.Cut(g,
					" "); regexp.MustCompile(`\b` + param + `\b`).MatchString(code) {
					given += g + ", "
				}
			}
			fmt.Fprintf(&text, "func _(%s) {\n%s\n_ = %s\n}\n", given, code, name)
			imports = append(imports, modulePath+l.imports)
		}
	}
	// cache is controller-runtime's beside its options, and the drop-in's elsewhere.
	body := strings.ReplaceAll(text.String(), "cache.Options{", "ctrlcache.Options{")
	imports = append(imports, "time", "k8s.io/client-go/kubernetes",
		"sigs.k8s.io/controller-runtime/pkg/controller", "sigs.k8s.io/controller-runtime/pkg/reconcile")
	slices.Sort(imports)
	file := filepath.Join(t.TempDir(), "lines.go")
	program := "package lines\n\nimport (\n\"" + strings.Join(slices.Compact(imports), "\"\n\"") +
		"\"\nctrlcache \"sigs.k8s.io/controller-runtime/pkg/cache\"\n)\n\n" + body
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	// Without NeedDeps the imports' types come from the build cache, and not from source.
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles |
		packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo}, file)
	if err != nil || len(pkgs) != 1 || pkgs[0].Types == nil {
		t.Fatalf("%d packages, want one: %v", len(pkgs), err)
	}
	for _, e := range pkgs[0].Errors {
		t.Errorf("%v\n%s", e, program)
	}
}

// A disturbed run says so first, and names no gain that the disturbance could explain.
func TestAdviseOfADisturbedRun(t *testing.T) {
	t.Parallel()
	r := recordtest.Run(recordtest.Spec{Forks: 12, Impls: []recordtest.Impl{
		{Name: "clientgo", NsPerOp: 100}, {Name: "lockfree", NsPerOp: 50}}})
	for i := range r.Forks {
		if f := &r.Forks[i]; f.Cell.Impl == "lockfree" {
			f.Process["heap-B/object"] = 50
		}
	}
	r.Environment.OthersMedian, r.Environment.OthersMax = 60, 70
	dir := t.TempDir()
	if err := record.WriteRun(dir, r); err != nil {
		t.Fatal(err)
	}
	code, out, errOut := benchrun(t, "advise", dir)
	_, because, _ := strings.Cut(out, "because")
	because, _, _ = strings.Cut(because, "keeps")
	if code != 0 || !strings.HasPrefix(out, "First         DISTURBED: others took 60%") ||
		!strings.Contains(because, "heap-B/object") || strings.Contains(because, "ns/op") {
		t.Errorf("exit code %d: want the disturbance first, and the memory alone:\n%s%s", code, out, errOut)
	}
}
