package delay

import (
	"hash/maphash"

	"github.com/informerbench/informerbench/internal/pieces"
)

// items holds the items that wait, each in a slot, and finds the slot of an item. The
// structure keeps the times and links of the items in lists of its own, by slot.
//
// Slots are numbered without a gap: when an item is removed, the last item moves into its
// slot. So memory follows the number of items, nothing is ever compacted, and the longest
// operation copies one piece of a list or one segment of the table.
//
// Per item: its own size, 4 bytes of hash and, at a load between 13/32 and 13/16, 10 to
// 20 bytes of the table. There may be 2^30 items.
type items[T comparable] struct {
	seed  maphash.Seed
	index table
	held  pieces.List[T]
	tags  pieces.List[uint32]
}

func newItems[T comparable]() items[T] {
	return items[T]{seed: maphash.MakeSeed(), index: newTable()}
}

func (s *items[T]) len() int { return s.held.Len() }

// find returns the slot of an item, if it is there, and its tag in any case.
func (s *items[T]) find(item T) (tag, slot uint32, ok bool) {
	tag = tagOf(s.seed, item)
	slot, ok = s.findTagged(item, tag)
	return tag, slot, ok
}

// findTagged is find where the item's tag is known.
func (s *items[T]) findTagged(item T, tag uint32) (slot uint32, ok bool) {
	cells := s.index.segment(tag).cells
	mask := uint32(len(cells) - 1)
	for i := tag & mask; cells[i] != 0; i = (i + 1) & mask {
		s.index.did(1)
		if tagIn(cells[i]) != tag {
			continue
		}
		if slot = uint32(cells[i]) - 1; *s.held.At(slot) == item {
			return slot, true
		}
	}
	return 0, false
}

// add gives an item that is not there the next slot, which is len() before.
func (s *items[T]) add(item T, tag uint32) (slot uint32) {
	slot = uint32(s.held.Len())
	s.index.insert(tag, slot)
	s.held.Push(item)
	s.tags.Push(tag)
	return slot
}

// remove takes the item of a slot out. The item of slot last is in its slot then; the
// structure must move what it knows of it likewise, unless they are the same.
func (s *items[T]) remove(slot uint32) (item T, last uint32) {
	last = uint32(s.held.Len() - 1)
	item = *s.held.At(slot)
	s.index.remove(*s.tags.At(slot), slot)
	if slot != last {
		s.index.rename(*s.tags.At(last), last, slot)
		*s.held.At(slot) = *s.held.At(last)
		*s.tags.At(slot) = *s.tags.At(last)
	}
	s.held.Pop()
	s.tags.Pop()
	return item, last
}
