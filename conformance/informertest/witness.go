package informertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
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

// The comparison with the source at a quiet moment.

// compare checks everything that must agree with the source at a quiet moment. The
// connection must not be cut.
func (w *world) compare() {
	have := w.compareStore(w.wanted())
	w.compareIndexes(have)
	for _, h := range w.witnesses {
		w.compareView(h, have)
	}
	if got, want := w.informer.LastSyncResourceVersion(), w.source.ResourceVersion(); got != want {
		w.problem("INFORMER-19", "LastSyncResourceVersion is %q; the source is at %q and has told so",
			got, want)
	}
	if !w.informer.HasSynced() || !cache.IsDone(w.informer.HasSyncedChecker()) {
		w.problem("INFORMER-9", "the store has what the source has; HasSynced is %v and its checker's %v",
			w.informer.HasSynced(), cache.IsDone(w.informer.HasSyncedChecker()))
	}
	if n := w.gate.openWatches(); n > 1 {
		w.problem("INFORMER-32", "%d watches are open at a quiet moment", n)
	}
}

func (w *world) compareStore(want map[string]*corev1.Pod) (have map[string]*corev1.Pod) {
	have = map[string]*corev1.Pod{}
	var wrong []string
	for _, obj := range w.informer.GetStore().List() {
		p, ok := obj.(*corev1.Pod)
		switch {
		case !ok:
			wrong = append(wrong, "has "+describe(obj))
			continue
		case have[synthetic.Key(p)] != nil:
			wrong = append(wrong, "has "+synthetic.Key(p)+" twice")
		case want[synthetic.Key(p)] == nil:
			wrong = append(wrong, "has "+describe(p)+", which the source has not")
		case version(p) != version(want[synthetic.Key(p)]):
			wrong = append(wrong, fmt.Sprintf("has %s, which is at %d", describe(p),
				version(want[synthetic.Key(p)])))
		case !same(p, want[synthetic.Key(p)]):
			wrong = append(wrong, fmt.Sprintf("has %s with other content than the source's: %v, want %v",
				describe(p), p, want[synthetic.Key(p)]))
		}
		w.wantMarked("in the store", p)
		have[synthetic.Key(p)] = p
	}
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if have[k] == nil {
			wrong = append(wrong, "lacks "+describe(want[k]))
		}
		if item, exists, err := w.informer.GetStore().GetByKey(k); have[k] != nil &&
			(err != nil || !exists || item != have[k]) {
			wrong = append(wrong, fmt.Sprintf("gives %s, %v, %v for %s, and lists %s", describe(item),
				exists, err, k, describe(have[k])))
		}
	}
	if len(wrong) > 0 {
		w.problem("INFORMER-1", "the store %s", strings.Join(wrong, "; it "))
	}
	return have
}

func (w *world) compareIndexes(have map[string]*corev1.Pod) {
	indexers := w.informer.GetIndexer().GetIndexers()
	for _, index := range []struct {
		name    string
		valueOf func(*corev1.Pod) string
		values  []string
	}{
		{nodeIndex, func(p *corev1.Pod) string {
			return p.Spec.NodeName
		}, []string{"node0", "node1", "node2"}},
		{namespaceIndex, func(p *corev1.Pod) string { return p.Namespace }, []string{"ns0", "ns1"}},
	} {
		if _, ok := indexers[index.name]; ok || !w.setup.bare { // a bare informer may get one later
			w.compareIndex(have, index.name, index.valueOf, index.values)
		}
	}
}

func (w *world) compareIndex(have map[string]*corev1.Pod, index string,
	valueOf func(*corev1.Pod) string, values []string) {
	keysOf := map[string][]string{}
	for k, p := range have {
		keysOf[valueOf(p)] = append(keysOf[valueOf(p)], k)
	}
	for _, value := range values {
		got, err := w.informer.GetIndexer().ByIndex(index, value)
		var keys []string
		for _, obj := range got {
			if p, ok := obj.(*corev1.Pod); ok && have[synthetic.Key(p)] == p {
				keys = append(keys, synthetic.Key(p))
			} else {
				keys = append(keys, "the stranger "+describe(obj))
			}
		}
		slices.Sort(keys)
		slices.Sort(keysOf[value])
		if err != nil || !slices.Equal(keys, keysOf[value]) {
			w.problem("INFORMER-2", "the index %s gives %v (%v) for %s; the objects that have it are %v",
				index, keys, err, value, keysOf[value])
		}
	}
}

// compareView checks the last objects that a handler was told, and whether it has synced.
func (w *world) compareView(h *witness, have map[string]*corev1.Pod) {
	if h.silenced() {
		return
	}
	var wrong []string
	view := h.knows()
	for _, k := range slices.Sorted(maps.Keys(view)) {
		if have[k] == nil {
			wrong = append(wrong, fmt.Sprintf("it was told %s last and not that it is gone",
				describe(view[k])))
		} else if !same(have[k], view[k]) {
			wrong = append(wrong, fmt.Sprintf("it was told %s last, and the store has %s", describe(view[k]),
				describe(have[k])))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(have)) {
		if view[k] == nil {
			wrong = append(wrong, "it was not told of "+describe(have[k]))
		}
	}
	if len(wrong) > 0 {
		w.problem("INFORMER-4", "%s: %s", h.name, strings.Join(wrong, "; "))
	}
	if r := h.registration(); !h.panics && (!r.HasSynced() || !cache.IsDone(r.HasSyncedChecker())) {
		w.problem("INFORMER-10", "%s was told everything; HasSynced of its registration is %v and its "+
			"checker's %v", h.name, r.HasSynced(), cache.IsDone(r.HasSyncedChecker()))
	}
}
