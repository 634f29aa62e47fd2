package deltafifo

// The deltas that wait under one key, and which of two deletions is kept.

import "github.com/informerbench/informerbench/contract"

// accumulator holds the deltas that wait under one key; there is at least one.
// A Pop hands deltas over to the consumer, and the accumulator with them: its
// inline array is why a key with one delta costs one allocation.
type accumulator struct {
	key    string
	deltas contract.Deltas
	relist uint64 // number of the newest Replace that listed key
	inline [1]contract.Delta
}

func newAccumulator(key string) *accumulator {
	a := &accumulator{key: key}
	a.deltas = a.inline[:0]
	return a
}

// add appends d, except that of two deletions in a row one is kept: the newer if
// the older is a tombstone, which knows less, and the older otherwise.
func (a *accumulator) add(d contract.Delta) {
	if last := a.deltas.Newest(); last != nil && last.Type == contract.Deleted &&
		d.Type == contract.Deleted {
		mergeDeletions(last, d)
		return
	}
	a.deltas = append(a.deltas, d)
}

// mergeDeletions keeps in last the better of two deletions in a row.
func mergeDeletions(last *contract.Delta, d contract.Delta) {
	if _, isTombstone := last.Object.(contract.DeletedFinalStateUnknown); isTombstone {
		*last = d
	}
}
