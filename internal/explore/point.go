package explore

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
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

// Mutex is a lock whose waits are visible to the scheduler. Outside a run it never waits,
// because no other thread runs beside its holder.
type Mutex struct{ locked bool }

// Lock waits until the lock is free.
func (m *Mutex) Lock() {
	Await("lock", m.free)
	m.locked = true
}

// TryLock takes the lock if it is free. It is a step only if the lock is free at the call.
// A goroutine that tries in vain makes no steps; its code then calls Lock.
func (m *Mutex) TryLock() bool {
	if m.locked {
		return false
	}
	Point("trylock")
	if m.locked {
		return false
	}
	m.locked = true
	return true
}

// Unlock frees the lock.
func (m *Mutex) Unlock() {
	if !m.locked && !unwinding() {
		panic("explore: unlock of unlocked mutex")
	}
	m.locked = false
}

func (m *Mutex) free() bool { return !m.locked }

// RWMutex is a Mutex for readers and writers. Unlike sync.RWMutex it lets a reader in
// before a waiting writer.
type RWMutex struct {
	locked  bool
	readers int
}

// Lock waits until the lock is free.
func (m *RWMutex) Lock() {
	Await("lock", func() bool { return !m.locked && m.readers == 0 })
	m.locked = true
}

// Unlock frees the lock.
func (m *RWMutex) Unlock() { m.locked = false }

// RLock waits until no writer holds the lock.
func (m *RWMutex) RLock() {
	Await("rlock", func() bool { return !m.locked })
	m.readers++
}

// RUnlock releases a reader's hold.
func (m *RWMutex) RUnlock() { m.readers-- }

// Cond is sync.Cond for a Mutex. Signal wakes the thread that has waited longest.
type Cond struct {
	L     sync.Locker
	queue []*bool // false: not woken yet
}

// NewCond returns a Cond with a lock.
func NewCond(l sync.Locker) *Cond { return &Cond{L: l} }

// Wait frees L, waits to be woken, and takes L again.
func (c *Cond) Wait() {
	Point("waits") // a wake-up here comes too early
	woken := false
	c.queue = append(c.queue, &woken)
	c.L.Unlock()
	Await("wait", func() bool { return woken })
	c.L.Lock()
}

// Signal wakes one waiting thread, if there is one.
func (c *Cond) Signal() {
	Point("signal")
	if len(c.queue) > 0 {
		*c.queue[0] = true
		c.queue = slices.Delete(c.queue, 0, 1)
	}
}

// Broadcast wakes all waiting threads.
func (c *Cond) Broadcast() {
	Point("broadcast")
	for _, woken := range c.queue {
		*woken = true
	}
	c.queue = nil
}
