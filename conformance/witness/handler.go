package witness

import (
	"fmt"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Handler is an event handler that judges its calls, for objects of any type. An update
// that changes nothing is legal: a resync and a list after a 410 bring such updates. The
// handler keeps the last object of each key, as a pointer into the informer's store.
//
// Any number of goroutines may call its methods. But the methods of
// cache.ResourceEventHandler must be called one at a time, which the handler checks.
type Handler struct {
	calling atomic.Int32

	mu struct {
		sync.Mutex
		view     *View[metav1.Object]
		calls    map[Kind]int
		problems []Problem
		dropped  int
	}
}

var _ cache.ResourceEventHandler = (*Handler)(nil)

// mostProblems is the number of problems kept: the first ones tell the most.
const mostProblems = 20

// NewHandler returns a handler that has had no call.
func NewHandler() *Handler {
	h := &Handler{}
	h.mu.view = NewView(func(a, b metav1.Object) bool {
		return a == b || equality.Semantic.DeepEqual(a, b)
	})
	h.mu.calls = map[Kind]int{}
	return h
}

// OnAdd is called by the informer.
func (h *Handler) OnAdd(obj any, _ bool) { h.told(Added, nil, obj) }

// OnUpdate is called by the informer.
func (h *Handler) OnUpdate(old, obj any) { h.told(Updated, old, obj) }

// OnDelete is called by the informer.
func (h *Handler) OnDelete(obj any) {
	tomb, ok := obj.(cache.DeletedFinalStateUnknown)
	if !ok {
		h.told(Deleted, nil, obj)
		return
	}
	h.told(Tombstone, nil, tomb.Obj)
	if key, err := cache.MetaNamespaceKeyFunc(tomb.Obj); err != nil || key != tomb.Key {
		h.problem(Problem{"INFORMER-7", fmt.Sprintf("the tombstone of %s has the key %q", key, tomb.Key)})
	}
}

func (h *Handler) told(kind Kind, old, obj any) {
	if h.calling.Add(1) > 1 {
		h.problem(Problem{"INFORMER-26", fmt.Sprintf("the handler is called (%s) while it runs", kind)})
	}
	defer h.calling.Add(-1)
	c := Call[metav1.Object]{Kind: kind}
	var ok, oldOK bool
	c.New, ok = obj.(metav1.Object)
	c.Old, oldOK = old.(metav1.Object)
	if !ok || !oldOK && kind == Updated {
		h.problem(Problem{"INFORMER-28", fmt.Sprintf("%s is told with a %T and a %T", kind, old, obj)})
		return
	}
	c.Key = cache.MetaObjectToName(c.New).String()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.calls[kind]++
	for _, p := range h.mu.view.Tell(c) {
		h.keepLocked(Problem{p.Clause,
			fmt.Sprintf("told %s %s@%d: %s", kind, c.Key, Version(c.New), p.Text)})
	}
}

func (h *Handler) problem(p Problem) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keepLocked(p)
}

func (h *Handler) keepLocked(p Problem) {
	if len(h.mu.problems) == mostProblems {
		h.mu.dropped++
		return
	}
	h.mu.problems = append(h.mu.problems, p)
}

// Objects returns the last object that the handler was told, by key.
func (h *Handler) Objects() map[string]metav1.Object {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.view.Objects()
}

// Calls returns how many calls of a kind there were.
func (h *Handler) Calls(kind Kind) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.calls[kind]
}

// Problems returns the first 20 problems, and how many more there are.
func (h *Handler) Problems() []string {
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
