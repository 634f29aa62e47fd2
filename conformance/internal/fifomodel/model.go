// Package fifomodel is a simple model of each class of FIFO: the waiting deltas are a list,
// and every question is answered by looking through all of it. fifotest compares FIFOs with
// it step by step. The FIFOs of package mutants are the model under a lock, with one
// mistake each.
//
// One goroutine may use a Model. The cost of a call grows with the number of waiting deltas
// and known objects.
package fifomodel

import (
	"slices"

	"github.com/informerbench/informerbench/contract"
)

// Group is the result of one Pop. Only class Coalescing uses its key.
type Group struct {
	Key    string
	Deltas contract.Deltas
}

// Newest returns the delta that was added last.
func (g Group) Newest() contract.Delta { return g.Deltas[len(g.Deltas)-1] }

// Model is the content of a FIFO of a class.
type Model struct {
	Class contract.FIFOClass
	// Known is the consumer's store; nil: nothing is known.
	Known contract.KeyListerGetter
	// Key returns the key of an object that is no tombstone. It must not fail: objects
	// without a key never reach the model.
	Key     func(obj any) string
	Waiting []Group // in the order in which they come out

	Populated bool // a producing method other than Resync was called
	Left      int  // deltas of the first Replace that still wait
}

// Synced returns the right result of HasSynced.
func (m *Model) Synced() bool { return m.Populated && m.Left == 0 }

// Populate notes a producing call; only the first one counts. left is the number of deltas
// of an initial list that now wait, 0 if the call was no Replace.
func (m *Model) Populate(left int) {
	if !m.Populated {
		m.Populated, m.Left = true, left
	}
}

// Find returns the place of the first group of key, -1 if none waits.
func (m *Model) Find(key string) int {
	return slices.IndexFunc(m.Waiting, func(g Group) bool { return g.Key == key })
}

// KeyOf returns the key of an object or of a tombstone.
func (m *Model) KeyOf(obj any) string {
	if tombstone, ok := obj.(contract.DeletedFinalStateUnknown); ok {
		return tombstone.Key
	}
	return m.Key(obj)
}

// IsTombstone reports whether d carries a tombstone.
func IsTombstone(d contract.Delta) bool {
	_, ok := d.Object.(contract.DeletedFinalStateUnknown)
	return ok
}

// Enqueue adds d to the waiting groups. It never writes to the Deltas that a group already
// has: a caller that holds them may go on reading.
func (m *Model) Enqueue(d contract.Delta, key string) {
	i := m.Find(key)
	if m.Class != contract.Coalescing || i < 0 {
		m.Waiting = append(m.Waiting, Group{key, contract.Deltas{d}})
		return
	}
	old := m.Waiting[i].Deltas
	switch last := old[len(old)-1]; {
	case d.Type != contract.Deleted || last.Type != contract.Deleted:
		m.Waiting[i].Deltas = append(slices.Clone(old), d)
	case IsTombstone(last):
		m.Waiting[i].Deltas = append(slices.Clone(old[:len(old)-1]), d)
	}
}

// Knows reports whether the consumer may have key; a look-up that fails counts
// as yes (FIFO-31).
func (m *Model) Knows(key string) bool {
	if m.Known == nil {
		return false
	}
	_, exists, err := m.Known.GetByKey(key)
	return exists || err != nil
}

// Event models Add, Update or Delete.
func (m *Model) Event(kind contract.DeltaType, obj any) {
	m.Populate(0)
	key := m.KeyOf(obj)
	if m.Class == contract.Coalescing && kind == contract.Deleted && m.Find(key) < 0 && !m.Knows(key) {
		return
	}
	m.Enqueue(contract.Delta{Type: kind, Object: obj}, key)
}

// Replace models the FIFO's Replace. The model keeps list.
func (m *Model) Replace(list []any, resourceVersion string) {
	switch m.Class {
	case contract.Coalescing:
		m.Replaced(list)
		m.ImpliedDeletions(list)
	case contract.InOrder:
		m.ImpliedDeletions(list)
		m.Replaced(list)
	case contract.InOrderAtomic:
		m.Enqueue(contract.Delta{Type: contract.ReplacedAll,
			Object: contract.ReplacedAllInfo{ResourceVersion: resourceVersion, Objects: list}}, "")
	}
	m.Populate(len(m.Waiting))
}

// Replaced is the first half of a Replace: it queues the listed objects.
func (m *Model) Replaced(list []any) {
	for _, obj := range list {
		m.Enqueue(contract.Delta{Type: contract.Replaced, Object: obj}, m.KeyOf(obj))
	}
}

// ImpliedDeletions is the other half: it deletes objects that wait or are known, and are
// not listed.
func (m *Model) ImpliedDeletions(list []any) {
	listed := map[string]bool{}
	for _, obj := range list {
		listed[m.KeyOf(obj)] = true
	}
	newest := map[string]contract.Delta{}
	var keys []string // in the order in which they began to wait
	for _, g := range m.Waiting {
		if _, ok := newest[g.Key]; !ok {
			keys = append(keys, g.Key)
		}
		newest[g.Key] = g.Newest()
	}
	for _, key := range keys {
		last := newest[key]
		if listed[key] || m.Class == contract.InOrder && last.Type == contract.Deleted {
			continue
		}
		obj := last.Object
		if IsTombstone(last) {
			obj = obj.(contract.DeletedFinalStateUnknown).Obj
		}
		m.Enqueue(deletion(key, obj), key)
	}
	if m.Known == nil {
		return
	}
	for _, key := range m.Known.ListKeys() {
		if _, waits := newest[key]; waits || listed[key] {
			continue
		}
		obj, _ := m.lookUp(key)
		m.Enqueue(deletion(key, obj), key)
	}
}

func deletion(key string, obj any) contract.Delta {
	return contract.Delta{Type: contract.Deleted,
		Object: contract.DeletedFinalStateUnknown{Key: key, Obj: obj}}
}

// lookUp finds a known object. It returns nil and false if there is none or if the look-up
// fails.
func (m *Model) lookUp(key string) (any, bool) {
	obj, exists, err := m.Known.GetByKey(key)
	if err != nil || !exists {
		return nil, false
	}
	return obj, true
}

// Resync models the FIFO's Resync.
func (m *Model) Resync() {
	switch {
	case m.Class == contract.InOrderAtomic:
		m.Enqueue(contract.Delta{Type: contract.SyncAll, Object: contract.SyncAllInfo{}}, "")
	case m.Known != nil:
		for _, key := range m.Known.ListKeys() {
			if m.Find(key) < 0 {
				m.Sync(key)
			}
		}
	}
}

// Sync queues a Sync delta of a known object, if it is found.
func (m *Model) Sync(key string) {
	if obj, ok := m.lookUp(key); ok {
		m.Enqueue(contract.Delta{Type: contract.Sync, Object: obj}, key)
	}
}

// AddIfNotPresent models the keyed queue's AddIfNotPresent.
func (m *Model) AddIfNotPresent(deltas contract.Deltas) {
	m.Populate(0)
	m.PutBack(m.KeyOf(deltas.Newest().Object), deltas)
}

// PutBack queues popped deltas, unless newer ones wait under their key.
func (m *Model) PutBack(key string, deltas contract.Deltas) {
	if m.Find(key) < 0 {
		m.Waiting = append(m.Waiting, Group{key, deltas})
	}
}

// Pop takes the first group and reports whether it belongs to the initial list. A group
// must be waiting.
func (m *Model) Pop() (g Group, isInitial bool) {
	g, isInitial = m.Waiting[0], !m.Synced()
	m.Waiting[0] = Group{} // the model keeps FIFO-24 too
	m.Waiting = m.Waiting[1:]
	m.Left = max(0, m.Left-1)
	return g, isInitial
}
