package synthetic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// TestSelectors compares lists, whole and in pages, with objects chosen by hand.
func TestSelectors(t *testing.T) {
	t.Parallel()
	s := newTestSource(t, 0, SourceOptions{})
	for _, key := range []string{"a/x", "a/y", "b/x"} {
		p := pod(key)
		p.Labels = map[string]string{"app": p.Name}
		p.Spec.NodeName = "n-" + p.Namespace
		must[runtime.Object](t)(s.Create(p))
	}
	for _, c := range []struct{ labels, fields, want string }{
		{"", "", "a/x a/y b/x"},
		{"app=x", "", "a/x b/x"},
		{"app!=x", "", "a/y"},
		{"app in (x,y),nope", "", ""},
		{"", "metadata.name=x", "a/x b/x"},
		{"", "metadata.namespace=a", "a/x a/y"},
		{"", "metadata.namespace=a,metadata.namespace=b", ""},
		{"", "spec.nodeName!=n-a", "b/x"},
		{"app=x", "spec.nodeName==n-a", "a/x"},
		{"", "status.phase=", "a/x a/y b/x"},
	} {
		o := metav1.ListOptions{LabelSelector: c.labels, FieldSelector: c.fields}
		if got := strings.Join(keysOf(list(t, s, o)), " "); got != c.want {
			t.Errorf("%q %q selects %q, want %q", c.labels, c.fields, got, c.want)
		}
		var paged []string
		for o.Limit = 1; ; {
			l := list(t, s, o)
			paged = append(paged, keysOf(l)...)
			// A namespace alone is a request's path, and no selector to an apiserver.
			counts := c.labels == "" && (c.fields == "" || c.fields == "metadata.namespace=a")
			if told := l.RemainingItemCount != nil; told != (counts && l.Continue != "") {
				t.Errorf("%q %q: it is told how many are left: %v", c.labels, c.fields, told)
			}
			if o.Continue = l.Continue; o.Continue == "" {
				break
			}
		}
		if got := strings.Join(paged, " "); got != c.want {
			t.Errorf("%q %q selects %q in pages, want %q", c.labels, c.fields, got, c.want)
		}
	}
}

func TestBadSelectors(t *testing.T) {
	t.Parallel()
	pods := newTestSource(t, 1, SourceOptions{})
	nodes := NewSource(nil, SourceOptions{Example: &corev1.Node{}})
	t.Cleanup(nodes.Stop)
	for _, c := range []struct {
		s              *Source
		labels, fields string
		want           []string
	}{
		{pods, "a=b=c", "", []string{"label selector"}},
		{pods, "", "metadata.name", []string{"field selector"}},
		{pods, "", "spec.hostname=x",
			[]string{"spec.hostname", "metadata.name", "metadata.namespace", "spec.nodeName",
				"status.phase"}},
		{nodes, "", "spec.nodeName=x",
			[]string{"spec.nodeName", "use one of metadata.name, metadata.namespace"}},
	} {
		o := metav1.ListOptions{LabelSelector: c.labels, FieldSelector: c.fields}
		_, listErr := c.s.List(o)
		_, watchErr := c.s.Watch(o)
		for _, err := range []error{listErr, watchErr} {
			if !apierrors.IsBadRequest(err) {
				t.Errorf("%q %q: %v, want 400", c.labels, c.fields, err)
				continue
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q %q: the error does not say %q: %v", c.labels, c.fields, w, err)
				}
			}
		}
	}
}

// TestSelectedWatches applies random changes and follows them by watches of several
// selections. The events of each must lead to a list of the same selection.
func TestSelectedWatches(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			s := newTestSource(t, 0, SourceOptions{})
			selectors := []string{"spec.nodeName=n0", "spec.nodeName!=n0", "metadata.name=p3",
				"metadata.namespace=a,spec.nodeName=n1"}
			var watches []watch.Interface
			for _, fields := range selectors {
				watches = append(
					watches, must[watch.Interface](t)(
						s.Watch(metav1.ListOptions{ResourceVersion: "1", FieldSelector: fields})))
			}
			for range 100 {
				p := pod(fmt.Sprintf("%c/p%d", 'a'+rng.IntN(2), rng.IntN(5)))
				p.Spec.NodeName = fmt.Sprint("n", rng.IntN(3))
				_, exists := s.Get(Key(p))
				switch {
				case !exists:
					must[runtime.Object](t)(s.Create(p))
				case rng.IntN(4) == 0:
					must[runtime.Object](t)(s.Delete(Key(p)))
				default:
					must[runtime.Object](t)(s.Update(p))
				}
			}
			for i, w := range watches {
				state, last := map[string]string{}, uint64(0)
				for quiet := false; !quiet; {
					select {
					case e := <-w.ResultChan():
						key, v := Key(e.Object), VersionOf(e.Object)
						if v <= last {
							t.Errorf("seed %d, %s: version %d after %d", seed, selectors[i], v, last)
						}
						last = v
						if _, known := state[key]; known != (e.Type != watch.Added) {
							t.Errorf("seed %d, %s: %s of %s, known %v", seed, selectors[i], e.Type, key, known)
						}
						if e.Type == watch.Deleted {
							delete(state, key)
						} else {
							state[key] = Accessor(e.Object).GetResourceVersion()
						}
					case <-time.After(time.Second):
						quiet = true
					}
				}
				w.Stop()
				l := list(t, s, metav1.ListOptions{FieldSelector: selectors[i]})
				if len(l.Items) != len(state) {
					t.Errorf("seed %d, %s: %d followed, %d listed", seed, selectors[i], len(state), len(l.Items))
				}
				for _, obj := range l.Items {
					if state[Key(obj)] != Accessor(obj).GetResourceVersion() {
						t.Errorf("seed %d, %s: %s at %q, listed at %s", seed, selectors[i], Key(obj), state[Key(obj)],
							Accessor(obj).GetResourceVersion())
					}
				}
			}
		})
	}
}

// TestSelectorsOfRecordedPods: the unstructured pods of a recording are selected as typed
// ones are.
func TestSelectorsOfRecordedPods(t *testing.T) {
	t.Parallel()
	s := NewSource(nil, SourceOptions{Example: recordedPod("a/example", "", "")})
	t.Cleanup(s.Stop)
	for _, p := range []*unstructured.Unstructured{
		recordedPod("a/p0", "n0", "Running"), recordedPod("a/p1", "n1", "Running"),
		recordedPod("a/p2", "n0", "Failed"), recordedPod("a/p3", "", "Pending"),
	} {
		must[runtime.Object](t)(s.Create(p))
	}
	for fields, want := range map[string][]string{
		"spec.nodeName=n0":                       {"a/p0", "a/p2"},
		"spec.nodeName=":                         {"a/p3"},
		"spec.nodeName=n0,status.phase!=Failed":  {"a/p0"},
		"metadata.namespace=a,status.phase=None": nil,
	} {
		if got := keysOf(list(t, s, metav1.ListOptions{FieldSelector: fields})); !slices.Equal(got,
			want) {
			t.Errorf("%s: %v, want %v", fields, got, want)
		}
	}
	w := must[watch.Interface](t)(
		s.Watch(metav1.ListOptions{ResourceVersion: s.ResourceVersion(),
			FieldSelector: "spec.nodeName=n1"}))
	defer w.Stop()
	must[runtime.Object](t)(s.Update(recordedPod("a/p3", "n1", "Pending")))
	must[runtime.Object](t)(s.Update(recordedPod("a/p1", "n2", "Running")))
	if got := drain(w, 2); !slices.Equal(got, []string{"ADDED p3@6", "DELETED p1@7"}) {
		t.Errorf("the watch saw %q", got)
	}
}

func recordedPod(key, node, phase string) *unstructured.Unstructured {
	namespace, name, _ := strings.Cut(key, "/")
	spec := map[string]any{}
	if node != "" {
		spec["nodeName"] = node
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"namespace": namespace, "name": name},
		"spec":     spec, "status": map[string]any{"phase": phase},
	}}
}

// TestWritesFromAVersion: of two writes based on the same version, one fails.
func TestWritesFromAVersion(t *testing.T) {
	t.Parallel()
	s := newTestSource(t, 1, SourceOptions{})
	read, _ := s.Get("ns-00/pod-000000")
	from := Accessor(read).GetResourceVersion()
	now := must[runtime.Object](t)(s.UpdateFrom(read, from))
	if _, err := s.UpdateFrom(read, from); !apierrors.IsConflict(err) {
		t.Errorf("a second update from version %s: %v, want a conflict", from, err)
	}
	if _, err := s.DeleteFrom("ns-00/pod-000000", from); !apierrors.IsConflict(err) {
		t.Errorf("a deletion from version %s: %v, want a conflict", from, err)
	}
	must[runtime.Object](t)(s.DeleteFrom("ns-00/pod-000000", Accessor(now).GetResourceVersion()))
	if _, exists := s.Get("ns-00/pod-000000"); exists {
		t.Error("it is still there")
	}
	if _, err := s.UpdateFrom(read, from); !apierrors.IsNotFound(err) {
		t.Errorf("an update of nothing: %v, want NotFound", err)
	}
}

// TestUnstructuredObjects: a version must not be written into a map that others hold.
func TestUnstructuredObjects(t *testing.T) {
	t.Parallel()
	given := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "w", "namespace": "a"},
	}}
	s := NewSource(nil, SourceOptions{Example: given, BookmarkEvery: time.Millisecond})
	t.Cleanup(s.Stop)
	one := must[runtime.Object](t)(s.Create(given))
	two := must[runtime.Object](t)(s.Update(one))
	var versions []string
	for _, obj := range []runtime.Object{given, one, two} {
		versions = append(versions, Accessor(obj).GetResourceVersion())
	}
	if !slices.Equal(versions, []string{"", "2", "3"}) {
		t.Errorf("versions %q, want each object's own", versions)
	}
	w := must[watch.Interface](t)(
		s.Watch(metav1.ListOptions{ResourceVersion: "3", AllowWatchBookmarks: true}))
	defer w.Stop()
	e := <-w.ResultChan()
	if u, ok := e.Object.(*unstructured.Unstructured); !ok || u.GetKind() != "Widget" ||
		u.GetResourceVersion() != "3" {
		t.Errorf("the bookmark is %v, want a Widget at 3", e.Object)
	}
}
