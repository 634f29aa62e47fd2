package delay

import (
	"math"
	"time"

	"github.com/informerbench/informerbench/contract"
)

var (
	_ contract.DelayHeap[string] = (*Wheel[string])(nil)
	_ contract.ArrivalOrdered    = (*Wheel[string])(nil)
)

// Wheel is a hierarchical timing wheel (Varghese and Lauck, "Hashed and Hierarchical
// Timing Wheels", SOSP 1987): an item lies in the list of a slot, and items of a wide
// slot are shared out over narrower ones when its turn comes.
//
// It counts time in ticks of its granularity. An item's time is rounded up to a tick:
// it is never ready early, and ready less than one granularity late. Times are
// kept to the tick, so PopReady at the time of Next always finds an item, and Next is less
// than one granularity after the earliest time waiting. With a granularity of a
// nanosecond nothing is rounded, and the order is exact; that is the multi-level
// bucket structure of Denardo and Fox (Operations Research 27(1), 1979).
//
// To tell Next exactly, the wheel must share out the earliest wide slot before its time has
// come, and its hand runs ahead to there. An item that is added for an earlier
// time than the hand's then waits aside, in a heap, as do those 292 years away. There
// are few of them, unless items are added in the order of falling times: then it is a
// heap with a wheel behind it.
//
// Its methods must not be called at the same time.
type Wheel[T comparable] struct {
	granularity int64
	epoch       epoch
	items       items[T]
	spots       list[spot] // by slot
	wheels      wheels
	aside       quad
}

// spot is what is known of an item.
type spot struct {
	tick int64
	// next and prev are the neighbours in a wheel's list, as slots plus one; 0 at its ends.
	next, prev uint32
}

const (
	// Items before the hand wait aside. The wheel is built anew, with the hand at the earliest
	// item, when at least asideFew items wait aside and they are one in asideShare of all: then
	// each of them pays for asideShare moves. A wheel of more than resetMost items is not built
	// anew, because that would take too long at once.
	asideFew, asideShare, resetMost = 64, 16, 4096
)

// NewWheel returns an empty wheel. The granularity must be above 0.
func NewWheel[T comparable](granularity time.Duration) *Wheel[T] {
	if granularity <= 0 {
		panic("delay: the granularity of a wheel must be above 0, not " + granularity.String())
	}
	return &Wheel[T]{granularity: int64(granularity), epoch: newEpoch(), items: newItems[T](),
		aside: newQuad()}
}

// Granularity is how far from its time an item may become ready: less than this after.
func (w *Wheel[T]) Granularity() time.Duration { return time.Duration(w.granularity) }

// Add makes item wait until readyAt, rounded up. An item that waits already keeps the
// earlier of the two times (DELAY-3). Cost O(1), and O(log m) with m waiting aside; now and then
// a wheel of up to 4,096 items is built anew.
func (w *Wheel[T]) Add(item T, readyAt time.Time) {
	tick := w.tickAfter(readyAt)
	tag, slot, waits := w.items.find(item)
	if !waits {
		slot = w.items.add(item, tag)
		w.spots.push(spot{tick: tick})
		w.aside.place.push(0)
	} else {
		if !w.aside.far.earlier(tick, readyAt, w.spots.at(slot).tick, slot) {
			return
		}
		w.takeOut(slot)
		w.spots.at(slot).tick = tick
	}
	w.aside.far.set(slot, tick, readyAt)
	w.put(slot, tick)
}

// put gives a slot its place.
func (w *Wheel[T]) put(slot uint32, tick int64) {
	if isFar(tick) {
		w.aside.push(slot, tick)
		return
	}
	if w.wheels.n == 0 {
		w.wheels.hand = biased(tick) &^ digitMask // an empty wheel may begin anywhere
	}
	if biased(tick) >= w.wheels.hand {
		w.wheels.link(&w.spots, slot)
		return
	}
	w.aside.push(slot, tick)
	if n := w.aside.len() - w.aside.far.len(); n >= asideFew && n >= w.items.len()/asideShare &&
		w.items.len() <= resetMost {
		w.reset()
	}
}

// reset puts the hand back to the earliest item, and each item in its place. Items of one
// tick keep the order of arrival.
func (w *Wheel[T]) reset() {
	earliest := int64(math.MaxInt64)
	for slot := range uint32(w.spots.n) {
		if s := w.spots.at(slot); !isFar(s.tick) {
			earliest = min(earliest, s.tick)
		}
	}
	// Of one tick, the items aside came before those in the wheels: see earliest.
	order := make([]uint32, 0, w.items.len())
	for w.aside.len() > 0 {
		order = append(order, w.aside.first().slot)
		w.aside.remove(top)
	}
	order = w.wheels.appendAll(&w.spots, order)
	w.wheels = wheels{work: w.wheels.work, hand: biased(earliest) &^ digitMask}
	for _, slot := range order {
		if tick := w.spots.at(slot).tick; isFar(tick) {
			w.aside.push(slot, tick)
		} else {
			w.wheels.link(&w.spots, slot)
		}
	}
}

// takeOut takes a slot out of its place.
func (w *Wheel[T]) takeOut(slot uint32) {
	if p := *w.aside.place.at(slot); p != 0 {
		w.aside.remove(p)
	} else {
		w.wheels.unlink(&w.spots, slot)
	}
}

// earliest returns the slot that is ready first; something must wait.
//
// Of two items of one tick, the one aside came first. It went aside because its tick was
// before the hand, and the hand never passes an item in the wheels. So the other one was not
// in the wheels then: it came after the hand was put back.
func (w *Wheel[T]) earliest() uint32 {
	if w.aside.len() == 0 {
		return w.wheels.first(&w.spots)
	}
	first := w.aside.first()
	if w.wheels.n == 0 || biased(first.at) < w.wheels.hand {
		return first.slot
	}
	slot := w.wheels.first(&w.spots)
	if first.at <= w.spots.at(slot).tick {
		return first.slot
	}
	return slot
}

// Next returns the earliest time waiting, rounded up, and false while nothing waits.
// The first call after the earliest items are gone may share out a slot; unless the wheel is built
// anew, each item is moved at most once per level below the one where it began, which is at most
// seven times and, with a millisecond and delays of minutes, twice.
func (w *Wheel[T]) Next() (readyAt time.Time, ok bool) {
	if w.items.len() == 0 {
		return time.Time{}, false
	}
	slot := w.earliest()
	tick := w.spots.at(slot).tick
	if isFar(tick) {
		return w.aside.far.of(slot), true
	}
	return w.epoch.time(tick * w.granularity), true
}

// PopReady takes out an item of the earliest tick if that is not after now. Cost as Next.
func (w *Wheel[T]) PopReady(now time.Time) (item T, ok bool) {
	if w.items.len() == 0 {
		return item, false
	}
	slot := w.earliest()
	if !w.aside.far.ready(slot, w.spots.at(slot).tick, w.tickBefore(now), now) {
		return item, false
	}
	w.takeOut(slot)
	w.aside.far.forget(slot)
	item, last := w.items.remove(slot)
	if last != slot {
		w.rename(last, slot)
	}
	w.spots.pop()
	w.aside.place.pop()
	return item, true
}

// rename moves what is known of the item in slot from, the last slot, to slot to.
func (w *Wheel[T]) rename(from, to uint32) {
	*w.spots.at(to) = *w.spots.at(from)
	w.aside.rename(from, to)
	if *w.aside.place.at(to) == 0 {
		w.wheels.rename(&w.spots, to)
	}
}

// InArrivalOrder says that what is ready at the same tick comes out in the order of
// arrival (DELAY-20).
func (w *Wheel[T]) InArrivalOrder() {}

// Len returns how many items wait.
func (w *Wheel[T]) Len() int { return w.items.len() }

// tickAfter is the first tick that is not before t. A time whose tick would end beyond
// the 64 bits is far.
func (w *Wheel[T]) tickAfter(t time.Time) int64 {
	tick, beyond := w.tick(t)
	if beyond > 0 {
		tick++
	}
	return tick
}

// tickBefore is the last tick that is not after now.
func (w *Wheel[T]) tickBefore(now time.Time) int64 {
	tick, beyond := w.tick(now)
	if beyond < 0 {
		tick--
	}
	return tick
}

// tick is t in ticks, rounded towards the epoch, and how far t lies beyond that tick in
// nanoseconds: more than 0 after the epoch, less before it. What has no tick is itself.
func (w *Wheel[T]) tick(t time.Time) (tick, beyond int64) {
	at := w.epoch.of(t)
	switch {
	case isFar(at):
		return at, 0
	case at > math.MaxInt64-w.granularity:
		return math.MaxInt64, 0
	case at < math.MinInt64+w.granularity:
		return math.MinInt64, 0
	}
	return at / w.granularity, at % w.granularity
}
