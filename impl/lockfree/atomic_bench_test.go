package lockfree_test

// What the writer's atomic stores cost by themselves, which bounds how fast a small write can be.

import (
	"sync"
	"sync/atomic"
	"testing"
)

// BenchmarkAtomicStore stores into eight cache lines in turn, which no other goroutine looks at. An
// op of stores=28 is as many as a Delete and an Add make with two indexes.
func BenchmarkAtomicStore(b *testing.B) {
	var lines [8][8]uint64
	b.Run("plain", func(b *testing.B) {
		for i := uint64(0); b.Loop(); i++ {
			lines[i%8][0] = i
		}
	})
	b.Run("stores=1", func(b *testing.B) {
		for i := uint64(0); b.Loop(); i++ {
			atomic.StoreUint64(&lines[i%8][0], i)
		}
	})
	b.Run("stores=28", func(b *testing.B) {
		for b.Loop() {
			for i := range uint64(28) {
				atomic.StoreUint64(&lines[i%8][0], i)
			}
		}
	})
	for name, lock := range map[string]sync.Locker{"Mutex": new(sync.Mutex),
		"RWMutex": new(sync.RWMutex)} {
		b.Run("uncontended="+name, func(b *testing.B) {
			held := 0
			for b.Loop() {
				lock.Lock()
				held++
				lock.Unlock()
			}
		})
	}
}
