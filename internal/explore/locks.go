package explore

import (
	"slices"
	"sync"
)

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
