//go:build explore

package explore

import (
	"cmp"
	"hash/maphash"
	"iter"
	"maps"
	"slices"
)

// Point lets the scheduler decide which thread continues. Outside a run, and in goroutines
// while no thread runs, it does nothing.
func Point(name string) {
	if t := running; t != nil {
		t.pause(name, nil)
	}
}

// Await pauses the thread until ready returns true. ready runs between the steps of
// the threads and must have no side effects. Test programs use it in place of channels.
func Await(name string, ready func() bool) {
	if t := running; t != nil {
		t.pause(name, ready)
	}
}

// Uint32 returns the next random number of the run's seed; 0 in systematic runs.
func Uint32() uint32 {
	if draw := random; draw != nil {
		return draw.Uint32()
	}
	return 0
}

// Hash is FNV-1a with its bits mixed, because callers use upper and lower bits separately.
func Hash(_ maphash.Seed, s string) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range []byte(s) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// Ordered ranges over m in the order of its keys.
func Ordered[K cmp.Ordered, V any](m map[K]V) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// planted is the name of the active fault.
var planted string

// Planted reports whether the fault with this name is active. Only copies of source files
// that a test breaks on purpose call it (see Plant).
func Planted(name string) bool { return planted == name }
