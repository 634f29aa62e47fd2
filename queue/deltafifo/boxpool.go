package deltafifo

// Deltas of one delta each, handed out as interfaces for a quarter of an allocation each.

import (
	"reflect"

	"github.com/informerbench/informerbench/contract"
)

// boxesAtOnce is how many Deltas share two allocations. It also bounds waste: a caller that
// keeps one of them keeps the other seven, and their objects, alive.
const boxesAtOnce = 8

// boxPool makes Deltas of one delta. Each belongs to the caller that gets it, with no room
// to append into a neighbour. The zero value is ready.
type boxPool struct {
	slots contract.Deltas // each slot is written once
	boxes reflect.Value   // a [boxesAtOnce]contract.Deltas of the slots one by one
	next  int
}

// one returns Deltas{d}.
//
// To make an interface of a slice is to allocate the slice's header. But an array that is in
// an interface already never changes, so reflect refers to its element there and copies
// nothing. If reflect changed that, one would cost an allocation more and still be right;
// TestAllocations would fail.
func (c *boxPool) one(d contract.Delta) any {
	if c.next == len(c.slots) {
		c.refill()
	}
	c.slots[c.next] = d
	item := c.boxes.Index(c.next).Interface()
	c.next++
	return item
}

func (c *boxPool) refill() {
	c.slots = make(contract.Deltas, boxesAtOnce)
	var boxes [boxesAtOnce]contract.Deltas
	for i := range boxes {
		boxes[i] = c.slots[i : i+1 : i+1]
	}
	c.boxes = reflect.ValueOf(boxes)
	c.next = 0
}
