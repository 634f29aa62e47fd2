package explore

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"math/rand/v2"
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

// At is a point before what is done with p, such as an atomic operation. Rewritten code calls
// it (see Instrument).
func At[T any](name string, p *T) *T {
	Point(name)
	return p
}

// Arg is a point between the computation of an argument and the call that takes it.
func Arg[T any](name string, arg T) T {
	Point(name)
	return arg
}

// Rand draws from the run's seed; systematic runs draw zeros.
func Rand() *rand.Rand {
	if random != nil {
		return random
	}
	return rand.New(zeros{})
}

type zeros struct{}

func (zeros) Uint64() uint64 { return 0 }

// HashOf stands for maphash.Comparable.
func HashOf[T comparable](seed maphash.Seed, v T) uint64 { return Hash(seed, fmt.Sprint(v)) }

// Hash stands for maphash.String, and gives each string the same hash in every run. It is FNV-1a
// with its bits mixed, because callers use upper and lower bits separately.
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
			if v, ok := m[k]; ok && !yield(k, v) {
				return
			}
		}
	}
}
