package informertest

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	rules "github.com/informerbench/informerbench/conformance/witness"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/synthetic"
)

// kind is the kind of a call of a handler.
type kind = rules.Kind

const (
	added   = rules.Added
	updated = rules.Updated
	deleted = rules.Deleted
	buried  = rules.Tombstone
)

// call is one call of a handler.
type call struct {
	kind     kind
	key      string
	old, new *corev1.Pod // for a deletion, new is the deleted object
	initial  bool
	at       time.Time
}

// ends reports whether the call is a deletion.
func (c call) ends() bool { return c.kind == deleted || c.kind == buried }

func (c call) String() string {
	s := fmt.Sprintf("%s %s@%d", c.kind, c.key, version(c.new))
	if c.kind == updated {
		s = fmt.Sprintf("%s %s@%d->%d", c.kind, c.key, version(c.old), version(c.new))
	}
	if c.initial {
		s += " (initial)"
	}
	return s
}

func version(p *corev1.Pod) uint64 {
	if p == nil {
		return 0
	}
	return synthetic.VersionOf(p)
}

// panicsClause is the clause on handlers that panic, and handlerPanic is what the suite's
// panic with. An informer that does not recover the panic ends the process with this text.
const (
	panicsClause = "INFORMER-17"
	handlerPanic = panicsClause + ": an informer recovers this panic of a handler; otherwise waive " +
		panicsClause
)

// witness is a handler that records its calls and reports at once calls that no handler may
// get.
type witness struct {
	name  string
	world *world
	// act runs in each call of the handler: it may sleep, wait or panic.
	act func(call)
	// reads makes the handler read the store in each call.
	reads bool
	// panics says that act may panic.
	panics bool
	// short registers the handler by the methods without options.
	short bool

	inside atomic.Int32

	mu struct {
		sync.Mutex
		handle cache.ResourceEventHandlerRegistration
		view   *rules.View[*corev1.Pod]
		calls  []call
		silent string // the clause that forbids any further call; "" for none
	}
}

var _ cache.ResourceEventHandler = (*witness)(nil)

func (h *witness) OnAdd(obj any, initial bool) {
	if p := h.pod(obj); p != nil {
		h.note(call{kind: added, key: synthetic.Key(p), new: p, initial: initial})
	}
}

func (h *witness) OnUpdate(old, obj any) {
	if o, p := h.pod(old), h.pod(obj); o != nil && p != nil {
		h.note(call{kind: updated, key: synthetic.Key(p), old: o, new: p})
	}
}

func (h *witness) OnDelete(obj any) {
	if tomb, ok := obj.(contract.DeletedFinalStateUnknown); ok {
		if p := h.pod(tomb.Obj); p != nil {
			if tomb.Key != synthetic.Key(p) {
				h.world.problem("INFORMER-7", "%s: the tombstone of %s has the key %q", h.name,
					synthetic.Key(p), tomb.Key)
			}
			h.note(call{kind: buried, key: tomb.Key, new: p})
		}
		return
	}
	if p := h.pod(obj); p != nil {
		h.note(call{kind: deleted, key: synthetic.Key(p), new: p})
	}
}

// pod returns obj as a Pod, and reports a problem if it is none.
func (h *witness) pod(obj any) *corev1.Pod {
	switch p := obj.(type) {
	case *corev1.Pod:
		return p
	case contract.DeletedFinalStateUnknown:
		h.world.problem("INFORMER-7", "%s was given a tombstone in place of an object", h.name)
	case nil:
		h.world.problem("INFORMER-7", "%s was given no object", h.name)
	default:
		h.world.problem("INFORMER-28", "%s was given a %T", h.name, obj)
	}
	return nil
}

func (h *witness) note(c call) {
	if h.inside.Add(1) > 1 {
		h.world.problem("INFORMER-26", "%s is called (%s) while it runs", h.name, c)
	}
	defer h.inside.Add(-1)
	c.at = time.Now()
	handle := h.remember(c)
	h.world.wantMarked("when a handler was told "+string(c.kind), c.new)
	h.world.wantMarked("as the old object of an update", c.old)
	if c.initial && h.world.informer.HasSynced() {
		h.world.synced.Do(h.world.checkSynced)
	}
	if c.initial && handle != nil && (handle.HasSynced() || cache.IsDone(handle.HasSyncedChecker())) {
		h.world.problem(tellsClause, "%s: its registration has synced while it is told %s", h.name, c)
	}
	if h.reads {
		h.world.lookUp(h, c)
	}
	if h.act != nil {
		h.act(c)
	}
}

func (h *witness) remember(c call) cache.ResourceEventHandlerRegistration {
	h.mu.Lock()
	defer h.mu.Unlock()
	problem := func(clause, format string, args ...any) {
		h.world.problem(clause, "%s is told %s: %s", h.name, c, fmt.Sprintf(format, args...))
	}
	if h.mu.silent != "" {
		problem(h.mu.silent, "nothing more may come")
	}
	for _, p := range h.mu.view.Tell(
		rules.Call[*corev1.Pod]{Kind: c.kind, Key: c.key, Old: c.old, New: c.new}) {
		problem(p.Clause, "%s", p.Text)
	}
	switch {
	case c.kind == deleted && !h.world.isGrave(c):
		problem("INFORMER-6", "that is not how the source deleted it")
	case c.kind == buried && !h.world.isBuried(c):
		problem("INFORMER-7", "the source has not deleted it")
	}
	h.mu.calls = append(h.mu.calls, c)
	return h.mu.handle
}

// lack allows one deletion of an object that the handler was not told of.
func (h *witness) lack(key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.view.Lack(key)
}

// silence makes every further call a problem of the clause.
func (h *witness) silence(clause string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mu.silent == "" {
		h.mu.silent = clause
	}
}

func (h *witness) silenced() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.silent != ""
}

func (h *witness) registration() cache.ResourceEventHandlerRegistration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.handle
}

// calls returns the handler's calls so far, of the given kinds if any are given.
func (h *witness) calls(kinds ...kind) []call {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(h.mu.calls), func(c call) bool {
		return len(kinds) > 0 && !slices.Contains(kinds, c.kind)
	})
}

// of returns the calls for one object.
func (h *witness) of(key string) []call {
	return slices.DeleteFunc(h.calls(), func(c call) bool { return c.key != key })
}

// forget drops the recorded calls, but not the view.
func (h *witness) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.calls = nil
}

// knows returns the handler's view: the last object that it was told, by key.
func (h *witness) knows() map[string]*corev1.Pod {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.view.Objects()
}
