//go:build explore

package lockfree

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/informerbench/informerbench/internal/explore"
)

// stampsAlone is the resource version without a store around it: writes n, from 2 up, each in
// place if inPlace says so and no reader is about. A reader's resource version must be that
// of a write that was visible when it began, or of a later one that had begun when it ended.
func stampsAlone(name string, writes, visits int, inPlace func(n uint64) bool) explore.Program {
	return explore.Program{Name: name, New: func() ([]func(), func() error) {
		var (
			readers        = &readers{}
			committed      atomic.Uint64
			r              resourceVersion
			object         = &record{data: wordsOf(new(int)).data}
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
				if n, err := strconv.ParseUint(rv, 10, 64); failed == nil &&
					(err != nil || n < from || n > begun) {
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

// TestExploreInterleavingsOfStamps: a reader finds the resource version of a moment within its
// call.
func TestExploreInterleavingsOfStamps(t *testing.T) {
	explore.Suite{Programs: stampPrograms(), Share: 0.03}.Check(t)
}

// stampFaults are mistakes in how stamps are found and used again.
var stampFaults = explore.Faults([]explore.Fault{
	{Name: "a stamp used again at once", File: "resourceversion.go", Edits: [][2]string{{
		"	if r.former != nil {",
		"	if explore.Planted(\"a stamp used again at once\") {\n		*newest = stamp{}\n		r.former, " +
			"r.free = nil, newest\n		return\n	}\n	if r.former != nil {",
	}}},
	{Name: "a stamp that is not newest any more", File: "resourceversion.go", Edits: [][2]string{{
		"	if r.newest.Load() != s {\n",
		"	if r.newest.Load() != s && !explore.Planted(\"a stamp that is not newest any more\") {\n",
	}}},
	{Name: "a stamp cut off before another is newest", File: "resourceversion.go", Edits: [][2]string{{
		"	r.newest.Store(s)\n",
		"	if explore.Planted(\"a stamp cut off before another is newest\") " +
			"{\n		newest.before.Store(nil)\n	}\n	r.newest.Store(s)\n",
	}}},
})

// TestExplorePlantedFaultsOfStamps activates the faults and explores the stamps.
func TestExplorePlantedFaultsOfStamps(t *testing.T) {
	explore.Plant(t, stampFaults, func(t *testing.T) {
		explore.MustFind(t, stampPrograms())
	})
}
