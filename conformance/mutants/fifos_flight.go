package mutants

// FIFOs that are wrong in what they do while process has an item.

import (
	"errors"
	"slices"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/internal/fifomodel"
	"github.com/informerbench/informerbench/contract"
)

// unlock has f give back its lock while process runs, and lets HasSynced wait for
// process all the same. after is called with the lock, with what process returned.
func unlock(f *fifo, m *fifomodel.Model, after func(g fifomodel.Group, err error) error) {
	f.take = func() (g fifomodel.Group, isInitial bool) {
		left := m.Left
		g, isInitial = m.Pop()
		m.Left = left // until it is processed
		return g, isInitial
	}
	f.handle = func(process contract.PopProcessFunc, g fifomodel.Group, isInitial bool) (err error) {
		counted := m.Left > 0
		f.mu.Unlock()
		defer func() {
			f.mu.Lock()
			if counted {
				m.Left--
			}
			err = after(g, err)
		}()
		return process(g.Deltas, isInitial)
	}
}

// listsWait makes lists and deletions that come while process runs wait until it has
// returned, but nothing that comes behind them.
func listsWait(f *fifo, m *fifomodel.Model) {
	var deferred []func()
	running := 0
	unlock(f, m, func(_ fifomodel.Group, err error) error {
		running--
		for _, do := range deferred {
			do()
		}
		deferred = nil
		return err
	})
	handle, produce, replace, resync := f.handle, f.produce, f.replace, f.resync
	f.handle = func(process contract.PopProcessFunc, g fifomodel.Group, isInitial bool) error {
		running++
		return handle(process, g, isInitial)
	}
	later := func(do func()) {
		if running > 0 {
			deferred = append(deferred, do)
			return
		}
		do()
	}
	f.produce = func(kind contract.DeltaType, key string, obj any) {
		if kind == contract.Deleted {
			later(func() { produce(kind, key, obj) })
			return
		}
		produce(kind, key, obj)
	}
	f.replace = func(list []any, rv string) { later(func() { replace(list, rv) }) }
	f.resync = func() { later(resync) }
}

// popsAfter takes an item out of the queue when it was processed, and with it what
// came for its key meanwhile.
type popsAfter struct{ *fifo }

func (f popsAfter) Pop(process contract.PopProcessFunc) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.waitLocked(); err != nil {
		return nil, err
	}
	m := &f.mu.model
	g, isInitial := m.Waiting[0], !m.Synced()
	defer m.Pop()
	f.mu.Unlock()
	defer f.mu.Lock()
	return g.Deltas, process(g.Deltas, isInitial)
}

// everythingAtOnce has a PopBatch that hands out all that waits.
type everythingAtOnce struct{ *fifo }

func (f everythingAtOnce) PopBatch(batch contract.ProcessBatchFunc,
	single contract.PopProcessFunc) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.waitLocked(); err != nil {
		return err
	}
	var all contract.Deltas
	var isInitial bool
	for len(f.mu.model.Waiting) > 0 {
		var g fifomodel.Group
		g, isInitial = f.take()
		all = append(all, g.Deltas...)
	}
	if len(all) == 1 {
		return single(all, isInitial)
	}
	return batch(all, isInitial)
}

// countsFirst has a PopBatch that counts a batch as processed before it calls processBatch,
// and gives back the lock meanwhile.
type countsFirst struct{ *fifo }

func (f countsFirst) PopBatch(batch contract.ProcessBatchFunc,
	single contract.PopProcessFunc) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.waitLocked(); err != nil {
		return err
	}
	m, n := &f.mu.model, 0
	for n < len(m.Waiting) && len(m.Waiting[n].Deltas) == 1 && (m.Left == 0 || n < m.Left) {
		n++
	}
	if n < 2 {
		g, isInitial := f.take()
		return single(g.Deltas, isInitial)
	}
	var deltas []contract.Delta
	isInitial := !m.Synced()
	for range n {
		g, _ := f.take()
		deltas = append(deltas, g.Deltas...)
	}
	f.mu.Unlock()
	defer f.mu.Lock()
	return batch(deltas, isInitial)
}

// keepsBatch remembers the batch that it handed out last.
type keepsBatch struct {
	countsFirst
	last []contract.Delta
}

func (f *keepsBatch) PopBatch(batch contract.ProcessBatchFunc,
	single contract.PopProcessFunc) error {
	return f.countsFirst.PopBatch(func(deltas []contract.Delta, isInitial bool) error {
		f.last = append(f.last[:0], deltas...)
		return batch(deltas, isInitial)
	}, single)
}

// addWakes has a PopBatch that only Add and Close wake. added holds one token.
type addWakes struct {
	countsFirst
	added chan struct{}
}

func (f addWakes) wakeOne() {
	select {
	case f.added <- struct{}{}:
	default:
	}
}

func (f addWakes) Add(obj any) error {
	defer f.wakeOne()
	return f.countsFirst.Add(obj)
}

func (f addWakes) Close() {
	f.countsFirst.Close()
	f.wakeOne()
}

func (f addWakes) PopBatch(batch contract.ProcessBatchFunc, single contract.PopProcessFunc) error {
	f.mu.Lock()
	waits := len(f.mu.model.Waiting) == 0 && !f.mu.closed
	f.mu.Unlock()
	if waits {
		<-f.added
	}
	return f.countsFirst.PopBatch(batch, single)
}

// neverBatches has a PopBatch that hands out one event at a time.
type neverBatches struct{ *fifo }

func (f neverBatches) PopBatch(_ contract.ProcessBatchFunc, single contract.PopProcessFunc) error {
	_, err := f.Pop(single)
	return err
}

// neverEmpty has a Len that is never 0.
type neverEmpty struct{ *fifo }

func (f neverEmpty) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(1, len(f.mu.model.Waiting))
}

func flightFIFOs() []Mutant {
	claims := func(m Mutant) Mutant {
		m.Unlocked = true
		return m
	}
	returned := func(_ fifomodel.Group, err error) error { return err }
	unlockedReal := func(name, mistake, clauses string) Mutant {
		m := mutant(contract.ComponentFIFO, name, mistake, clauses)
		m.FIFOClass = contract.InOrderAtomic
		m.NewFIFO = func(cfg contract.FIFOConfig) contract.FIFO {
			return cache.NewRealFIFOWithOptions(
				cache.RealFIFOOptions{KeyFunction: cfg.KeyFunc, AtomicEvents: true,
					UnlockWhileProcessing: true})
		}
		return m.real("https://github.com/kubernetes/client-go/blob/v0.37.2/tools/cache/the_real_fifo.go",
			"")
	}
	requeuedBehind := mutant(contract.ComponentFIFO, "requeued behind newer",
		"what is put back is put behind what came while it was processed", "FIFO-61")
	requeuedBehind.FIFOClass = contract.Coalescing
	requeuedBehind.NewFIFO = func(cfg contract.FIFOConfig) contract.FIFO {
		f := newReadable(cfg)
		m := &f.mu.model
		unlock(f.fifo, m, func(g fifomodel.Group, err error) error {
			requeue, ok := errors.AsType[contract.ErrRequeue](err)
			if !ok {
				return err
			}
			if i := m.Find(g.Key); i >= 0 {
				m.Waiting[i].Deltas = slices.Concat(m.Waiting[i].Deltas, g.Deltas)
			} else {
				m.PutBack(g.Key, g.Deltas)
			}
			return requeue.Err
		})
		return f
	}
	return []Mutant{
		claims(coalescing("producers wait", "process runs under the lock that producers take", "FIFO-57",
			func(*fifo, *fifomodel.Model) {})),
		claims(unlockedReal("producers wait in a flood",
			"once 2,000 events wait the lock is held while process runs", "FIFO-57")),
		coalescing("forgets what is in flight",
			"a list that comes while process runs is compared with the store as it is before process is "+
				"done", "FIFO-58", func(f *fifo, m *fifomodel.Model) {
				unlock(f, m, returned)
			}),
		fifoOf(contract.InOrder, "forgets what is in flight, in order",
			"a list that comes while process runs is compared with the store as it is before process is "+
				"done", "FIFO-58", func(f *fifo, m *fifomodel.Model) {
				unlock(f, m, returned)
			}),
		coalescing("overtakes a list",
			"a list that comes while process runs waits for its end, and what comes behind the list does "+
				"not", "FIFO-58", listsWait),
		fifoLike(contract.Coalescing, "pops after process",
			"an item leaves the queue when it was processed, with what came for its key meanwhile",
			"FIFO-59",
			func(f *fifo) contract.FIFO { return popsAfter{f} }),
		unlockedReal("counts what is in flight",
			"the end of any process counts as one of the initial list popped, also if that list came "+
				"meanwhile", "FIFO-60"),
		requeuedBehind,
		fifoLike(contract.Coalescing, "batches of everything", "a batch has all deltas of all keys",
			"FIFO-41",
			func(f *fifo) contract.FIFO { return everythingAtOnce{f} }),
		fifoLike(contract.Coalescing, "counts a batch before it processes",
			"the lock is given back before processBatch, and the batch counts as processed", "FIFO-17",
			func(f *fifo) contract.FIFO { return countsFirst{f} }),
		fifoLike(contract.Coalescing, "keeps the last batch",
			"the slice of a batch is used again for the next and not cleared", "FIFO-24",
			func(f *fifo) contract.FIFO { return &keepsBatch{countsFirst: countsFirst{f}} }),
		fifoLike(contract.Coalescing, "only Add wakes PopBatch",
			"Update, Delete, Replace and Resync signal what Pop waits for, and not what PopBatch waits for",
			"FIFO-45",
			func(f *fifo) contract.FIFO { return addWakes{countsFirst{f}, make(chan struct{}, 1)} }),
		fifoLike(contract.InOrder, "never batches", "PopBatch hands out one event, however many wait",
			"FIFO-62",
			func(f *fifo) contract.FIFO { return neverBatches{f} }),
		fifoLike(contract.Coalescing, "never of length 0", "Len is 1 when nothing waits", "FIFO-63",
			func(f *fifo) contract.FIFO { return neverEmpty{f} }),
	}
}
