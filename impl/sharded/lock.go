package sharded

// Locks are held for about a microsecond, but a goroutine that queues for one is out
// for longer: when it is woken it needs a processor too, and with more goroutines
// than processors that may be time slices of 10 ms later. It must not have other
// shards' locks in hand then: a reader that is put to sleep while it locks shard after
// shard would stop the writer at the next shard, and that would stop the next
// reader, and so on. (Readers that queued with locks in hand left a writer about a tenth of
// its writes, beside 10 goroutines that loop List on 2 busy processors.)
//
// So everybody first looks for a while whether the lock is free. Who wants several
// locks and cannot have one lets go of all, queues for that one alone, and begins
// again. After some rounds it queues for all in their order, so that it ends; the
// order is why nobody can wait in a circle.
const (
	// tries is how often a lock is looked at before queueing for it: longer than a
	// writer that copies chunks keeps it.
	tries = 300
	// rounds is how often many locks are tried for without queueing with locks in hand.
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
	if !h.tryRLock() {
		h.mu.RLock()
	}
}

// awaitWriter waits for whoever has the lock, and awaitAnybody for readers too.
func (h *shard) awaitWriter() {
	h.mu.RLock()
	defer h.mu.RUnlock()
}

func (h *shard) awaitAnybody() {
	h.mu.Lock()
	defer h.mu.Unlock()
}

// rlockAll takes every shard's read lock. Once it has the last, the store stands still.
func (s *Store) rlockAll() {
	for range rounds {
		busy := s.tryRLockAll()
		if busy == nil {
			return
		}
		busy.awaitWriter()
	}
	for i := range s.shards {
		s.shards[i].mu.RLock()
	}
}

// tryRLockAll returns nil if it has all read locks, and else the shard that it could
// not have, and has none.
func (s *Store) tryRLockAll() (busy *shard) {
	for i := range s.shards {
		if !s.shards[i].tryRLock() {
			for had := range i {
				s.shards[had].mu.RUnlock()
			}
			return &s.shards[i]
		}
	}
	return nil
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
		busy.awaitAnybody()
	}
	for _, h := range shards {
		h.mu.Lock()
	}
}

// tryLockMany returns nil if it has all locks, and else the shard that it could not
// have, and has none.
func tryLockMany(shards []*shard) (busy *shard) {
	for i, h := range shards {
		if !h.tryLock() {
			unlockMany(shards[:i])
			return h
		}
	}
	return nil
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
