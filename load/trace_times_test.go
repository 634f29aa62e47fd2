package load

import (
	"bytes"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/load/synthetic"
)

func TestTimes(t *testing.T) {
	t.Parallel()
	lives, _ := importFixture(t, ImportOptions{Namespaces: 2})
	one := lives.Trace()
	before := lives.Trace()
	got, err := one.Times(4)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Validate(); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(one, before) {
		t.Error("the trace itself was changed")
	}
	was, is := one.Info(), got.Info()
	// The fourth copy is three quarters of a tenth of the span late.
	if is.Objects != 4*was.Objects || is.Initial != 4*was.Initial || is.Total != 4*was.Total ||
		is.FinalLive != 4*was.FinalLive ||
		is.Namespaces != 4*was.Namespaces || is.Nodes != 4*was.Nodes || is.Span != was.Span*1075/1000 ||
		got.Length != is.Span {
		t.Errorf("got %+v\nof  %+v", is, was)
	}
	if is.PeakLive <= 2*was.PeakLive || is.PeakLive > 4*was.PeakLive {
		t.Errorf("%d live at once, of one %d", is.PeakLive, was.PeakLive)
	}
	perCopy, uids := map[string]int{}, map[string]string{}
	for _, e := range append(append([]TraceEvent{}, got.Initial...), got.Events...) {
		pod := e.Object.(*corev1.Pod)
		copied := pod.Namespace[len("ns-00"):]
		perCopy[copied]++
		if pod.Spec.NodeName != "" && !strings.HasSuffix(pod.Spec.NodeName, copied) {
			t.Errorf("%s is on the node %s of another copy", e.Key, pod.Spec.NodeName)
		}
		if key, known := uids[string(pod.UID)]; known && key != e.Key {
			t.Errorf("%s and %s have one UID", key, e.Key)
		}
		uids[string(pod.UID)] = e.Key
	}
	each := was.Initial + was.Total
	if want := map[string]int{"": each, "-2": each, "-3": each,
		"-4": each}; !reflect.DeepEqual(perCopy, want) {
		t.Errorf("objects and events by copy: %v, want %v", perCopy, want)
	}
	if same, err := one.Times(1); err != nil || same != one {
		t.Errorf("once over it is another trace (%v)", err)
	}
	for _, n := range []int{0, -1, MostTimesEvents, math.MaxInt} {
		if _, err := one.Times(n); err == nil || !strings.Contains(err.Error(), "use 1 to ") {
			t.Errorf("%d times: %v", n, err)
		}
	}
}

// A recording's objects are maps that versions share: a copy must not write into them.
func TestTimesOfARecording(t *testing.T) {
	t.Parallel()
	spec := map[string]any{"nodeName": "n", "x": "y"}
	pod := func(version string) *unstructured.Unstructured {
		return &unstructured.Unstructured{
			Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": spec,
				"metadata": map[string]any{"namespace": "a", "name": "p", "uid": "u",
					"resourceVersion": version}}}
	}
	node := &unstructured.Unstructured{
		Object: map[string]any{"apiVersion": "v1", "kind": "Node",
			"metadata": map[string]any{"name": "n"}}}
	one := &Trace{
		TraceHeader: TraceHeader{Source: "a test", Compress: 1,
			Resources: []TraceResource{podsResource, {Version: "v1", Resource: "nodes", Kind: "Node"}}},
		Initial: []TraceEvent{{Type: watch.Added, Resource: 1, Key: "n", Object: node},
			{Type: watch.Added, Key: "a/p", Object: pod("7")}},
		Events: []TraceEvent{
			{At: 20 * time.Second, Type: watch.Modified, Key: "a/p", Object: pod("9")}},
		Length: time.Minute,
	}
	got, err := one.Times(2)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Validate(); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, e := range append(got.Initial, got.Events...) {
		keys = append(keys, e.Key+"@"+synthetic.Accessor(e.Object).GetResourceVersion())
	}
	if want := []string{"n@1", "n-2@2", "a/p@3", "a-2/p@4", "a/p@5",
		"a-2/p@6"}; !reflect.DeepEqual(keys, want) {
		t.Errorf("got %v, want %v", keys, want)
	}
	if got.Events[1].At != 21*time.Second || got.Length != 61*time.Second ||
		!reflect.DeepEqual(got.Nodes(), []string{"n", "n-2"}) {
		t.Errorf("the second copy's event is at %v of %v, the nodes are %v", got.Events[1].At, got.Length,
			got.Nodes())
	}
	if spec["nodeName"] != "n" || node.GetName() != "n" ||
		one.Events[0].Object.(*unstructured.Unstructured).GetResourceVersion() != "9" {
		t.Error("the trace itself was changed")
	}
}

// A trace may have namespaces and nodes with a copy's suffix already: the copies get another.
func TestTimesOfNamesThatEndInNumbers(t *testing.T) {
	t.Parallel()
	one := &Trace{TraceHeader: TraceHeader{Source: "a test", Compress: 1,
		Resources: []TraceResource{podsResource, {Version: "v1", Resource: "nodes", Kind: "Node"}}}}
	pod := func(ns, name, version, node string) TraceEvent {
		return TraceEvent{Type: watch.Added, Key: ns + "/" + name,
			Object: &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, ResourceVersion: version},
				Spec:       corev1.PodSpec{NodeName: node}}}
	}
	one.Initial = []TraceEvent{pod("team", "p", "1", ""), pod("team-2", "p", "2", "")}
	got, err := one.Times(2)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, e := range got.Initial {
		keys[e.Key] = true
	}
	if want := map[string]bool{"team/p": true, "team-2/p": true, "team-copy-2/p": true,
		"team-2-copy-2/p": true}; !maps.Equal(keys, want) {
		t.Errorf("the copies have %v, want %v", keys, want)
	}
	// Also where no object has the name of another: a namespace and a node must not hold objects of
	// two copies.
	for what, initial := range map[string][]TraceEvent{
		"namespaces": {pod("team", "p", "1", ""), pod("team-2", "q", "2", "")},
		"nodes":      {pod("one", "p", "1", "n"), pod("other", "p", "2", "n-2")},
	} {
		apart := &Trace{TraceHeader: one.TraceHeader, Initial: initial}
		got, err := apart.Times(2)
		if err != nil {
			t.Fatal(err)
		}
		copied := got.Initial[1].Object.(*corev1.Pod) // the first object's
		if at := copied.Namespace + copied.Spec.NodeName; !strings.Contains(at, "-copy-2") {
			t.Errorf("%s: the copy of the first pod lies in %s", what, at)
		}
	}
	one.Initial = append(one.Initial, pod("team-copy-2", "p", "3", ""))
	if _, err := one.Times(2); err == nil || !strings.Contains(err.Error(), "-copy-2") {
		t.Errorf("copies that meet whatever their suffix: %v", err)
	}
}

func TestReadTraceTimes(t *testing.T) {
	t.Parallel()
	lives, _ := importFixture(t, ImportOptions{})
	path := filepath.Join(t.TempDir(), "x.trace")
	if err := os.WriteFile(path, written(t, lives), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadTraceTimes(path, 3); err != nil || got.Info().Objects != 21 {
		t.Errorf("read three times over: %v", err)
	}
	if _, err := ReadTraceTimes(path, 0); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("no times over: %v", err)
	}
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadTraceTimes(path, 2); err == nil {
		t.Error("what is no trace was read")
	}
}
