package memory

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"go.uber.org/goleak"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/load/apiserver"
	"github.com/informerbench/informerbench/load/synthetic"
)

// asController, set in the environment, makes the test binary a controller that writes profiles.
const asController = "MEMORY_TEST_AS_CONTROLLER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asController); dir != "" {
		runtime.MemProfileRate = 512
		if err := control(dir); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// control runs an informer of pods until it is synced, and writes its profiles.
func control(dir string) error {
	config := &rest.Config{Host: os.Getenv(asController + "_HOST"),
		ContentConfig: rest.ContentConfig{ContentType: os.Getenv(asController + "_TYPE")}}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var pods cache.SharedIndexInformer
	switch config.ContentType {
	case FormUnstructured:
		config.ContentType = ""
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return err
		}
		pods = dynamicinformer.NewDynamicSharedInformerFactory(
			client,
			0,
		).ForResource(
			apiserver.Pods,
		).Informer()
	case FormMetadata:
		config.ContentType = ""
		client, err := metadata.NewForConfig(config)
		if err != nil {
			return err
		}
		pods = metadatainformer.NewSharedInformerFactory(
			client,
			0,
		).ForResource(
			apiserver.Pods,
		).Informer()
	default:
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		pods = informers.NewSharedInformerFactory(client, 0).Core().V1().Pods().Informer()
	}
	go pods.RunWithContext(ctx)
	cache.WaitForCacheSync(ctx.Done(), pods.HasSynced)
	runtime.GC()
	runtime.GC() // a heap profile is of the last collection but one
	for _, name := range []string{"heap", "goroutine"} {
		var out bytes.Buffer
		if err := pprof.Lookup(name).WriteTo(&out, 0); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), out.Bytes(), 0o600); err != nil {
			return err
		}
	}
	runtime.KeepAlive(pods)
	return nil
}

// profiled is the folder of the profiles of a controller whose client speaks a content type.
func profiled(t *testing.T, contentType string) string {
	t.Helper()
	pods := synthetic.NewSource(synthetic.Generate(
		synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: 300}, 1).All(), synthetic.SourceOptions{})
	defer pods.Stop()
	server, err := apiserver.New(
		map[schema.GroupVersionResource]*synthetic.Source{apiserver.Pods: pods},
		apiserver.Options{},
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	dir := t.TempDir()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	controller := exec.CommandContext(t.Context(), binary)
	controller.Env = append(os.Environ(), asController+"="+dir, asController+"_HOST="+server.URL(),
		asController+"_TYPE="+contentType)
	if out, err := controller.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

func heapOf(t *testing.T, path string) *Heap {
	t.Helper()
	p, err := ReadProfile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	h, err := ReadHeap(p)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func find(fields []Field, path string) *Field {
	for i := range fields {
		if fields[i].Path == path {
			return &fields[i]
		}
		if f := find(fields[i].Fields, path); f != nil {
			return f
		}
	}
	return nil
}

// The profile of an informer over protobuf has the kind, and about the bytes that Measure finds.
func TestHeapOfAnInformer(t *testing.T) {
	dir := profiled(t, apiruntime.ContentTypeProtobuf)
	h := heapOf(t, filepath.Join(dir, "heap"))
	r, err := Measure(t.Context(), sampleOf(t, synthetic.KindPod, 300), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := r.Kinds[0].Measured()
	pods := find(h.Decoded, "v1 Pod")
	if pods == nil || pods.Bytes < want*3/4 || pods.Bytes > want*5/4 {
		t.Fatalf("pods %+v, want about %d bytes", pods, want)
	}
	for path, least := range map[string]int64{"v1 Pod.spec": want / 2, "v1 Pod.metadata": want / 20,
		"v1 Pod.spec.initContainers[]|containers[]": want / 4, "v1 Pod.metadata.managedFields[]": want / 50,
		"v1 Pod.spec.initContainers[]|containers[].env[]": want / 50} {
		if f := find(h.Decoded, path); f == nil || f.Bytes < least {
			t.Errorf("%s: %+v, want %d bytes or more", path, f, least)
		}
	}
	if !slices.Equal(h.Informers, []string{"v1 Pod"}) {
		t.Errorf("informers %q", h.Informers)
	}
	sum := h.OtherBytes
	for _, f := range append(h.Decoded, h.Lost...) {
		sum += f.Bytes
	}
	if sum != h.Total || h.Rate != 512 {
		t.Errorf("the parts sum up to %d of %d, rate %d", sum, h.Total, h.Rate)
	}
	p, err := ReadProfile(t.Context(), filepath.Join(dir, "goroutine"))
	if err != nil {
		t.Fatal(err)
	}
	if w, err := ReadGoroutines(p); err != nil || w.Starved() {
		t.Errorf("%+v, %v: want no waits", w, err)
	}
	if _, err := ReadHeap(p); err == nil || !strings.Contains(err.Error(), "/debug/pprof/heap") {
		t.Errorf("goroutines as a heap: %v", err)
	}
}

// Of JSON and metadata the bytes are found, the kind is not.
func TestHeapsWithoutKinds(t *testing.T) {
	for contentType, via := range map[string]string{apiruntime.ContentTypeJSON: viaJSON,
		FormUnstructured: viaUnstructured, FormMetadata: "meta.k8s.io/v1 PartialObjectMetadata"} {
		h := heapOf(t, filepath.Join(profiled(t, contentType), "heap"))
		if found := find(append(h.Decoded, h.Lost...), via); found == nil || found.Bytes < h.Total/3 ||
			find(h.Decoded, "v1 Pod") != nil {
			t.Errorf("%s: decoded %+v, lost %+v of %d", contentType, h.Decoded, h.Lost, h.Total)
		}
	}
}

// stacks makes a profile of stacks, the innermost function first.
func stacks(types []string, values [][]int64, functions ...[]string) *Profile {
	p := &profile.Profile{}
	for _, t := range types {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: t, Unit: "count"})
	}
	for i, stack := range functions {
		s := &profile.Sample{Value: values[i]}
		for _, name := range stack {
			f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name}
			l := &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
			p.Function, p.Location = append(p.Function, f), append(p.Location, l)
			s.Location = append(s.Location, l)
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

const store = "k8s.io/client-go/tools/cache.(*threadSafeMap)."

func TestWaits(t *testing.T) {
	p := stacks([]string{"goroutine"}, [][]int64{{1}, {7}, {3}, {5}},
		[]string{"sync.runtime_SemacquireRWMutex", "sync.(*RWMutex).Lock", store + "Update"},
		[]string{"sync.runtime_SemacquireRWMutexR", "sync.(*RWMutex).RLock", store + "ByIndex"},
		[]string{"runtime.mapIterNext", store + "List", "main.main"},
		[]string{"sync.(*RWMutex).Lock", "main.main"})
	w, err := ReadGoroutines(p)
	if err != nil || !w.Starved() || w.WritersWait != 1 || w.ReadersWait != 7 || w.Reading != 3 {
		t.Errorf("%+v, %v", w, err)
	}
	p = stacks(
		[]string{"contentions", "delay"},
		[][]int64{{10, 5000}, {2, 9000}, {1, 1000}},
		[]string{"sync.(*RWMutex).RUnlock", store + "List"},
		[]string{
			"sync.(*RWMutex).RUnlock",
			store + "ByIndex",
		},
		[]string{"sync.(*Mutex).Unlock", "main.f"},
	)
	w, err = ReadMutex(p)
	if err != nil || w.Total != 15000 || len(w.Methods) != 2 || w.Methods[0].Method != "ByIndex" ||
		w.Methods[1].Times != 10 {
		t.Errorf("%+v, %v", w, err)
	}
	if _, err := ReadGoroutines(p); err == nil {
		t.Error("mutexes pass for goroutines")
	}
}

func TestNotAProfile(t *testing.T) {
	for name, text := range map[string]string{"text": "hello", "empty": "", "gzip": "\x1f\x8b\x08cut"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadProfile(t.Context(), path); err == nil ||
			!strings.Contains(err.Error(), path) ||
			!strings.Contains(err.Error(), "profile") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, place := range []string{"http://user:secret@127.0.0.1:1/heap?token=secret", "http://%zz"} {
		if _, err := ReadProfile(t.Context(), place); err == nil ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", place, err)
		}
	}
}
