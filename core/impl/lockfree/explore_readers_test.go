//go:build explore

package lockfree

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/informerbench/informerbench/core/explore"
)

// slotsAlone is the protocol between readers and the writer, without a store around it.
// Such programs are short enough to explore more preemptions. The first block has one slot.
func slotsAlone(name string, commits int, visits ...int) explore.Program {
	return explore.Program{Name: name, New: func() ([]func(), func() error) {
		var (
			r         = newReaders()
			committed atomic.Uint64
			floor     uint64 // versions before it are gone
			failed    error
		)
		r.slots = r.slots[:1]
		committed.Store(firstSeq)
		threads := []func(){func() {
			for n := uint64(firstSeq + 1); n <= uint64(firstSeq+commits); n++ {
				explore.Point("commit")
				committed.Store(n)
				if r.idle() {
					floor = n
				} else if open := r.open(nil, n); len(open) > 0 {
					floor = open[0]
				} else {
					floor = n
				}
			}
		}}
		for _, times := range visits {
			threads = append(threads, func() {
				for range times {
					explore.Point("call")
					slot, seq := r.acquire(&committed)
					explore.Point("read")
					if floor > seq && failed == nil {
						failed = fmt.Errorf("a reader of snapshot %d is inside, and versions before %d are gone", seq, floor)
					}
					slot.release(0)
				}
			})
		}
		return threads, func() error { return failed }
	}}
}

// slotPrograms are programs of readers' visits. With two visits of each reader a later block
// is in use, then free, then in use again.
func slotPrograms() []explore.Program {
	return []explore.Program{
		slotsAlone("slots: a reader", 2, 2),
		slotsAlone("slots: two readers", 2, 1, 1),
		slotsAlone("slots: two readers, twice", 2, 2, 2),
		slotsAlone("slots: three readers", 2, 1, 2, 1),
	}
}

// TestExploreInterleavingsOfSlots: no version is dropped that an open snapshot sees.
func TestExploreInterleavingsOfSlots(t *testing.T) {
	explore.Suite{Programs: slotPrograms(), Share: 0.2}.Check(t)
}

// slotFaults are mistakes in the protocol of the slots.
var slotFaults = []explore.Fault{
	{Name: "deepest lowered and not looked at again", File: "readers.go", Edits: [][2]string{{
		"		if k > t && b.taken() != nil {\n",
		"		if k > t && b.taken() != nil && !explore.Planted(\"deepest lowered and not looked at again\") {\n",
	}}},
	{Name: "a pending slot counts as free", File: "readers.go", Edits: [][2]string{{
		"			if s.state.Load() == slotPending {\n",
		"			if s.state.Load() == slotPending && !explore.Planted(\"a pending slot counts as free\") {\n",
	}}},
}

// TestExplorePlantedFaultsOfSlots builds the store with the faults and explores the slots.
func TestExplorePlantedFaultsOfSlots(t *testing.T) {
	explore.Plant(t, slotFaults, func(t *testing.T, _ string) { explore.MustFind(t, slotPrograms()) })
}

// stampsAlone is the resource version without a store around it: writes n, from 2 up, each in
// place if inPlace says so and no reader is about. A reader's resource version must be that
// of a write that was visible when it began, or of a later one that had begun when it ended.
func stampsAlone(name string, writes, visits int, inPlace func(n uint64) bool) explore.Program {
	return explore.Program{Name: name, New: func() ([]func(), func() error) {
		var (
			readers        = newReaders()
			committed      atomic.Uint64
			r              resourceVersion
			object         = &record{obj: new(int)}
			begun, visible = uint64(firstSeq), uint64(firstSeq)
			failed         error
		)
		committed.Store(firstSeq)
		r.newest.Store(&stamp{rv: fmt.Sprint(firstSeq), seq: firstSeq})
		writer := func() {
			for range writes {
				begun++
				if inPlace(begun) && readers.idle() {
					r.settle()
					data := wordsOf(new(int)).data
					r.set(fmt.Sprint(begun), noWrite, object, uintptr(data))
					explore.Point("object")
					object.setData(data)
				} else {
					r.set(fmt.Sprint(begun), begun, nil, 0)
					explore.Point("commit")
					committed.Store(begun)
					if readers.idle() {
						r.settle()
					}
				}
				visible = begun
			}
		}
		reader := func() {
			for range visits {
				explore.Point("call")
				from := visible
				slot, _ := readers.acquire(&committed)
				rv := r.last(&committed)
				slot.release(0)
				if n, err := strconv.ParseUint(rv, 10, 64); failed == nil && (err != nil || n < from || n > begun) {
					failed = fmt.Errorf("a reader finds %q; writes %d to %d would be right", rv, from, begun)
				}
			}
		}
		return []func(){writer, reader}, func() error { return failed }
	}}
}

// stampPrograms have writes of each kind after each other.
func stampPrograms() []explore.Program {
	return []explore.Program{
		stampsAlone("stamps: numbers", 3, 1, func(uint64) bool { return false }),
		stampsAlone("stamps: in place", 3, 2, func(uint64) bool { return true }),
		stampsAlone("stamps: in turns", 4, 2, func(n uint64) bool { return n%2 == 0 }),
		stampsAlone("stamps: two and two", 4, 2, func(n uint64) bool { return n%4 < 2 }),
	}
}

// TestExploreInterleavingsOfStamps: a reader finds the resource version of a moment within its call.
func TestExploreInterleavingsOfStamps(t *testing.T) {
	explore.Suite{Programs: stampPrograms(), Share: 0.2}.Check(t)
}

// stampFaults are mistakes in how stamps are found and used again.
var stampFaults = []explore.Fault{
	{Name: "a stamp used again at once", File: "resourceversion.go", Edits: [][2]string{{
		"	if r.former != nil {",
		"	if explore.Planted(\"a stamp used again at once\") {\n		*newest = stamp{}\n		r.former, r.free = nil, newest\n		return\n	}\n	if r.former != nil {",
	}}},
	{Name: "a stamp that is not newest any more", File: "resourceversion.go", Edits: [][2]string{{
		"	if r.newest.Load() != s {\n",
		"	if r.newest.Load() != s && !explore.Planted(\"a stamp that is not newest any more\") {\n",
	}}},
	{Name: "a stamp cut off before another is newest", File: "resourceversion.go", Edits: [][2]string{{
		"	explore.Point(\"set.newest\")\n",
		"	if explore.Planted(\"a stamp cut off before another is newest\") {\n		atomic.StorePointer(&newest.before, nil)\n	}\n	explore.Point(\"set.newest\")\n",
	}}},
}

// TestExplorePlantedFaultsOfStamps builds the store with the faults and explores the stamps.
func TestExplorePlantedFaultsOfStamps(t *testing.T) {
	explore.Plant(t, stampFaults, func(t *testing.T, _ string) { explore.MustFind(t, stampPrograms()) })
}

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
	explore.Suite{Programs: recordPrograms(), Share: 0.2}.Check(t)
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
