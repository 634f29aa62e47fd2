package recorder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/apiserver"
	"github.com/informerbench/informerbench/load/synthetic"
)

var (
	secrets     = corev1.SchemeGroupVersion.WithResource("secrets")
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// object makes a version of an object of any kind.
func object(apiVersion, kind, name string, rest map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind,
		"metadata": map[string]any{"namespace": "a", "name": name, "uid": "uid-" + name,
			"labels": map[string]any{"env": "production"}},
	}}
	maps.Copy(u.Object, rest)
	return u
}

func pod(name string, version int) *unstructured.Unstructured {
	return object("v1", "Pod", name, map[string]any{
		"spec": map[string]any{"nodeName": "node-1",
			"containers": []any{map[string]any{"name": "c", "image": "i"}}},
		"status": map[string]any{"phase": fmt.Sprint("version-", version)},
	})
}

// served is a server of some resources, with a client.
type served struct {
	*Cluster
	sources map[schema.GroupVersionResource]*synthetic.Source
	config  *rest.Config
}

func serve(t *testing.T, options apiserver.Options, sourceOptions synthetic.SourceOptions,
	objects ...runtime.Object) *served {
	t.Helper()
	s := &served{sources: map[schema.GroupVersionResource]*synthetic.Source{}}
	for gvr, example := range map[schema.GroupVersionResource]*unstructured.Unstructured{
		apiserver.Pods: pod("example", 0), secrets: object("v1", "Secret", "example", nil),
		deployments: object("apps/v1", "Deployment", "example", nil),
	} {
		var of []runtime.Object
		for _, obj := range objects {
			if obj.GetObjectKind().GroupVersionKind() == example.GroupVersionKind() {
				of = append(of, obj)
			}
		}
		o := sourceOptions
		o.Example = example
		s.sources[gvr] = synthetic.NewSource(of, o)
	}
	server, err := apiserver.New(s.sources, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Stop()
		for _, source := range s.sources {
			source.Stop()
		}
	})
	s.config = server.RESTConfig()
	// An idle connection has a goroutine, which goleak would report.
	s.config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		t.Cleanup(func() { closeIdle(next) })
		return next
	})
	if s.Cluster, err = ConnectTo(s.config, "default"); err != nil {
		t.Fatal(err)
	}
	return s
}

func closeIdle(rt http.RoundTripper) {
	for {
		switch r := rt.(type) {
		case interface{ CloseIdleConnections() }:
			r.CloseIdleConnections()
			return
		case interface{ WrappedRoundTripper() http.RoundTripper }:
			rt = r.WrappedRoundTripper()
		default:
			return
		}
	}
}

func (s *served) resolve(t *testing.T, names ...string) []load.TraceResource {
	t.Helper()
	r, err := s.Resolve(t.Context(), names)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// until records into a file until done returns true.
func (s *served) until(t *testing.T, o Options, change func(),
	done func(Progress) bool) (*load.Trace, []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	o.For = time.Hour
	o.FlushEvery = 10 * time.Millisecond
	path := filepath.Join(t.TempDir(), "t.trace")
	began := make(chan struct{})
	var last atomic.Pointer[Progress]
	var begun atomic.Bool
	finished := make(chan error, 1)
	o.observe = func(p Progress) {
		last.Store(&p)
		if !p.Listing && begun.CompareAndSwap(false, true) {
			close(began)
		}
		if !p.Listing && done(p) {
			cancel()
		}
	}
	go func() {
		_, err := s.File(ctx, path, o)
		finished <- err
	}()
	select {
	case <-began:
		if change != nil {
			change()
		}
	case err := <-finished:
		t.Fatalf("it ended before it began: %v", err)
	}
	if err := <-finished; err != nil {
		t.Fatal(err)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Fatalf("not done: %+v", last.Load())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := load.ReadTraceFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return trace, data
}

// sameState compares a trace's final state with the server's objects, one by one.
func (s *served) sameState(t *testing.T, trace *load.Trace) {
	t.Helper()
	for i, state := range trace.FinalState() {
		want := s.sources[trace.Resources[i].GVR()].Snapshot()
		if got := slices.Sorted(maps.Keys(state)); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			t.Errorf("%s: the trace leads to %v, the server has %v", trace.Resources[i], got,
				slices.Sorted(maps.Keys(want)))
		}
		for key, obj := range want {
			if a, b := asJSON(t, state[key]), asJSON(t, obj); a != b {
				t.Errorf("%s %s\n%s\nwant\n%s", trace.Resources[i], key, a, b)
			}
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
		return v
	}
}

// The events of a recording lead to the server's final state.
func TestRecord(t *testing.T) {
	t.Parallel()
	var initial []runtime.Object
	for i := range 7 {
		initial = append(initial, pod(fmt.Sprint("pod-", i), 0))
	}
	initial = append(initial, object("apps/v1", "Deployment", "web",
		map[string]any{"spec": map[string]any{"replicas": int64(3)}}))
	s := serve(t, apiserver.Options{}, synthetic.SourceOptions{NoWatchCache: true}, initial...)
	pods := s.sources[apiserver.Pods]
	o := Options{Resources: s.resolve(t, "pod", "Deployment", "pods"), PageSize: 3}
	trace, data := s.until(t, o, func() {
		for v := range 20 {
			must[runtime.Object](t)(pods.Update(pod("pod-0", v+1)))
		}
		must[runtime.Object](t)(pods.Create(pod("new", 1)))
		must[runtime.Object](t)(pods.Delete("a/pod-1"))
		must[runtime.Object](t)(pods.Delete("a/pod-2"))
		must[runtime.Object](t)(pods.Create(pod("pod-2", 2)))
		must[runtime.Object](t)(
			s.sources[deployments].Update(
				object("apps/v1", "Deployment", "web",
					map[string]any{"spec": map[string]any{"replicas": int64(5)}})))
	}, func(p Progress) bool { return p.Events == 25 })
	if len(trace.Resources) != 2 || len(trace.Initial) != 8 || len(trace.Notes) != 0 ||
		trace.Source != "recorded from "+s.Host || !strings.HasPrefix(trace.Ended, "interrupted") {
		t.Errorf("%d initial objects, notes %v, ended %q, %+v", len(trace.Initial), trace.Notes,
			trace.Ended, trace.TraceHeader)
	}
	s.sameState(t, trace)
	if len(data) > 3000 {
		t.Errorf("25 small events and 8 objects take %d bytes", len(data))
	}
}

// Watches that are cut, forgotten history and refusals lose no state: watches continue,
// lists are compared, and the notes say when.
func TestRecordUnderFaults(t *testing.T) {
	t.Parallel()
	var initial []runtime.Object
	for i := range 20 {
		initial = append(initial, pod(fmt.Sprint("pod-", i), 0))
	}
	s := serve(t, apiserver.Options{}, synthetic.SourceOptions{Faults: []synthetic.Fault{
		{Kind: synthetic.FaultClose, AfterEvents: 5, EveryEvents: 40},
		{Kind: synthetic.FaultGone, AfterEvents: 20, EveryEvents: 60},
		{Kind: synthetic.FaultError, AfterEvents: 33, EveryEvents: 70, Count: 2},
		{Kind: synthetic.FaultWatchRefused, AfterEvents: 4, Count: 1},
	}}, initial...)
	pods := s.sources[apiserver.Pods]
	var wrote atomic.Bool
	seen := func() string { return pods.ResourceVersion() }
	trace, _ := s.until(t, Options{Resources: s.resolve(t, "pods")}, func() {
		for v := range 300 {
			name := fmt.Sprint("pod-", v%25)
			if _, exists := pods.Get("a/" + name); !exists {
				must[runtime.Object](t)(pods.Create(pod(name, v)))
			} else if v%7 == 0 {
				must[runtime.Object](t)(pods.Delete("a/" + name))
			} else {
				must[runtime.Object](t)(pods.Update(pod(name, v)))
			}
		}
		wrote.Store(true)
	}, func(p Progress) bool { return wrote.Load() && p.version == seen() })
	s.sameState(t, trace)
	notes := map[string]int{}
	for _, n := range trace.Notes {
		notes[n.What]++
	}
	if notes[load.NoteRelisted] == 0 || notes[load.NoteResumed]+notes[load.NoteRefused] == 0 {
		t.Errorf("notes %v, faults struck %v", trace.Notes, pods.Struck())
	}
}

// The decompressed bytes of a file contain nothing that was to be dropped.
func TestNothingSecretInTheFile(t *testing.T) {
	t.Parallel()
	const hidden = "hunter2"
	lastApplied := map[string]any{lastApplied: hidden, "other/annotation": hidden}
	container := map[string]any{"name": "c", "image": "registry/image", "env": []any{
		map[string]any{"name": "PASSWORD", "value": hidden},
		map[string]any{"name": "FROM",
			"valueFrom": map[string]any{
				"secretKeyRef": map[string]any{"name": "kept-reference", "key": "k"}}},
	}}
	template := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"a": hidden}},
		"spec": map[string]any{"initContainers": []any{container}, "env": map[string]any{"K": hidden}}}
	annotated := func(u *unstructured.Unstructured) *unstructured.Unstructured {
		metadata := u.Object["metadata"].(map[string]any)
		metadata["annotations"], metadata["managedFields"] = lastApplied,
			[]any{map[string]any{"manager": hidden}}
		return u
	}
	objects := []runtime.Object{
		annotated(object("v1", "Secret", "token",
			map[string]any{"data": map[string]any{"password": hidden},
				"stringData": map[string]any{"p": hidden}, "type": "Opaque"})),
		annotated(object("v1", "Pod", "web",
			map[string]any{"spec": map[string]any{"nodeName": "kept-node",
				"containers": []any{container}}})),
		annotated(object("apps/v1", "Deployment", "web",
			map[string]any{"spec": map[string]any{"template": template}})),
	}
	for _, c := range []struct {
		name    string
		options Options
		kept    []string
	}{
		{"redact", Options{Redact: true},
			[]string{"PASSWORD", "kept-reference", "kept-node", "registry/image", "production", "Opaque"}},
		{"metadata-only", Options{MetadataOnly: true, DropManagedFields: true},
			[]string{"production", "uid-web"}},
		{"both", Options{MetadataOnly: true, Redact: true}, []string{"production", "uid-token"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var copies []runtime.Object
			for _, obj := range objects {
				o := obj.DeepCopyObject().(*unstructured.Unstructured)
				if c.options.MetadataOnly && o.GetKind() != "Secret" && !c.options.Redact {
					// MetadataOnly keeps the annotations of these, except kubectl's, so the
					// file may contain this one.
					delete(o.Object["metadata"].(map[string]any)["annotations"].(map[string]any),
						"other/annotation")
				}
				copies = append(copies, o)
			}
			s := serve(t, apiserver.Options{}, synthetic.SourceOptions{}, copies...)
			c.options.Resources = s.resolve(t, "secrets", "pods", "deployments.apps")
			trace, data := s.until(t, c.options, func() {
				for gvr, i := range map[schema.GroupVersionResource]int{secrets: 0, apiserver.Pods: 1,
					deployments: 2} {
					must[runtime.Object](t)(s.sources[gvr].Update(copies[i]))
				}
			}, func(p Progress) bool { return p.Events == 3 })
			text := inflated(t, data)
			if i := strings.Index(text, hidden); i >= 0 {
				t.Errorf("it is there: ...%s", text[max(0, i-200):i+10])
			}
			for _, want := range c.kept {
				if !strings.Contains(text, want) {
					t.Errorf("%q was dropped:\n%s", want, text)
				}
			}
			for _, e := range trace.Initial {
				u := e.Object.(*unstructured.Unstructured)
				if u.GroupVersionKind() != trace.Resources[e.Resource].GVK() {
					t.Errorf("%s is a %s", e.Key, u.GroupVersionKind())
				}
				if c.options.MetadataOnly && len(u.Object) != 3 {
					t.Errorf("more than metadata: %v", u.Object)
				}
			}
			if len(trace.Dropped) == 0 {
				t.Error("the trace does not say what was dropped")
			}
		})
	}
}

// inflated is everything that the trace's blocks hold.
func inflated(t *testing.T, data []byte) string {
	t.Helper()
	var text bytes.Buffer
	if err := load.CatTrace(&text, "t", bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// Mistakes are found before any write, and the error says what to do.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := serve(t, apiserver.Options{}, synthetic.SourceOptions{}, pod("one", 1))
	locked := serve(t, apiserver.Options{Token: "right"}, synthetic.SourceOptions{})
	locked.config.BearerToken = "wrong"
	forbidding := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(
			w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"pods is forbidden: User \"me\" cannot list"}`)
	}))
	t.Cleanup(forbidding.Close)
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(elsewhere.Close)
	pods := s.resolve(t, "pods")
	existing := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(existing, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		config *rest.Config
		path   string
		names  []string
		o      Options
		says   []string
	}{
		{"unknown resource", s.config, "", []string{"podz"}, Options{},
			[]string{`"podz"`, "the server has deployments.apps, pods, secrets"}},
		{"unknown resource far from all", s.config, "", []string{"quaternions"}, Options{},
			[]string{`"quaternions"`, "deployments.apps", "pods", "secrets"}},
		{"unknown group", s.config, "", []string{"pods.example.com"}, Options{},
			[]string{`"pods.example.com"`, "pods"}},
		{"secrets", s.config, "", []string{"secrets"}, Options{},
			[]string{"secrets", "--redact", "--metadata-only"}},
		{"no time", s.config, "", []string{"pods"}, Options{For: -1}, []string{"--for"}},
		{"file exists", s.config, existing, []string{"pods"}, Options{},
			[]string{existing, "exists", "-o"}},
		{"folder is missing", s.config, filepath.Join(t.TempDir(), "no", "folder"), []string{"pods"},
			Options{}, []string{"is no folder", "make it first", "-o"}},
		{"no apiserver", &rest.Config{Host: elsewhere.URL}, "", []string{"pods"}, Options{},
			[]string{elsewhere.URL, "no apiserver", "--kubeconfig"}},
		{"wrong token", locked.config, "", []string{"pods"}, Options{},
			[]string{"let us in", "kubeconfig's user"}},
		{"unreachable", &rest.Config{Host: "http://127.0.0.1:1"}, "", []string{"pods"}, Options{},
			[]string{"127.0.0.1:1", "cannot be reached", "--kubeconfig"}},
		{"forbidden", &rest.Config{Host: forbidding.URL}, "", nil,
			Options{Resources: pods, Namespace: "kube-system"},
			[]string{"may not list pods in namespace kube-system", "cannot list", "verbs list and watch"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if c.path == "" {
				c.path = filepath.Join(dir, "t.trace")
			}
			cluster, err := ConnectTo(c.config, "")
			if err != nil {
				t.Fatal(err)
			}
			if c.o.For == 0 {
				c.o.For = time.Hour
			}
			if c.names != nil {
				c.o.Resources, err = cluster.Resolve(t.Context(), c.names)
			}
			if err == nil {
				_, err = cluster.File(t.Context(), c.path, c.o)
			}
			if err == nil {
				t.Fatal("it was recorded")
			}
			for _, w := range c.says {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("the error does not say %q: %v", w, err)
				}
			}
			if entries, _ := os.ReadDir(dir); len(entries) > 0 {
				t.Errorf("something was written: %v", entries)
			}
		})
	}
	if got, err := os.ReadFile(existing); err != nil || string(got) != "keep" {
		t.Errorf("the file that was there: %q, %v", got, err)
	}
	if _, err := Connect(filepath.Join(t.TempDir(), "nowhere"), ""); err == nil ||
		!strings.Contains(err.Error(), "--kubeconfig") {
		t.Errorf("a kubeconfig that is not there: %v", err)
	}
}

type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(b), nil
}

// A disk that is full ends the recording with its error.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	s := serve(t, apiserver.Options{}, synthetic.SourceOptions{}, pod("one", 1))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	writing := make(chan struct{})
	go func() {
		defer close(writing)
		for v := 0; ctx.Err() == nil; v++ {
			must[runtime.Object](t)(s.sources[apiserver.Pods].Update(pod("one", v)))
			time.Sleep(time.Millisecond)
		}
	}()
	p, err := s.Record(t.Context(), &full{left: 3000},
		Options{Resources: s.resolve(t, "pods"), For: time.Hour, FlushEvery: 5 * time.Millisecond})
	cancel()
	<-writing
	if err == nil || strings.Count(err.Error(), "no space left") != 1 || p.Listing || p.Bytes == 0 {
		t.Errorf("%+v: %v", p, err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	have := []candidate{
		{TraceResource: load.TraceResource{Version: "v1", Resource: "events", Kind: "Event"},
			names: []string{"events", "event", "ev"}, watchable: true, preferred: true},
		{TraceResource: load.TraceResource{Version: "v1", Resource: "bindings", Kind: "Binding"},
			names: []string{"bindings"}, preferred: true},
		{TraceResource: load.TraceResource{Group: "events.k8s.io", Version: "v1", Resource: "events",
			Kind: "Event"}, names: []string{"events", "event", "ev"}, watchable: true, preferred: true},
		{TraceResource: load.TraceResource{Group: "events.k8s.io", Version: "v1beta1", Resource: "events",
			Kind: "Event"}, names: []string{"events"}, watchable: true},
	}
	for name, want := range map[string]load.TraceResource{
		"events": have[0].TraceResource, "EV": have[0].TraceResource,
		"events.events.k8s.io":         have[2].TraceResource,
		"events.v1beta1.events.k8s.io": have[3].TraceResource,
	} {
		if got, err := pick(have, name); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := pick(have, "bindings"); err == nil ||
		!strings.Contains(err.Error(), "nobody list and watch") {
		t.Errorf("bindings: %v", err)
	}
}
