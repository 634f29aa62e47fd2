package e2e

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/witness"
)

// handler is an event handler that judges its calls, for objects of any type. An update
// that changes nothing is legal: a resync and a list after a 410 bring such updates. The
// handler keeps the last object of each key, as a pointer into the informer's store.
//
// Any number of goroutines may call its methods. But the methods of
// cache.ResourceEventHandler must be called one at a time, which the handler checks.
type handler struct {
	calling atomic.Int32

	mu struct {
		sync.Mutex
		view     *witness.View[metav1.Object]
		calls    map[witness.Kind]int
		problems []witness.Problem
		dropped  int
	}
}

var _ cache.ResourceEventHandler = (*handler)(nil)

// mostProblems is the number of problems kept: the first ones tell the most.
const mostProblems = 20

// newHandler returns a handler that has had no call.
func newHandler() *handler {
	h := &handler{}
	h.mu.view = witness.NewView(func(a, b metav1.Object) bool {
		return a == b || equality.Semantic.DeepEqual(a, b)
	})
	h.mu.calls = map[witness.Kind]int{}
	return h
}

// OnAdd is called by the informer.
func (h *handler) OnAdd(obj any, _ bool) { h.told(witness.Added, nil, obj) }

// OnUpdate is called by the informer.
func (h *handler) OnUpdate(old, obj any) { h.told(witness.Updated, old, obj) }

// OnDelete is called by the informer.
func (h *handler) OnDelete(obj any) {
	tomb, ok := obj.(cache.DeletedFinalStateUnknown)
	if !ok {
		h.told(witness.Deleted, nil, obj)
		return
	}
	h.told(witness.Tombstone, nil, tomb.Obj)
	if key, err := cache.MetaNamespaceKeyFunc(tomb.Obj); err != nil || key != tomb.Key {
		h.problem(witness.Problem{Clause: "INFORMER-7",
			Text: fmt.Sprintf("the tombstone of %s has the key %q", key, tomb.Key)})
	}
}

func (h *handler) told(kind witness.Kind, old, obj any) {
	if h.calling.Add(1) > 1 {
		h.problem(witness.Problem{Clause: "INFORMER-26",
			Text: fmt.Sprintf("the handler is called (%s) while it runs", kind)})
	}
	defer h.calling.Add(-1)
	c := witness.Call[metav1.Object]{Kind: kind}
	var ok, oldOK bool
	c.New, ok = obj.(metav1.Object)
	c.Old, oldOK = old.(metav1.Object)
	if !ok || !oldOK && kind == witness.Updated {
		h.problem(witness.Problem{Clause: "INFORMER-28",
			Text: fmt.Sprintf("%s is told with a %T and a %T", kind, old, obj)})
		return
	}
	c.Key = cache.MetaObjectToName(c.New).String()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.calls[kind]++
	for _, p := range h.mu.view.Tell(c) {
		h.keepLocked(witness.Problem{Clause: p.Clause,
			Text: fmt.Sprintf("told %s %s@%d: %s", kind, c.Key, witness.Version(c.New), p.Text)})
	}
}

func (h *handler) problem(p witness.Problem) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keepLocked(p)
}

func (h *handler) keepLocked(p witness.Problem) {
	if len(h.mu.problems) == mostProblems {
		h.mu.dropped++
		return
	}
	h.mu.problems = append(h.mu.problems, p)
}

// Objects returns the last object that the handler was told, by key.
func (h *handler) Objects() map[string]metav1.Object {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.view.Objects()
}

// Calls returns how many calls of a kind there were.
func (h *handler) Calls(kind witness.Kind) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.calls[kind]
}

// Problems returns the first 20 problems, and how many more there are.
func (h *handler) Problems() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, p := range h.mu.problems {
		out = append(out, p.String())
	}
	if h.mu.dropped > 0 {
		out = append(out, fmt.Sprintf("and %d more", h.mu.dropped))
	}
	return out
}

// compareVersions returns how the versions of two states differ, in the order of the keys. got is
// the state of a store or a handler, want that of the server. An empty result means equal.
func compareVersions[G, W metav1.Object](got map[string]G,
	want map[string]W) (differences []string) {
	for _, key := range slices.Sorted(maps.Keys(got)) {
		switch w, ok := want[key]; {
		case !ok:
			differences = append(differences,
				fmt.Sprintf("has %s@%d, which is gone", key, witness.Version(got[key])))
		case got[key].GetUID() != w.GetUID() || witness.Version(got[key]) != witness.Version(w):
			differences = append(differences,
				fmt.Sprintf("has %s@%d, which is at %d", key, witness.Version(got[key]), witness.Version(w)))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[key]; !ok {
			differences = append(differences, fmt.Sprintf("lacks %s@%d", key, witness.Version(want[key])))
		}
	}
	return differences
}
