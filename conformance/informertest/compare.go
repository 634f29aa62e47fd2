package informertest

// The comparison with the source at a quiet moment.

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/load/synthetic"
)

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
