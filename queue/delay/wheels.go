package delay

import "math/bits"

const (
	// A level has 256 slots, chosen by 8 bits of the tick. More slots would mean fewer
	// moves and longer ones: what lies beyond a level's range is shared out at once
	// when the hand gets there.
	digitBits = 8
	digitMask = 1<<digitBits - 1
	levels    = 64 / digitBits
)

// wheels is the levels of a Wheel. They are of 256 slots each; a slot of level l is
// 256^l ticks wide.
//
// An item lies on the level of the highest digit in which its tick differs from the hand
// (level 0 if none does), in the slot of that digit. No item's tick is before the hand. So
// all of a level comes before all of the next, its slots come in order, and on level 0
// a slot is a tick. When the hand moves it moves to the beginning of the first slot of the
// lowest level that is not empty, whose items then differ from it in lower
// digits; those of all other slots differ from it as they did before.
//
// Slots that are empty are skipped by bitmaps: the cost does not grow with the time
// between two items.
type wheels struct {
	work
	n        int    // items on all levels
	hand     uint64 // a biased tick
	occupied uint8  // bit l is set while level l has items
	level    [levels]level
}

type level struct {
	occupied [1 << digitBits / 64]uint64 // a bit for each slot with items
	// first and last are the ends of each slot's list, in the order of arrival: an item's slot
	// plus one; 0 for none.
	first, last [1 << digitBits]uint32
}

// biased is a tick as an unsigned number of the same order.
func biased(tick int64) uint64 { return uint64(tick) ^ 1<<63 }

// place is the level and slot of a tick that is not before the hand.
func (w *wheels) place(tick int64) (l, digit uint) {
	b := biased(tick)
	if differs := b ^ w.hand; differs > digitMask {
		l = uint(bits.Len64(differs)-1) / digitBits
	}
	return l, uint(b>>(digitBits*l)) & digitMask
}

// link puts an item into the slot of its tick, behind those that are there.
//
// Items of one tick are always in one slot, since the slot follows from the tick and the
// hand. When the hand moves, they move together and in their order. So they stay in the
// order in which they were linked.
func (w *wheels) link(spots *list[spot], item uint32) {
	w.did(1)
	s := spots.at(item)
	l, digit := w.place(s.tick)
	lv := &w.level[l]
	s.prev, s.next = lv.last[digit], 0
	if s.prev != 0 {
		spots.at(s.prev - 1).next = item + 1
	} else {
		lv.first[digit] = item + 1
	}
	lv.last[digit] = item + 1
	lv.occupied[digit/64] |= 1 << (digit % 64)
	w.occupied |= 1 << l
	w.n++
}

func (w *wheels) unlink(spots *list[spot], item uint32) {
	s := spots.at(item)
	w.join(spots, s, s.prev, s.next)
	if s.prev == 0 && s.next == 0 {
		w.emptied(w.place(s.tick))
	}
	w.n--
}

// rename repairs the links to an item that was copied into slot item from another slot.
func (w *wheels) rename(spots *list[spot], item uint32) {
	w.join(spots, spots.at(item), item+1, item+1)
}

// join sets the link to s in the item before it to next, and in the item behind it to prev.
// At an end of the list, it sets the list's first or last.
func (w *wheels) join(spots *list[spot], s *spot, prev, next uint32) {
	if s.prev != 0 {
		spots.at(s.prev - 1).next = next
	} else {
		l, digit := w.place(s.tick)
		w.level[l].first[digit] = next
	}
	if s.next != 0 {
		spots.at(s.next - 1).prev = prev
	} else {
		l, digit := w.place(s.tick)
		w.level[l].last[digit] = prev
	}
}

// emptied clears the bits of a slot that has no items left.
func (w *wheels) emptied(l, digit uint) {
	lv := &w.level[l]
	lv.occupied[digit/64] &^= 1 << (digit % 64)
	if lv.occupied == ([1 << digitBits / 64]uint64{}) {
		w.occupied &^= 1 << l
	}
}

// first returns an item of the earliest tick; there must be one. It moves the hand to
// within 256 ticks of it.
func (w *wheels) first(spots *list[spot]) uint32 {
	for {
		l := uint(bits.TrailingZeros8(w.occupied))
		digit := w.level[l].lowest()
		if l == 0 {
			return w.level[0].first[digit] - 1
		}
		w.shareOut(spots, l, digit)
	}
}

// lowest is the first slot with items; the level must have some.
func (lv *level) lowest() uint {
	for i, word := range lv.occupied {
		if word != 0 {
			return uint(64*i + bits.TrailingZeros64(word))
		}
	}
	panic("delay: a level of the wheel is noted as occupied and has no items")
}

// appendAll appends all items to a slice, those of each slot in their order.
func (w *wheels) appendAll(spots *list[spot], to []uint32) []uint32 {
	for l := range w.level {
		for _, first := range w.level[l].first {
			for link := first; link != 0; link = spots.at(link - 1).next {
				to = append(to, link-1)
			}
		}
	}
	return to
}

// shareOut moves the hand to the beginning of a slot, which must be the first of the
// lowest level that has any, and its items to lower levels.
func (w *wheels) shareOut(spots *list[spot], l, digit uint) {
	above := digitBits * (l + 1)
	w.hand = w.hand>>above<<above | uint64(digit)<<(digitBits*l)
	next := w.level[l].first[digit]
	w.level[l].first[digit], w.level[l].last[digit] = 0, 0
	w.emptied(l, digit)
	for next != 0 {
		item := next - 1
		next = spots.at(item).next
		w.n--
		w.link(spots, item)
	}
}
