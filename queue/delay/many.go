package delay

import "github.com/informerbench/informerbench/contract"

var _ contract.BatchDelayHeap[string] = (*QuadHeap[string])(nil)

// AddMany adds items step by step: it does each step for all items before the next step.
// Among a million items each step of an Add is a cache miss, and its address comes from the
// step before. So a single Add waits for one miss after the other. The addresses of one step
// of many items are all known, so the processor waits for several misses together. Only
// the last step writes. It is Add, but reuses the slot that the earlier steps found.
//
// manyAtOnce is how many items go through the steps together. Eight are enough to hide
// what can be hidden.
const manyAtOnce = 16

// sought is what the steps know of an item. The last step moves no item to another slot, as
// it takes none out. Places change in it; they were read to have them in the cache.
type sought struct {
	at    int64
	tag   uint32
	slot  uint32 // of the first item with this tag, if likely
	place uint32 // of that slot; then of the one above it, if they change places
	above node
	// likely: an item with this tag waits. waits: it is the sought item. moves: its time is
	// later than the new one.
	likely, waits, moves bool
}

// tagMany does the steps that lead to the slots: the items' bytes, and their tags' cells.
func (s *items[T]) tagMany(batch []contract.Waiting[T], seek []sought) {
	for i := range batch {
		seek[i] = sought{tag: tagOf(s.seed, batch[i].Item)}
	}
	for i := range seek {
		// What the cell says is kept so that it is read at all.
		cells := s.index.segment(seek[i].tag).cells
		seek[i].slot = uint32(cells[seek[i].tag&uint32(len(cells)-1)])
	}
	for i := range seek {
		seek[i].slot, seek[i].likely = s.index.first(seek[i].tag)
	}
}

// first returns the first slot with a tag, if there is one.
func (t *table) first(tag uint32) (slot uint32, ok bool) {
	cells := t.segment(tag).cells
	mask := uint32(len(cells) - 1)
	for i := tag & mask; cells[i] != 0; i = (i + 1) & mask {
		t.did(1)
		if tagIn(cells[i]) == tag {
			return uint32(cells[i]) - 1, true
		}
	}
	return 0, false
}

// AddMany is Add of each of the items (DELAY-19), and takes about half as long as that where
// a million wait.
func (h *QuadHeap[T]) AddMany(items []contract.Waiting[T]) {
	var seek [manyAtOnce]sought
	for len(items) > 0 {
		n := min(len(items), manyAtOnce)
		h.addSome(items[:n], seek[:n])
		items = items[n:]
	}
}

func (h *QuadHeap[T]) addSome(batch []contract.Waiting[T], seek []sought) {
	h.items.tagMany(batch, seek)
	for i := range seek {
		if s := &seek[i]; s.likely {
			s.place = *h.order.place.At(s.slot)
		}
	}
	for i := range seek {
		s := &seek[i]
		s.at = h.epoch.of(batch[i].ReadyAt)
		s.waits = s.likely && *h.items.held.At(s.slot) == batch[i].Item
		if s.waits {
			s.moves = s.at < h.order.nodes.At(s.place).at
			s.above = *h.order.nodes.At(parent(s.place))
		}
	}
	for i := range seek {
		if s := &seek[i]; s.moves && s.at < s.above.at {
			s.place = *h.order.place.At(s.above.slot)
		}
	}
	for i := range seek {
		s, w := &seek[i], &batch[i]
		slot, waits := s.slot, s.waits
		if !waits {
			// Another one of the batch may have been the same item.
			slot, waits = h.items.findTagged(w.Item, s.tag)
		}
		if waits {
			h.earlier(slot, s.at, w.ReadyAt)
		} else {
			h.insert(w.Item, s.tag, s.at, w.ReadyAt)
		}
	}
}
