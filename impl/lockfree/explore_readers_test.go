//go:build explore

package lockfree

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/informerbench/informerbench/internal/explore"
)

// slotsAlone is the protocol between readers and the writer, without a store around it.
// Such programs are short enough to explore more preemptions. The first block has so many slots;
// with none, the first reader makes it.
func slotsAlone(name string, slots, commits int, visits ...int) explore.Program {
	return explore.Program{Name: name, New: func() ([]func(), func() error) {
		var (
			r         = &readers{}
			committed atomic.Uint64
			floor     uint64 // versions before it are gone
			failed    error
		)
		if slots > 0 {
			r.first.Store(&block{slots: make([]slot, slots)})
		}
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
						failed = fmt.Errorf("a reader of snapshot %d is inside, and versions before %d are gone", seq,
							floor)
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
		slotsAlone("slots: a reader", 1, 2, 2),
		slotsAlone("slots: two readers", 1, 2, 1, 1),
		slotsAlone("slots: two readers, twice", 1, 2, 2, 2),
		slotsAlone("slots: three readers", 1, 2, 1, 2, 1),
		slotsAlone("slots: the first readers", 0, 2, 1, 1),
	}
}

// TestExploreInterleavingsOfSlots: no version is dropped that an open snapshot sees.
func TestExploreInterleavingsOfSlots(t *testing.T) {
	explore.Suite{Programs: slotPrograms(), Share: 0.03}.Check(t)
}

// slotFaults are mistakes in the protocol of the slots.
var slotFaults = explore.Faults([]explore.Fault{
	{Name: "deepest lowered and not looked at again", File: "readers.go", Edits: [][2]string{{
		"		if k > t && b.taken() != nil {\n",
		"		if k > t && b.taken() != nil && !explore.Planted(\"deepest lowered and not looked at " +
			"again\") {\n",
	}}},
	{Name: "a first block that another reader has replaced", File: "readers.go", Edits: [][2]string{{
		"		r.first.CompareAndSwap(nil, ",
		"		if explore.Planted(\"a first block that another reader has replaced\") " +
			"{\n			r.first.Store(&block{slots: make([]slot, n)})\n		}\n		r.first.CompareAndSwap(nil, ",
	}}},
	{Name: "a pending slot counts as free", File: "readers.go", Edits: [][2]string{{
		"			if s.state.Load() == slotPending {\n",
		"			if s.state.Load() == slotPending && !explore.Planted(\"a pending slot counts as free\") {\n",
	}}},
})

// TestExplorePlantedFaultsOfSlots activates the faults and explores the slots.
func TestExplorePlantedFaultsOfSlots(t *testing.T) {
	explore.Plant(t, slotFaults, func(t *testing.T) { explore.MustFind(t, slotPrograms()) })
}
