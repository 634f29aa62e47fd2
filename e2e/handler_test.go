package e2e

import (
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

func witnessPod(name, version string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: version}}
}

// The handler judges what a call is, and package witness how it follows the others.
func TestHandlerProblems(t *testing.T) {
	a1, a2 := witnessPod("a", "1"), witnessPod("a", "2")
	tomb := func(key string, obj any) any { return cache.DeletedFinalStateUnknown{Key: key, Obj: obj} }
	for name, c := range map[string]struct {
		play func(*handler)
		want string
	}{
		"a life": {func(h *handler) {
			h.OnAdd(a1, true)
			h.OnUpdate(a1, a2)
			h.OnDelete(a2)
		}, ""},
		"a tombstone": {func(h *handler) {
			h.OnAdd(a1, true)
			h.OnDelete(tomb("ns/a", a1))
		}, ""},
		"added twice": {func(h *handler) {
			h.OnAdd(a1, true)
			h.OnAdd(a2, false)
		}, "INFORMER-3"},
		"a tombstone of another": {func(h *handler) {
			h.OnAdd(a2, true)
			h.OnDelete(tomb("ns/a", a1))
		}, "INFORMER-7"},
		"a tombstone's wrong key": {func(h *handler) {
			h.OnAdd(a2, true)
			h.OnDelete(tomb("ns/b", a2))
		}, "INFORMER-7"},
		"no object": {func(h *handler) { h.OnAdd("a", true) }, "INFORMER-28"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHandler()
			c.play(h)
			var clauses []string
			for _, p := range h.Problems() {
				clause, _, _ := strings.Cut(p, ":")
				clauses = append(clauses, clause)
			}
			if got := strings.Join(clauses, " "); got != c.want {
				t.Errorf("got %q, want the clause %q", h.Problems(), c.want)
			}
		})
	}
}

// nested calls the handler again from its own call.
type nested struct {
	*corev1.Pod
	inner func()
}

func (n nested) GetNamespace() string { n.inner(); return "ns" }

func TestOverlappingCalls(t *testing.T) {
	h := newHandler()
	again := sync.OnceFunc(func() { h.OnAdd(witnessPod("b", "1"), false) })
	h.OnAdd(nested{witnessPod("a", "2"), again}, false)
	if got := h.Problems(); len(got) != 1 || !strings.HasPrefix(got[0], "INFORMER-26:") {
		t.Errorf("got %q, want INFORMER-26", got)
	}
}

func TestCompareVersions(t *testing.T) {
	server := map[string]*corev1.Pod{"ns/a": witnessPod("a", "2"), "ns/b": witnessPod("b", "1")}
	got := compareVersions(
		map[string]*corev1.Pod{"ns/a": witnessPod("a", "1"), "ns/c": witnessPod("c", "1")},
		server)
	want := []string{"has ns/a@1, which is at 2", "has ns/c@1, which is gone", "lacks ns/b@1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := compareVersions(server, server); got != nil {
		t.Errorf("equal states differ: %q", got)
	}
}
