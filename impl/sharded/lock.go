package sharded

import (
	"runtime"

	"github.com/informerbench/informerbench/internal/spin"
)

// Locks are held for about a microsecond, but a goroutine that queues for one waits
// longer, and makes others wait. When a writer unlocks an RWMutex, the queued readers hold
// the lock from that moment on, though they do not run yet. Each needs a processor first,
// which may take several time slices of 10 ms if there are more goroutines than processors.
// The next writer waits for that long. If such a reader also holds locks of other shards,
// so do the writers of those shards, and the readers behind them. (Seen beside 10 goroutines
// that loop List, on 2 busy processors: readers that queued while they held locks left a
// writer a twentieth of its writes, and readers that queued without other locks a fifth.)
//
// So readers do not queue at first. They try for a while, release the locks that they have,
// call Gosched, and begin again. Only after yields rounds of that, behind an AddIndexers for
// example, they queue, in the order of the shards, which rules out a deadlock.
//
// A writer tries for a while and then queues. That keeps further readers out, and as those
// call Gosched, the writer runs soon. If it called Gosched instead, it would queue for a
// processor behind all of them. A writer that needs several locks queues for one at a time
// while it holds none, for some rounds, and then in the order of the shards.
const (
	// yields is how often a reader calls Gosched before it queues: at most some milliseconds
	// of work.
	yields = 1000
	// rounds is how often several locks are tried before the writer queues for them while it
	// holds some.
	rounds = 16
)

// wait is a try in one go. It takes longer than a read of all shards, or a writer that
// copies chunks, keeps the lock.
var wait = spin.Wait{Tries: 300}

func (h *shard) tryLock() bool { return h.mu.TryLock() || wait.For(h.mu.TryLock) }

func (h *shard) tryRLock() bool { return h.mu.TryRLock() || wait.For(h.mu.TryRLock) }

func (h *shard) lock() {
	if !h.tryLock() {
		h.mu.Lock()
	}
}

func (h *shard) rlock() {
	for range yields {
		if h.tryRLock() {
			return
		}
		runtime.Gosched()
	}
	h.mu.RLock()
}

// rlockAll takes every shard's read lock. Once it has the last, no write can change the store.
func (s *Store) rlockAll() {
	for range yields {
		if s.tryRLockAll() {
			return
		}
		runtime.Gosched()
	}
	for i := range s.shards {
		s.shards[i].mu.RLock()
	}
}

// tryRLockAll takes all read locks or none.
func (s *Store) tryRLockAll() bool {
	for i := range s.shards {
		if !s.shards[i].tryRLock() {
			for had := range i {
				s.shards[had].mu.RUnlock()
			}
			return false
		}
	}
	return true
}

func (s *Store) runlockAll() {
	for i := range s.shards {
		s.shards[i].mu.RUnlock()
	}
}

// lockMany locks the given shards, which are in order.
func lockMany(shards []*shard) {
	for range rounds {
		busy := tryLockMany(shards)
		if busy == nil {
			return
		}
		busy.await()
	}
	for _, h := range shards {
		h.mu.Lock()
	}
}

// tryLockMany takes all locks and returns nil, or takes none and returns the shard
// that it could not lock.
func tryLockMany(shards []*shard) (busy *shard) {
	for i, h := range shards {
		if !h.tryLock() {
			unlockMany(shards[:i])
			return h
		}
	}
	return nil
}

// await queues for the lock and releases it at once.
func (h *shard) await() {
	h.mu.Lock()
	defer h.mu.Unlock()
}

func unlockMany(shards []*shard) {
	for _, h := range shards {
		h.mu.Unlock()
	}
}

// all returns all shards, as lockMany takes them.
func (s *Store) all() []*shard {
	shards := make([]*shard, len(s.shards))
	for i := range s.shards {
		shards[i] = &s.shards[i]
	}
	return shards
}
