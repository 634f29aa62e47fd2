package mutexmap

import (
	"slices"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/indexing"
)

// undo is the log entry that takes back one write of a batch: the object that was stored
// before, and the planned changes of the indexes.
type undo struct {
	key    string
	old    any
	exists bool
	plan   indexing.Values
}

// Transaction applies the writes in their order, at one instant, and takes the
// resource version of the last one's object. A write of unknown type does
// nothing, as in client-go. If an IndexFunc fails it panics with none of the
// writes applied. O(len(txns)*indexes) under the write lock. It keeps the index changes of
// the whole batch in memory, to take them back if an IndexFunc fails.
func (s *Store) Transaction(txns ...contract.StoreTransaction) {
	if len(txns) == 0 {
		return
	}
	version, known := indexing.VersionOf(txns[len(txns)-1].Object)
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()

	log := make([]undo, 0, len(txns))
	plans := indexing.MakeValues(2 * len(s.mu.indexes) * len(txns))
	// A write can fail only while it is planned, so only the logged writes must be taken
	// back. Readers are locked out until then.
	done := false
	defer func() {
		if !done {
			s.takeBackLocked(log)
		}
	}()
	for _, txn := range txns {
		u := undo{key: txn.Key}
		u.old, u.exists = s.mu.items[txn.Key]
		switch txn.Type {
		case contract.TransactionTypeAdd, contract.TransactionTypeUpdate:
			plans = s.planLocked(plans, txn.Key, u.old, txn.Object)
			s.mu.items[txn.Key] = txn.Object
		case contract.TransactionTypeDelete:
			plans = s.planLocked(plans, txn.Key, u.old, nil)
			delete(s.mu.items, txn.Key)
		default:
			continue
		}
		u.plan = plans.Object(len(log), 2*len(s.mu.indexes))
		s.applyLocked(txn.Key, u.plan)
		log = append(log, u)
	}
	done = true
	if known {
		s.mu.version = version
	}
}

// takeBackLocked undoes the logged writes, the newest first.
func (s *Store) takeBackLocked(log []undo) {
	for _, u := range slices.Backward(log) {
		if u.exists {
			s.mu.items[u.key] = u.old
		} else {
			delete(s.mu.items, u.key)
		}
		for i, x := range s.mu.indexes {
			m := u.plan.Move(i)
			x.move(u.key, m.To, m.From)
		}
	}
}
