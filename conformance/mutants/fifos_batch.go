package mutants

// FIFOs that are wrong while process has an item, or in PopBatch.

import (
	"errors"
	"slices"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// flightFIFOs are wrong in what they do while process has an item.
func flightFIFOs() []Mutant {
	claims := func(m Mutant) Mutant {
		m.Unlocked = true
		return m
	}
	realFIFO := func(name, mistake, clauses string) Mutant {
		m := mutant(contract.ComponentFIFO, name, mistake, clauses)
		m.FIFOClass = contract.InOrderAtomic
		m.NewFIFO = func(cfg contract.FIFOConfig) contract.FIFO {
			return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KeyFunction: cfg.KeyFunc,
				AtomicEvents: true, UnlockWhileProcessing: true})
		}
		return m.real(clientGoFIFOs, "the_real_fifo.go")
	}
	return []Mutant{
		claims(coalescing("producers wait", "process runs under the lock that producers take", "FIFO-57",
			func(*fifo, *model) {})),
		claims(realFIFO("producers wait in a flood",
			"once 2,000 events wait the lock is held while process runs", "FIFO-57")),
		coalescing("forgets what is in flight",
			"a list that comes while process runs is compared with the store as it is before process is "+
				"done", "FIFO-58",
			func(f *fifo, m *model) { unlock(f, m, func(_ group, err error) error { return err }) }),
		coalescing("pops after process",
			"an item leaves the queue when it was processed, with what came for its key meanwhile",
			"FIFO-59", func(f *fifo, m *model) {
				f.take = func() (group, bool) { return m.Waiting[0], !m.Synced() }
				f.handle = func(process contract.PopProcessFunc, g group, isInitial bool) error {
					f.mu.Unlock()
					defer func() { f.mu.Lock(); m.Pop() }()
					return process(g.Deltas, isInitial)
				}
			}),
		realFIFO("counts what is in flight",
			"the end of any process counts as one of the initial list popped, also if that list came "+
				"meanwhile", "FIFO-60"),
	}
}

// batching is a fifo with a PopBatch.
type batching struct {
	*fifo
	popBatch func(batch contract.ProcessBatchFunc, single contract.PopProcessFunc) error
}

func (f *batching) PopBatch(batch contract.ProcessBatchFunc, single contract.PopProcessFunc) error {
	return f.popBatch(batch, single)
}

// everything is a PopBatch that hands out all that waits.
func (f *batching) everything(batch contract.ProcessBatchFunc,
	single contract.PopProcessFunc) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.waitLocked(); err != nil {
		return err
	}
	var all contract.Deltas
	var isInitial bool
	for len(f.mu.model.Waiting) > 0 {
		var g group
		g, isInitial = f.take()
		all = append(all, g.Deltas...)
	}
	if len(all) == 1 {
		return single(all, isInitial)
	}
	return batch(all, isInitial)
}

// countsFirst is a PopBatch that counts a batch as processed before it calls processBatch, and
// gives back the lock meanwhile. It is sound but for that.
func (f *batching) countsFirst(batch contract.ProcessBatchFunc,
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

// neverEmpty has a Len that is never 0.
type neverEmpty struct{ *fifo }

func (f neverEmpty) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(1, len(f.mu.model.Waiting))
}

func batchFIFOs() []Mutant {
	type (
		batchFunc  = contract.ProcessBatchFunc
		singleFunc = contract.PopProcessFunc
	)
	on := func(class contract.FIFOClass, name, mistake, clauses string,
		change func(f *batching)) Mutant {
		return fifoLike(class, name, mistake, clauses, func(f *fifo) contract.FIFO {
			b := &batching{fifo: f}
			b.popBatch = b.countsFirst
			change(b)
			return b
		})
	}
	const coalescing = contract.Coalescing
	return []Mutant{
		on(coalescing, "batches backwards", "a batch comes newest first", "FIFO-41", func(f *batching) {
			f.popBatch = func(batch batchFunc, single singleFunc) error {
				return f.countsFirst(func(deltas []contract.Delta, isInitial bool) error {
					slices.Reverse(deltas)
					return batch(deltas, isInitial)
				}, single)
			}
		}),
		on(coalescing, "batches of everything", "a batch has all deltas of all keys", "FIFO-41",
			func(f *batching) { f.popBatch = f.everything }),
		on(coalescing, "batches of one", "one event is given to processBatch", "FIFO-42",
			func(f *batching) {
				f.popBatch = func(batch batchFunc, _ singleFunc) error {
					return f.countsFirst(batch, func(o any, isInitial bool) error {
						return batch(o.(contract.Deltas), isInitial)
					})
				}
			}),
		on(contract.InOrderAtomic, "batches of all", "a batch is all that waits: lists and events, "+
			"the initial list and what came later", "FIFO-43 FIFO-44",
			func(f *batching) { f.popBatch = f.everything }),
		on(coalescing, "closed batch succeeds", "PopBatch of a closed FIFO returns nil", "FIFO-45",
			func(f *batching) {
				f.popBatch = func(batch batchFunc, single singleFunc) error {
					if err := f.countsFirst(batch, single); !errors.Is(err, contract.ErrFIFOClosed) {
						return err
					}
					return nil
				}
			}),
		on(coalescing, "only Add wakes PopBatch",
			"Update, Delete, Replace and Resync signal what Pop waits for, and not what PopBatch waits for",
			"FIFO-45", func(f *batching) {
				added, sound := make(chan struct{}, 1), f.produce // a token
				signal := func() {
					select {
					case added <- struct{}{}:
					default:
					}
				}
				f.wakeAll = func() { f.cond.Broadcast(); signal() }
				f.produce = func(kind contract.DeltaType, key string, obj any) {
					sound(kind, key, obj)
					if kind == contract.Added {
						signal()
					}
				}
				f.popBatch = func(batch batchFunc, single singleFunc) error {
					f.mu.Lock()
					waits := len(f.mu.model.Waiting) == 0 && !f.mu.closed
					f.mu.Unlock()
					if waits {
						<-added
					}
					return f.countsFirst(batch, single)
				}
			}),
		on(coalescing, "counts a batch before it processes",
			"the lock is given back before processBatch, and the batch counts as processed", "FIFO-17",
			func(*batching) {}),
		on(contract.InOrder, "never batches", "PopBatch hands out one event, however many wait",
			"FIFO-62", func(f *batching) {
				f.popBatch = func(_ batchFunc, single singleFunc) error {
					_, err := f.Pop(single)
					return err
				}
			}),
		fifoLike(coalescing, "never of length 0", "Len is 1 when nothing waits", "FIFO-63",
			func(f *fifo) contract.FIFO { return neverEmpty{f} }),
	}
}
