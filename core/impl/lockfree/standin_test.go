package lockfree

import (
	"slices"
	"testing"
)

// A stand-in that was taken from its cell is used again when no reader can hold it, and
// not where one may.
func TestStandInsAreUsedAgainUnlessRead(t *testing.T) {
	t.Parallel()
	s := filled()
	v := s.view.Load()
	spares := &v.write.spares.standIns
	move := func(group string) { s.Update("7", thing{1, group}) }

	move("g1")
	first := slices.Clone(spares.retired)
	if len(first) == 0 || len(spares.free) > 0 {
		t.Fatalf("a move leaves %d stand-ins retired and %d free; want some and none", len(first), len(spares.free))
	}
	move("g2")
	if !slices.Equal(spares.free, first) {
		t.Error("the stand-ins are not free after a write that met no reader")
	}
	for _, n := range first {
		if n.of != nil || n.past() != nil {
			t.Error("a free stand-in keeps something alive")
		}
	}
	move("g3")
	for _, n := range spares.retired {
		if !slices.Contains(first, n) {
			t.Error("a stand-in was made though one was free")
		}
	}

	// A reader who came before the slots were looked at may have found them in the cells.
	held := slices.Clone(spares.retired)
	slot, _ := v.readers.acquire(&v.committed)
	wasSeq := held[0].seq
	move("g4")
	move("g5")
	slot.release(0)
	move("g6")
	move("g7")
	for _, n := range held {
		if n.seq != wasSeq || slices.Contains(spares.free, n) || slices.Contains(spares.retired, n) {
			t.Error("a stand-in that a reader may hold was used again")
		}
	}
	wantNothingKept(t, s)
}
