package benchcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/apiserver"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// recorded records 20 pods that are changed 60 times, and returns the file and the server's
// final state.
func recorded(t *testing.T) (path string, state map[string]runtime.Object) {
	t.Helper()
	dir := t.TempDir()
	objects := synthetic.Generate(
		synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: 20, Namespaces: 3}, 1)
	pods := synthetic.NewSource(objects.All(), synthetic.SourceOptions{})
	defer pods.Stop()
	server, err := apiserver.New(
		map[schema.GroupVersionResource]*synthetic.Source{apiserver.Pods: pods},
		apiserver.Options{TLS: true, Token: "abc"})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	config, err := server.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, config, 0o600); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "pods.trace")
	changed := make(chan struct{})
	go func() {
		defer close(changed)
		// The first watch is Probe's. The second is the recording's and comes after its
		// first list.
		for t.Context().Err() == nil && server.Stats().Opened < 2 {
			time.Sleep(time.Millisecond)
		}
		for i := range 60 {
			key := objects.Key(i % 20)
			current, exists := pods.Get(key)
			switch {
			case !exists:
				_, err = pods.Create(objects.At(i % 20))
			case i%5 == 0:
				_, err = pods.Delete(key)
			default:
				p := current.(*corev1.Pod).DeepCopy()
				p.Status.Message = fmt.Sprint("change ", i)
				_, err = pods.Update(p)
			}
			if err != nil {
				t.Error(err)
			}
		}
	}()
	code, out, errOut := benchrun(t, "record", "--kubeconfig", kubeconfig, "--resource", "pods",
		"--for", "4s", "-o", path)
	<-changed
	if code != 0 || !strings.Contains(out, path) {
		t.Fatalf("exit code %d\n%s%s", code, out, errOut)
	}
	return path, pods.Snapshot()
}

// From a server through a recording to a replay, the state is the same everywhere.
func TestRecordThenReplay(t *testing.T) {
	path, want := recorded(t)
	trace, err := load.ReadTraceFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := trace.FinalState()[0]
	if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) ||
		len(trace.Initial) == 0 || len(trace.Events) == 0 {
		t.Errorf("%d objects at the start and %d events lead to %d pods, the server has %d",
			len(trace.Initial), len(trace.Events), len(got), len(want))
	}
	for key, obj := range want {
		pod := obj.(*corev1.Pod).DeepCopy()
		pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
		if a, b := plain(t, got[key]), plain(t, pod); a != b {
			t.Errorf("%s is\n%s\nthe server has\n%s", key, a, b)
		}
	}
	code, out, errOut := benchrun(t, "trace", "info", path)
	if code != 0 || !strings.Contains(out, fmt.Sprintf("%d at the start", len(trace.Initial))) ||
		!strings.Contains(out, fmt.Sprintf("events     %d:", len(trace.Events))) {
		t.Errorf("info: exit code %d\n%s%s", code, out, errOut)
	}
	dir := filepath.Join(t.TempDir(), "run")
	code, out, errOut = benchrun(t, "run", "--trace", path, "--compress", "4", "--impl",
		"mutexmap,lockfree,coalescing,clientgo-realfifo,clientgo,informerbench", "--component",
		"store,fifo,informer", "--forks", "2", "--profile=false", "--skip-verify", "-o", dir)
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, errOut)
	}
	run, err := record.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	passed := map[string]int{}
	for _, c := range run.Checks {
		if !c.Passed {
			t.Errorf("%s: %s", c.Name, c.Detail)
		}
		if strings.Contains(c.Detail,
			fmt.Sprintf("%d objects after %d events", len(want), len(trace.Events))) {
			passed["state"]++
		}
		if strings.HasSuffix(c.Name, "what handlers were told last, object by object") {
			passed["told"]++
		}
		if strings.HasSuffix(c.Name, "all end in the same state") {
			passed["same"]++
		}
	}
	if passed["state"]-passed["told"] < 6 || passed["told"] < 2 || passed["same"] != 3 {
		t.Errorf("checks %+v", run.Checks)
	}
	lists := 0.0
	for _, c := range run.Cells {
		if n := len(run.Values(c, "replay:apply", metrics.Achieved)); n != 2 {
			t.Errorf("%s: %d forks with a series of the replay, want 2", c.ID(), n)
		}
		for _, series := range map[string][]string{"store": {"lister:list"}, "fifo": {"consumer:pop"},
			"informer": {"handler:handle", "lister:list"}}[string(c.Component)] {
			values := run.Values(c, series, metrics.Achieved)
			if len(values) != 2 || series != "lister:list" && slices.Min(values) <= 0 {
				t.Errorf("%s: %s did %v", c.ID(), series, values)
			}
			if series == "lister:list" {
				for _, v := range values {
					lists += v
				}
			}
		}
	}
	// In so short a replay a lister may get no turn on a busy machine.
	if lists <= 0 {
		t.Error("no lister listed")
	}
}

// plain is an object as JSON, without the order and the empty fields of its Go type.
func plain(t *testing.T, obj runtime.Object) string {
	t.Helper()
	var m map[string]any
	text, err := json.Marshal(obj)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err == nil {
		text, err = json.Marshal(m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// aRecording is the file of a small recording, in several blocks.
func aRecording(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := load.NewTraceWriter(&b,
		load.TraceHeader{Source: "a test",
			Resources: []load.TraceResource{
				{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}}})
	if err != nil {
		t.Fatal(err)
	}
	for i, obj := range synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: 50},
		1).All() {
		if err := w.Changed(time.Duration(i)*time.Millisecond, 0, obj); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(time.Second, ""); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A damaged recording is reported, summarised up to the damage, and made complete.
func TestSalvage(t *testing.T) {
	data := aRecording(t)
	cut := write(t, "cut.trace", string(data[:len(data)/2]))
	code, out, errOut := benchrun(t, "trace", "info", cut)
	if code != exitBadInput || !strings.Contains(out, "events     2") ||
		!strings.Contains(errOut, "end is missing") || !strings.Contains(errOut, "block 2") ||
		!strings.Contains(errOut, "benchrun trace salvage") {
		t.Errorf("info: exit code %d\n%s%s", code, out, errOut)
	}
	saved := filepath.Join(t.TempDir(), "saved.trace")
	if code, out, errOut = benchrun(t, "trace", "salvage", cut, "-o", saved); code != 0 ||
		!strings.Contains(out, "salvaged") {
		t.Fatalf("salvage: exit code %d\n%s%s", code, out, errOut)
	}
	part, err := load.ReadTraceFile(saved)
	if err != nil || len(part.Events) < 20 || len(part.Events) > 29 {
		t.Fatalf("%v, %+v", err, part)
	}
	if code, out, _ = benchrun(t, "trace", "cat", saved); code != 0 ||
		strings.Count(out, `"ADDED"`) != len(part.Events) {
		t.Errorf("cat: exit code %d, %d events", code, strings.Count(out, `"ADDED"`))
	}
	if code, _, errOut = benchrun(t, "trace", "salvage", cut, "-o", saved); code != exitBadInput ||
		!strings.Contains(errOut, "exists") {
		t.Errorf("over a file that is there: exit code %d, %s", code, errOut)
	}
	if code, _, errOut = benchrun(t, "trace", "salvage", saved, "-o",
		saved+"2"); code != exitBadInput || !strings.Contains(errOut, "whole") {
		t.Errorf("of a whole one: exit code %d, %s", code, errOut)
	}
}

// An obstacle to a new file is reported by its own name, before any work. A missing
// argument is reported with the command's usage.
func TestTraceMistakes(t *testing.T) {
	data := aRecording(t)
	cut := write(t, "cut.trace", string(data[:len(data)/2]))
	nowhere := filepath.Join(t.TempDir(), "no")
	for _, c := range []struct {
		args []string
		says []string
	}{
		{[]string{"trace", "salvage", cut, "-o", filepath.Join(nowhere, "x")},
			[]string{nowhere + " is no folder", "make it first", "-o"}},
		{[]string{"trace", "import", "--pods", cut, "--nodes", cut, "-o", filepath.Join(nowhere, "x")},
			[]string{nowhere + " is no folder", "make it first", "-o"}},
		{[]string{"trace", "salvage", cut, "-o", "/proc/x.trace"},
			[]string{"write /proc/x.trace:", "choose another file"}},
		{[]string{"serve-api", "--pods", "1", "--kubeconfig-out", "/proc/kubeconfig"},
			[]string{"--kubeconfig-out: write /proc/kubeconfig:", "choose another file"}},
		{[]string{"trace", "info"}, []string{"give one FILE", "benchrun trace info FILE"}},
		{[]string{"trace", "salvage"}, []string{"give one FILE", "benchrun trace salvage FILE -o FILE"}},
		{[]string{"trace", "cat", cut, cut}, []string{"give one FILE", "benchrun trace cat FILE"}},
	} {
		if strings.HasPrefix(c.args[len(c.args)-1], "/proc/") && goruntime.GOOS != "linux" {
			continue // a folder in which not even root makes files
		}
		code, _, errOut := benchrun(t, c.args...)
		if code != exitBadInput {
			t.Errorf("%v: exit code %d, want %d", c.args, code, exitBadInput)
		}
		for _, w := range c.says {
			if !strings.Contains(errOut, w) {
				t.Errorf("%v: the error does not say %q: %s", c.args, w, errOut)
			}
		}
	}
}

// Ctrl-C ends a recording even while the cluster does not answer.
func TestRecordInterruptedAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer silent.Close()
	kubeconfig := write(t, "kubeconfig",
		fmt.Sprintf(`{"clusters": [{"name": "c", "cluster": {"server": %q}}], "contexts": [{"name": "c", "context": {"cluster": "c"}}], "current-context": "c"}`, silent.URL))
	path := filepath.Join(t.TempDir(), "x.trace")
	var out, errOut bytes.Buffer
	code := execute(ctx, []string{"record", "--kubeconfig", kubeconfig, "--resource", "pods", "--for",
		"1m", "-o", path}, strings.NewReader(""), &out, &errOut)
	if code != exitInterrupted || !strings.Contains(errOut.String(), "nothing to keep") {
		t.Errorf("exit code %d: %s; want %d and that there is nothing to keep", code, errOut.String(),
			exitInterrupted)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("it left a file")
	}
}

// A workload beside a trace defines the readers; its writers are left out.
func TestTraceWithReaders(t *testing.T) {
	path := write(t, "small.trace", string(aRecording(t)))
	workload := write(t, "w.yaml", `name: mine
component: store
objects:
  count: 10
groups:
- name: writer
  op: update
  goroutines: 1
  rate: 100
- name: getters
  op: get
  goroutines: 2
  rate: 500
- name: node
  op: by-index
  goroutines: 1
duration: 20ms
`)
	dir := filepath.Join(t.TempDir(), "run")
	code, out, errOut := benchrun(t, "run", "--trace", path, "-f", workload, "--impl", "mutexmap",
		"--sweep", "node.goroutines=1,2", "--forks", "2", "--profile=false", "--skip-verify", "-o", dir)
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, errOut)
	}
	if !strings.Contains(errOut, "the trace says what is written: writer") {
		t.Errorf("nobody said that the writer is left out:\n%s", errOut)
	}
	run, err := record.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Cells) != 4 {
		t.Errorf("%d cells, want two and the second copies of two", len(run.Cells))
	}
	for _, c := range run.Cells {
		for _, s := range []string{"replay:apply", "getters:get", "node:by-index"} {
			for _, v := range run.Values(c, s, metrics.Achieved) {
				if v <= 0 {
					t.Errorf("%s: %s did nothing", c.ID(), s)
				}
			}
		}
		if len(run.Values(c, "writer:update", metrics.Achieved)) > 0 {
			t.Errorf("%s: the writer wrote", c.ID())
		}
	}
}

// Through an informer the handlers of a workload get a trace's events; a workload without
// handlers gets one.
func TestTraceThroughInformer(t *testing.T) {
	path := write(t, "small.trace", string(aRecording(t)))
	for name, c := range map[string]struct {
		groups string
		series []string
	}{
		"handlers": {"- {name: writer, op: update, goroutines: 1}\n- {name: handlers, op: handle, " +
			"goroutines: 2}\n- {name: listers, op: list-namespace, goroutines: 1}\n",
			[]string{"replay:apply", "handlers:handle", "listers:list-namespace"}},
		"no-handler": {"- {name: writer, op: update, goroutines: 1, rate: 100}\n- {name: getters, op: " +
			"get, goroutines: 1, rate: 500}\n", []string{"replay:apply", "handler:handle", "getters:get"}},
	} {
		t.Run(name, func(t *testing.T) {
			workload := write(t, "w.yaml",
				"name: mine\ncomponent: informer\nobjects: {count: 10}\nduration: 20ms\ngroups:\n"+c.groups)
			dir := filepath.Join(t.TempDir(), "run")
			code, out, errOut := benchrun(t, "run", "--trace", path, "-f", workload, "--impl",
				"clientgo,informerbench", "--forks", "1", "--profile=false", "--skip-verify", "-o", dir)
			if code != 0 || !strings.Contains(errOut, "the trace says what is written: writer") {
				t.Fatalf("exit code %d\n%s%s", code, out, errOut)
			}
			run, err := record.ReadRun(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, cell := range run.Cells {
				for _, s := range c.series {
					if v := run.Values(cell, s, metrics.Achieved); len(v) != 1 || v[0] <= 0 {
						t.Errorf("%s: %s did %v", cell.ID(), s, v)
					}
				}
			}
		})
	}
}
