package witness_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/witness"
)

func pod(name, version string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: version}}
}

// Each history names the clauses that it breaks, in order.
func TestHistories(t *testing.T) {
	a1, a2, a3 := pod("a", "1"), pod("a", "2"), pod("a", "3")
	tomb := func(key string, obj any) any { return cache.DeletedFinalStateUnknown{Key: key, Obj: obj} }
	for name, c := range map[string]struct {
		play func(*witness.Handler)
		want []string
	}{
		"a life": {func(h *witness.Handler) {
			h.OnAdd(a1, true)
			h.OnUpdate(a1, a2)
			h.OnDelete(a3)
		}, nil},
		"a tombstone": {func(h *witness.Handler) {
			h.OnAdd(a1, true)
			h.OnDelete(tomb("ns/a", a1))
		}, nil},
		"two lives": {func(h *witness.Handler) {
			h.OnAdd(a1, true)
			h.OnDelete(a2)
			h.OnAdd(a3, false)
		}, nil},
		"added twice": {func(h *witness.Handler) {
			h.OnAdd(a1, true)
			h.OnAdd(a2, false)
		}, []string{"INFORMER-3"}},
		"updated from nothing": {func(h *witness.Handler) {
			h.OnUpdate(a1, a2)
		}, []string{"INFORMER-3"}},
		"deleted twice": {func(h *witness.Handler) {
			h.OnAdd(a1, true)
			h.OnDelete(a1)
			h.OnDelete(a1)
		}, []string{"INFORMER-3"}},
		"another old object": {func(h *witness.Handler) {
			h.OnAdd(a1, true)
			h.OnUpdate(a2, a3)
		}, []string{"INFORMER-5"}},
		"back in time": {func(h *witness.Handler) {
			h.OnAdd(a2, true)
			h.OnUpdate(a2, a1)
		}, []string{"INFORMER-5"}},
		"an update without a change": {func(h *witness.Handler) {
			h.OnAdd(a1, true)
			h.OnUpdate(a1, a1)
		}, nil},
		"an older final state": {func(h *witness.Handler) {
			h.OnAdd(a2, true)
			h.OnDelete(a1)
		}, []string{"INFORMER-6"}},
		"a tombstone of another": {func(h *witness.Handler) {
			h.OnAdd(a2, true)
			h.OnDelete(tomb("ns/a", a1))
		}, []string{"INFORMER-7"}},
		"a tombstone's wrong key": {func(h *witness.Handler) {
			h.OnAdd(a2, true)
			h.OnDelete(tomb("ns/b", a2))
		}, []string{"INFORMER-7"}},
		"no object": {func(h *witness.Handler) {
			h.OnAdd("a", true)
		}, []string{"INFORMER-28"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := witness.NewHandler()
			c.play(h)
			var clauses []string
			for _, p := range h.Problems() {
				clause, _, _ := strings.Cut(p, ":")
				clauses = append(clauses, clause)
			}
			if !slices.Equal(clauses, c.want) {
				t.Errorf("got %q, want the clauses %v", h.Problems(), c.want)
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
	h := witness.NewHandler()
	again := sync.OnceFunc(func() { h.OnAdd(pod("b", "1"), false) })
	h.OnAdd(nested{pod("a", "2"), again}, false)
	if got := h.Problems(); len(got) != 1 || !strings.HasPrefix(got[0], "INFORMER-26:") {
		t.Errorf("got %q, want INFORMER-26", got)
	}
}

func TestCompare(t *testing.T) {
	server := map[string]*corev1.Pod{"ns/a": pod("a", "2"), "ns/b": pod("b", "1")}
	got := witness.Compare(map[string]*corev1.Pod{"ns/a": pod("a", "1"), "ns/c": pod("c", "1")},
		server)
	want := []string{"has ns/a@1, which is at 2", "has ns/c@1, which is gone", "lacks ns/b@1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := witness.Compare(server, server); got != nil {
		t.Errorf("equal states differ: %q", got)
	}
}
