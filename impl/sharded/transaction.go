package sharded

import (
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/indexing"
)

// Transaction applies the writes in their order, at one instant, and takes the
// resource version of the last one's object. A write of unknown type does
// nothing, as in client-go. If an IndexFunc fails it panics with none of the
// writes applied. O(len(txns)*indexes), the IndexFuncs without a shard's lock; the
// shards of its keys stay locked until the last write.
func (s *Store) Transaction(txns ...contract.StoreTransaction) {
	if len(txns) == 0 {
		return
	}
	version, known := indexing.VersionOf(txns[len(txns)-1].Object)
	numbers := make([]int, len(txns))
	involved := make([]bool, len(s.shards))
	for i, txn := range txns {
		numbers[i] = s.shardNumber(txn.Key)
		involved[numbers[i]] = true
	}
	var shards []*shard
	for i := range s.shards {
		if involved[i] {
			shards = append(shards, &s.shards[i])
		}
	}

	set, values := s.computeBatch(txns)
	lockMany(shards)
	for s.indexes.Load() != set { // an AddIndexers came in between
		unlockMany(shards)
		set, values = s.computeBatch(txns)
		lockMany(shards)
	}
	defer unlockMany(shards)
	for i, txn := range txns {
		t := s.shards[numbers[i]].mu.table
		switch txn.Type {
		case contract.TransactionTypeAdd, contract.TransactionTypeUpdate:
			t.store(txn.Key, txn.Object, values.Object(i, set.Len()))
		case contract.TransactionTypeDelete:
			t.remove(txn.Key)
		}
	}
	s.took(version, known)
}

// computeBatch is compute for a batch.
func (s *Store) computeBatch(txns []contract.StoreTransaction) (*indexing.Set, indexing.Values) {
	s.computing.Lock()
	defer s.computing.Unlock()
	set := s.indexes.Load()
	return set, set.ValuesOfBatch(txns)
}
