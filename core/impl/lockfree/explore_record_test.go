//go:build explore

package lockfree

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/informerbench/informerbench/core/explore"
)

// recordAlone is a record without a store around it. Write n, from 2 up, makes n its object. A
// reader of snapshot n must find n.
func recordAlone(name string, writes int, visits ...int) explore.Program {
	return explore.Program{Name: name, New: func() ([]func(), func() error) {
		var (
			readers   = newReaders()
			committed atomic.Uint64
			w         write
			r         = newRecord("key")
			failed    error
		)
		committed.Store(firstSeq)
		r.obj = uint64(firstSeq)
		threads := []func(){func() {
			for n := uint64(firstSeq + 1); n <= uint64(firstSeq+writes); n++ {
				w.seq = n
				r.update(&w, n)
				explore.Point("commit")
				committed.Store(n)
				if readers.idle() {
					w.spares.recycle()
					if v := r.settle(); v != nil {
						w.spares.versions.retire(v)
					}
				} else {
					w.spares.forget()
					r.prune(readers.open(nil, n))
				}
			}
		}}
		for _, times := range visits {
			threads = append(threads, func() {
				for range times {
					explore.Point("call")
					slot, seq := readers.acquire(&committed)
					if obj := r.object(seq); obj != seq && failed == nil {
						failed = fmt.Errorf("snapshot %d sees the object of write %v", seq, obj)
					}
					slot.release(0)
				}
			})
		}
		return threads, func() error { return failed }
	}}
}

// recordPrograms have snapshots of different writes side by side.
func recordPrograms() []explore.Program {
	return []explore.Program{
		recordAlone("record: a reader", 3, 2),
		recordAlone("record: two readers", 3, 1, 1),
		recordAlone("record: three readers", 3, 1, 1, 1),
	}
}

// TestExploreInterleavingsOfARecord: a snapshot sees the object of its own write.
func TestExploreInterleavingsOfARecord(t *testing.T) {
	explore.Suite{Programs: recordPrograms(), Share: 1.0 / 3}.Check(t)
}

// recordFaults are mistakes in what a record keeps for open snapshots.
var recordFaults = []explore.Fault{
	{Name: "an object dropped that a snapshot sees", File: "record.go", Edits: [][2]string{{
		"	case anyWithin(open, 0, n.seq): ",
		"	case anyWithin(open, 0, n.seq) && !explore.Planted(\"an object dropped that a snapshot sees\"): ",
	}}},
	{Name: "a record settled that an older snapshot sees", File: "record.go", Edits: [][2]string{{
		"	case n == newest:\n",
		"	case n == newest || explore.Planted(\"a record settled that an older snapshot sees\"):\n",
	}}},
	{Name: "a record settled before it has the object", File: "record.go", Edits: [][2]string{{
		"	explore.Point(\"settle.obj\")\n",
		"	if explore.Planted(\"a record settled before it has the object\") {\n		r.newest.Store(nil)\n	}\n	explore.Point(\"settle.obj\")\n",
	}}},
	{Name: "a version dropped that a snapshot sees", File: "record.go", Edits: [][2]string{{
		"		if anyWithin(open, v.seq, n.seq) {\n",
		"		if anyWithin(open, v.seq, n.seq) && !explore.Planted(\"a version dropped that a snapshot sees\") {\n",
	}}},
}

// TestExplorePlantedFaultsOfARecord builds the store with the faults and explores a record.
func TestExplorePlantedFaultsOfARecord(t *testing.T) {
	explore.Plant(t, recordFaults, func(t *testing.T, _ string) { explore.MustFind(t, recordPrograms()) })
}
