//go:build explore

package lockfree

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/informerbench/informerbench/internal/explore"
)

// objectOfWrite is the object of write n where all are of the store's type.
func objectOfWrite(n uint64) any { return n }

// ofTwoTypes is the object of write n where every second one is of another type.
func ofTwoTypes(n uint64) any {
	if n%2 == 0 {
		return fmt.Sprint(n)
	}
	return n
}

// recordAlone is a record without a store around it. Write n, from 2 up, makes object(n) its
// object. A reader of snapshot n must find that.
func recordAlone(name string, object func(n uint64) any, writes int,
	visits ...int) explore.Program {
	return explore.Program{Name: name, New: func() ([]func(), func() error) {
		var (
			readers   = &readers{}
			committed atomic.Uint64
			w         write
			r         = newRecord("key")
			s         = &shown{kind: wordsOf(uint64(0)).kind}
			failed    error
		)
		committed.Store(firstSeq)
		r.data = wordsOf(uint64(firstSeq)).data
		threads := []func(){func() {
			for n := uint64(firstSeq + 1); n <= uint64(firstSeq+writes); n++ {
				w.seq = n
				r.update(&w, s, object(n))
				explore.Point("commit")
				committed.Store(n)
				if readers.idle() {
					w.spares.recycle()
					if v := r.settle(s); v != nil {
						w.spares.versions.retire(v)
					}
				} else {
					w.spares.forget()
					r.prune(readers.open(nil, n), s)
				}
			}
		}}
		for _, times := range visits {
			threads = append(threads, func() {
				for range times {
					explore.Point("call")
					slot, seq := readers.acquire(&committed)
					if obj := r.object(seq, s); obj != object(seq) && failed == nil {
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
		recordAlone("record: a reader", objectOfWrite, 3, 2),
		recordAlone("record: two readers", objectOfWrite, 3, 1, 1),
		recordAlone("record: three readers", objectOfWrite, 3, 1, 1, 1),
		recordAlone("record: two types, a reader", ofTwoTypes, 3, 2),
		recordAlone("record: two types, two readers", ofTwoTypes, 3, 1, 1),
	}
}

// TestExploreInterleavingsOfARecord: a snapshot sees the object of its own write.
func TestExploreInterleavingsOfARecord(t *testing.T) {
	explore.Suite{Programs: recordPrograms(), Share: 0.03}.Check(t)
}

// recordFaults are mistakes in what a record keeps for open snapshots.
var recordFaults = explore.Faults([]explore.Fault{
	{Name: "an object dropped that a snapshot sees", File: "record.go", Edits: [][2]string{{
		"	case anyWithin(open, 0, n.seq): ",
		"	case anyWithin(open, 0, n.seq) && !explore.Planted(\"an object dropped that a snapshot " +
			"sees\"): ",
	}}},
	{Name: "a record settled that an older snapshot sees", File: "record.go", Edits: [][2]string{{
		"	case n == newest:\n",
		"	case n == newest || explore.Planted(\"a record settled that an older snapshot sees\"):\n",
	}}},
	{Name: "a record settled before it has the object", File: "record.go", Edits: [][2]string{{
		"	r.data = wordsOf(n.obj).data\n",
		"	if explore.Planted(\"a record settled before it has the object\") " +
			"{\n		r.newest.Store(nil)\n	}\n	r.data = wordsOf(n.obj).data\n",
	}}},
	{Name: "an object of another type settled", File: "record.go", Edits: [][2]string{{
		"	if !s.fits(n.obj) {\n",
		"	if !s.fits(n.obj) && !explore.Planted(\"an object of another type settled\") {\n",
	}}},
	{Name: "an object of another type dropped that a snapshot sees", File: "record.go",
		Edits: [][2]string{{
			"			if revived {\n",
			"			if revived || explore.Planted(\"an object of another type dropped that a snapshot sees\") " +
				"{\n",
		}}},
	{Name: "a version dropped that a snapshot sees", File: "record.go", Edits: [][2]string{{
		"		if anyWithin(open, v.seq, n.seq) {\n",
		"		if anyWithin(open, v.seq, n.seq) && !explore.Planted(\"a version dropped that a snapshot " +
			"sees\") {\n",
	}}},
})

// TestExplorePlantedFaultsOfARecord activates the faults and explores a record.
func TestExplorePlantedFaultsOfARecord(t *testing.T) {
	explore.Plant(t, recordFaults, func(t *testing.T) {
		explore.MustFind(t, recordPrograms())
	})
}
