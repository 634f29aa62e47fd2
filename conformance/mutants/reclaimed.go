package mutants

// Stores that free a replaced content themselves, as soon as no open read needs it. A store
// that keeps its contents outside the heap, or in a pool, has to do that.

import (
	"runtime"
	"sync"

	"github.com/informerbench/informerbench/contract"
)

// reclaiming is a sound store. Each read announces itself. A writer empties a replaced
// content when no read is open that began while that content was the newest. Its steps are fields
// so that a mutant can replace one.
type reclaiming struct {
	*snapshots
	mu struct {
		sync.Mutex
		seq     uint64         // of the newest write
		born    uint64         // the write from which on the newest content is read
		open    map[uint64]int // reads, by the write that was the newest when they began
		retired []retired
	}
	// indexed is told under the lock that AddIndexers has indexed the newest content.
	indexed func()
}

// retired is a content that reads of the writes born to died-1 go through.
type retired struct {
	*content
	born, died uint64
}

func newReclaiming(ix contract.Indexers) *reclaiming {
	r := &reclaiming{snapshots: newSnapshots(ix), indexed: func() {}}
	r.mu.open = map[uint64]int{}
	r.write, r.objects = r.writeAndReclaim, r.read
	return r
}

func (r *reclaiming) writeAndReclaim(change func(*content)) {
	r.writers.Lock()
	defer r.writers.Unlock()
	old := r.now.Load()
	next := *old
	change(&next)

	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.seq++
	r.now.Store(&next)
	r.mu.retired = append(r.mu.retired, retired{old, r.mu.born, r.mu.seq})
	r.mu.born = r.mu.seq
	r.reclaimLocked()
}

func (r *reclaiming) reclaimLocked() {
	waiting := r.mu.retired[:0]
	for _, old := range r.mu.retired {
		if r.isOpenLocked(old.born, old.died) {
			waiting = append(waiting, old)
		} else {
			old.chunks = [chunks]map[string]any{}
		}
	}
	clear(r.mu.retired[len(waiting):])
	r.mu.retired = waiting
}

func (r *reclaiming) isOpenLocked(from, to uint64) bool {
	for seq := range r.mu.open {
		if seq >= from && seq < to {
			return true
		}
	}
	return false
}

// read looks through the content that is the newest when it begins.
func (r *reclaiming) read() (all []keyed) {
	r.mu.Lock()
	seq, mine := r.mu.seq, r.now.Load()
	r.mu.open[seq]++
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.mu.open[seq]--; r.mu.open[seq] == 0 {
			delete(r.mu.open, seq)
		}
	}()
	for i := range chunks {
		all = append(all, mine.chunk(i)...)
		runtime.Gosched() // so as not to hold the processor for all of a long list
	}
	return all
}

// AddIndexers leaves the objects where they are, and publishes the same content.
func (r *reclaiming) AddIndexers(ix contract.Indexers) error {
	r.writers.Lock()
	defer r.writers.Unlock()
	indexed := &content{indexers: r.now.Load().indexers, chunks: r.now.Load().chunks}
	if err := indexed.addIndexers(ix); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.Load().indexers = indexed.indexers
	r.indexed()
	return nil
}

func reclaimingStores() []Mutant {
	m := mutant(contract.ComponentStore, "indexed content is new content",
		"AddIndexers stamps the content that it indexes with its own time, so the reads that began "+
			"before it no longer keep the content", "STORE-44")
	m.NewStore = func(ix contract.Indexers) contract.Store {
		r := newReclaiming(ix)
		r.indexed = func() {
			r.mu.seq++
			r.mu.born = r.mu.seq
		}
		return r
	}
	return []Mutant{m}
}
