package fifotest

// The simple model of each class: what waits is a list, and everything looks
// through all of it.

import (
	"slices"

	"github.com/informerbench/informerbench/contract"
)

// group is what comes out in one Pop. Only class Coalescing looks at its key.
type group struct {
	key    string
	deltas contract.Deltas
}

type model struct {
	class   contract.FIFOClass
	known   *knownObjects // nil: nothing is known
	waiting []group

	populated bool
	left      int // of what the first Replace left waiting
}

func (m *model) synced() bool { return m.populated && m.left == 0 }

func (m *model) populate(left int) {
	if !m.populated {
		m.populated, m.left = true, left
	}
}

func (m *model) find(key string) int {
	return slices.IndexFunc(m.waiting, func(g group) bool { return g.key == key })
}

func keyOf(o any) string {
	if tombstone, ok := o.(contract.DeletedFinalStateUnknown); ok {
		return tombstone.Key
	}
	return o.(*object).key
}

func isTombstone(d contract.Delta) bool {
	_, ok := d.Object.(contract.DeletedFinalStateUnknown)
	return ok
}

func (m *model) enqueue(d contract.Delta, key string) {
	i := m.find(key)
	if m.class != contract.Coalescing || i < 0 {
		m.waiting = append(m.waiting, group{key, contract.Deltas{d}})
		return
	}
	old := m.waiting[i].deltas
	switch last := old[len(old)-1]; {
	case d.Type != contract.Deleted || last.Type != contract.Deleted:
		m.waiting[i].deltas = append(slices.Clone(old), d)
	case isTombstone(last):
		m.waiting[i].deltas = append(slices.Clone(old[:len(old)-1]), d)
	}
}

func (m *model) knows(key string) bool {
	return m.known != nil && slices.Contains(m.known.ListKeys(), key)
}

// event is Add, Update or Delete.
func (m *model) event(kind contract.DeltaType, o any) {
	m.populate(0)
	key := keyOf(o)
	if m.class == contract.Coalescing && kind == contract.Deleted && m.find(key) < 0 && !m.knows(key) {
		return
	}
	m.enqueue(contract.Delta{Type: kind, Object: o}, key)
}

func (m *model) replace(list []any, resourceVersion string) {
	switch m.class {
	case contract.Coalescing:
		m.replaced(list)
		m.impliedDeletions(list)
	case contract.InOrder:
		m.impliedDeletions(list)
		m.replaced(list)
	case contract.InOrderAtomic:
		m.enqueue(contract.Delta{Type: contract.ReplacedAll, Object: contract.ReplacedAllInfo{ResourceVersion: resourceVersion, Objects: list}}, "")
	}
	m.populate(len(m.waiting))
}

func (m *model) replaced(list []any) {
	for _, o := range list {
		m.enqueue(contract.Delta{Type: contract.Replaced, Object: o}, keyOf(o))
	}
}

func (m *model) impliedDeletions(list []any) {
	listed := map[string]bool{}
	for _, o := range list {
		listed[keyOf(o)] = true
	}
	newest := map[string]contract.Delta{}
	var keys []string // in the order in which they began to wait
	for _, g := range m.waiting {
		if _, ok := newest[g.key]; !ok {
			keys = append(keys, g.key)
		}
		newest[g.key] = g.deltas[len(g.deltas)-1]
	}
	for _, key := range keys {
		last := newest[key]
		if listed[key] || m.class == contract.InOrder && last.Type == contract.Deleted {
			continue
		}
		o := last.Object
		if isTombstone(last) {
			o = o.(contract.DeletedFinalStateUnknown).Obj
		}
		m.enqueue(contract.Delta{Type: contract.Deleted, Object: contract.DeletedFinalStateUnknown{Key: key, Obj: o}}, key)
	}
	if m.known == nil {
		return
	}
	for _, key := range m.known.ListKeys() {
		if _, waits := newest[key]; waits || listed[key] {
			continue
		}
		o, _, _ := m.known.GetByKey(key)
		m.enqueue(contract.Delta{Type: contract.Deleted, Object: contract.DeletedFinalStateUnknown{Key: key, Obj: o}}, key)
	}
}

func (m *model) resync() {
	switch {
	case m.class == contract.InOrderAtomic:
		m.enqueue(contract.Delta{Type: contract.SyncAll, Object: contract.SyncAllInfo{}}, "")
	case m.known != nil:
		for _, key := range m.known.ListKeys() {
			if m.find(key) < 0 {
				o, _, _ := m.known.GetByKey(key)
				m.enqueue(contract.Delta{Type: contract.Sync, Object: o}, key)
			}
		}
	}
}

func (m *model) addIfNotPresent(deltas contract.Deltas) {
	m.populate(0)
	m.putBack(keyOf(deltas[len(deltas)-1].Object), deltas)
}

func (m *model) putBack(key string, deltas contract.Deltas) {
	if m.find(key) < 0 {
		m.waiting = append(m.waiting, group{key, deltas})
	}
}

// pop takes the first group and says whether it is of the initial list.
func (m *model) pop() (g group, isInitial bool) {
	g, isInitial = m.waiting[0], !m.synced()
	m.waiting[0] = group{} // the model keeps FIFO-24 too
	m.waiting = m.waiting[1:]
	m.left = max(0, m.left-1)
	return g, isInitial
}
