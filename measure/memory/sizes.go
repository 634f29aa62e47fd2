package memory

import (
	"reflect"
	"slices"
	"sync"
)

// The bounds of Go's allocator (internal/runtime/gc).
const (
	largestClass = 32 << 10 // larger objects take whole pages
	pageBytes    = 8 << 10
	headerFrom   = 512 // larger objects with pointers have a header of a word
	tinyBytes    = 16  // objects below this size without pointers share a block of this size
)

// classes are the sizes that the allocator rounds up to, found by asking it.
var classes = sync.OnceValue(func() (out []int) {
	for n := 1; n <= largestClass; n = out[len(out)-1] + 1 {
		out = append(out, cap(append([]byte(nil), make([]byte, n)...)))
	}
	return out
})

// slot is what an allocation of n bytes takes.
func slot(n int, pointers bool) int {
	if pointers && n > headerFrom && n <= largestClass-8 {
		n += 8
	}
	if n > largestClass {
		return (n + pageBytes - 1) / pageBytes * pageBytes
	}
	if n <= 0 {
		return 0
	}
	at, _ := slices.BinarySearch(classes(), n)
	return classes()[at]
}

// tinyBlock is how the allocator shares blocks among small allocations.
type tinyBlock struct{ used int }

// take returns what one more allocation of n bytes without pointers takes.
func (t *tinyBlock) take(n int) int {
	if n == 0 {
		return 0
	}
	if n >= tinyBytes {
		return slot(n, false)
	}
	align := 1
	for align < 8 && n%(2*align) == 0 {
		align *= 2
	}
	at := (t.used + align - 1) / align * align
	if t.used == 0 || at+n > tinyBytes {
		t.used = n
		return tinyBytes
	}
	t.used = at + n
	return 0
}

// Maps of Go (internal/runtime/maps): a header, groups of eight slots, and for more than eight
// entries tables of groups, which are at most 7/8 full and at most 1,024 slots large.
const (
	mapHeader, tableHeader, tableFullest, largestTable = 48, 32, 0.875, 1024
	groupSlots                                         = 8
	inlineMost                                         = 128 // larger keys and values lie elsewhere
)

// mapSlots is what a map of n entries takes that grew one by one, keys and values in its slots
// included.
func mapSlots(t reflect.Type, n int) int {
	entry := 0
	for _, of := range []reflect.Type{t.Key(), t.Elem()} {
		if of.Size() > inlineMost {
			entry += 8
		} else {
			entry += int(of.Size())
		}
	}
	group := groupSlots + groupSlots*entry
	switch {
	case n == 0:
		return slot(mapHeader, true)
	case n <= groupSlots:
		return slot(mapHeader, true) + slot(group, true)
	}
	slots, tables := 2*groupSlots, 1
	for float64(slots)*tableFullest < float64(n) {
		slots *= 2
	}
	if slots > largestTable {
		tables, slots = slots/largestTable, largestTable
	}
	return slot(mapHeader, true) + slot(8*tables, true) +
		tables*(slot(tableHeader, true)+slot(slots/groupSlots*group, true))
}

// hasPointers says whether the collector looks into values of a type.
func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	}
	return t.Kind() > reflect.Complex128 // strings, slices, maps, pointers and the like
}
