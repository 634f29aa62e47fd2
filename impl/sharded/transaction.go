package sharded

import (
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/internal/indexing"
)

// write is one write of a batch: its shard, and if it stores an object the values
// of that in the indexes.
type write struct {
	shard  int
	stores bool
	values [][]string
}

// Transaction applies the writes in their order, at one instant, and takes the
// resource version of the last one's object. A write of unknown type does
// nothing, as in client-go. If an IndexFunc fails it panics with none of the
// writes applied. O(len(txns)*indexes), the IndexFuncs outside the locks; the
// shards of its keys stay locked until the last write.
func (s *Store) Transaction(txns ...contract.StoreTransaction) {
	if len(txns) == 0 {
		return
	}
	version, known := indexing.VersionOf(txns[len(txns)-1].Object)
	writes := make([]write, len(txns))
	involved := make([]bool, len(s.shards))
	for i, txn := range txns {
		writes[i].shard = s.shardNumber(txn.Key)
		writes[i].stores = txn.Type == contract.TransactionTypeAdd || txn.Type == contract.TransactionTypeUpdate
		involved[writes[i].shard] = true
	}
	s.compute(txns, writes)

	var shards []*shard
	for i := range s.shards {
		if involved[i] {
			shards = append(shards, &s.shards[i])
		}
	}
	lockMany(shards)
	defer unlockMany(shards)
	s.compute(txns, writes) // an AddIndexers may have come in between
	for i, txn := range txns {
		t := s.shards[writes[i].shard].mu.table
		switch {
		case writes[i].stores:
			t.store(txn.Key, txn.Object, writes[i].values)
		case txn.Type == contract.TransactionTypeDelete:
			t.remove(txn.Key)
		}
	}
	s.took(version, known)
}

// compute appends the values of each object that is stored, in the indexes for
// which it has none yet.
func (s *Store) compute(txns []contract.StoreTransaction, writes []write) {
	set := s.indexes.Load()
	for i := range writes {
		if w := &writes[i]; w.stores && len(w.values) < set.Len() {
			if w.values == nil {
				w.values = make([][]string, 0, set.Len())
			}
			w.values = set.AppendValues(w.values, len(w.values), txns[i].Key, txns[i].Object)
		}
	}
}
