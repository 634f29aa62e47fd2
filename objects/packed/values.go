package packed

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"
)

// lists shares the index values that many records have in common. It is a cache without chains:
// a list that falls into a used place replaces the older one, which stays with its records.
type lists struct {
	places atomic.Pointer[[4096]atomic.Pointer[list]]
}

// list is the values of one slot, read-only.
type list []string

// laterSlot is the memory for a slot beyond the first two.
type laterSlot struct {
	number int
	values *list
	next   *laterSlot
}

// Values returns what compute returned for the object of kept in the first call with that slot, a
// number from 0 that the caller gives to each of its indexes. Later calls do not decode the object.
// An error is not remembered, and a value that is not a record has no memory: compute runs each
// time. The result is shared and read-only. It does not hold the object.
func (k *Keeper) Values(kept any, slot int, compute func(obj any) ([]string, error),
) ([]string, error) {
	r, ok := kept.(*record)
	if !ok || slot < 0 {
		return compute(k.Object(kept))
	}
	if known := r.known(slot); known != nil {
		return *known, nil
	}
	values, err := compute(r.object())
	if err != nil {
		return nil, err
	}
	return *r.remember(slot, k.lists.shared(values)), nil
}

func (r *record) known(number int) *list {
	if number < len(r.values) {
		return r.values[number].Load()
	}
	for s := r.more.Load(); s != nil; s = s.next {
		if s.number == number {
			return s.values
		}
	}
	return nil
}

// remember stores values unless another goroutine was first, and returns what is stored.
func (r *record) remember(number int, values *list) *list {
	if number < len(r.values) {
		if !r.values[number].CompareAndSwap(nil, values) {
			return r.values[number].Load()
		}
		return values
	}
	for {
		head := r.more.Load()
		if known := r.known(number); known != nil {
			return known
		}
		if r.more.CompareAndSwap(head, &laterSlot{number, values, head}) {
			return values
		}
	}
}

var listSeed = maphash.MakeSeed()

// shared returns a list that equals values, if possible one that another record has.
func (l *lists) shared(values []string) *list {
	places := l.places.Load()
	if places == nil {
		l.places.CompareAndSwap(nil, new([4096]atomic.Pointer[list]))
		places = l.places.Load()
	}
	hash := uint64(len(values))
	for _, v := range values {
		hash = hash*31 + maphash.String(listSeed, v)
	}
	place := &places[hash%uint64(len(places))]
	if known := place.Load(); known != nil && slices.Equal(*known, values) &&
		(*known == nil) == (values == nil) {
		return known
	}
	made := list(slices.Clone(values))
	for i := range made {
		made[i] = strings.Clone(made[i])
	}
	place.Store(&made)
	return &made
}
