package mutexmap

import (
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/internal/indexing"
)

// undo is what puts one write of a batch back: the object that was there, and how
// many of the batch's moves are this write's.
type undo struct {
	key    string
	old    any
	exists bool
	moves  int
}

// Transaction applies the writes in their order, at one instant, and takes the
// resource version of the last one's object. A write of unknown type does
// nothing, as in client-go. If an IndexFunc fails it panics with none of the
// writes applied. O(len(txns)*indexes) under the write lock, and memory for the
// index changes of the whole batch, which is what taking them back needs.
func (s *Store) Transaction(txns ...contract.StoreTransaction) {
	if len(txns) == 0 {
		return
	}
	version, known := indexing.VersionOf(txns[len(txns)-1].Object)
	s.mu.Lock()
	defer s.mu.Unlock()

	log := make([]undo, 0, len(txns))
	moves := make([]move, 0, len(txns))
	// A write can fail only while it is planned, so what must be taken back is
	// what the log holds. Readers are locked out until then.
	defer func() {
		if len(log) < len(txns) {
			s.takeBackLocked(log, moves)
		}
	}()
	for _, txn := range txns {
		obj := txn.Object
		old, exists := s.mu.items[txn.Key]
		planned := len(moves)
		switch txn.Type {
		case contract.TransactionTypeAdd, contract.TransactionTypeUpdate:
			moves = s.planLocked(moves, txn.Key, old, obj)
			s.mu.items[txn.Key] = obj
		case contract.TransactionTypeDelete:
			moves = s.planLocked(moves, txn.Key, old, nil)
			delete(s.mu.items, txn.Key)
		}
		for _, m := range moves[planned:] {
			m.apply(txn.Key)
		}
		log = append(log, undo{txn.Key, old, exists, len(moves) - planned})
	}
	if known {
		s.mu.version = version
	}
}

// takeBackLocked undoes the logged writes, the newest first.
func (s *Store) takeBackLocked(log []undo, moves []move) {
	for i := len(log) - 1; i >= 0; i-- {
		u := log[i]
		if u.exists {
			s.mu.items[u.key] = u.old
		} else {
			delete(s.mu.items, u.key)
		}
		for range u.moves {
			last := len(moves) - 1
			moves[last].reversed().apply(u.key)
			moves = moves[:last]
		}
	}
}
