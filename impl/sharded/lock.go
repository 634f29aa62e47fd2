package sharded

import "runtime"

// Locks are held for about a microsecond, but a goroutine that queues for one is out
// for longer, and not alone. When a writer lets go of an RWMutex, the readers in its
// queue have the lock from that moment on, not from when they run: and for that they
// need a processor, which may be time slices of 10 ms later if there are more
// goroutines than processors. So long the writer stands still, and if a reader has
// locks of other shards in hand meanwhile, so does the next writer, and the next
// reader behind that. (Seen beside 10 goroutines that loop List, on 2 busy processors:
// readers that queued with locks in hand left a writer a twentieth of its writes, and
// readers that queued without others in hand a fifth.)
//
// So readers do not queue. They try for a while, let go of what they have, let others
// run, and begin again. Only after yields of that, behind an AddIndexers for example,
// they do queue, in the order of the shards, which is why nobody can wait in a circle.
//
// A writer tries for a while and then queues: that keeps further readers out, and as
// those let others run, it comes to its turn soon. If it let others run instead, it
// would stand behind all of them. Who wants several locks queues for one at a time
// with none in hand, for some rounds, and then in the order of the shards.
const (
	// tries is how often a lock is looked at in one go: longer than a read of all
	// shards, or a writer that copies chunks, keeps it.
	tries = 300
	// yields is how often a reader lets others run: at most some milliseconds of work.
	yields = 1000
	// rounds is how often several locks are tried for with none in hand.
	rounds = 16
)

func (h *shard) tryLock() bool {
	for range tries {
		if h.mu.TryLock() {
			return true
		}
	}
	return false
}

func (h *shard) tryRLock() bool {
	for range tries {
		if h.mu.TryRLock() {
			return true
		}
	}
	return false
}

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

// rlockAll takes every shard's read lock. Once it has the last, the store stands still.
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

// await returns when the lock has been free.
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
