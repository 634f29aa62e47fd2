package mutants

// FIFOs with more powers: readable ones, and client-go's that pop in batches or
// transform.

import (
	"errors"
	"slices"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

type forgetsRequeue struct{ readable }

func (f forgetsRequeue) Pop(process contract.PopProcessFunc) (any, error) {
	return f.readable.Pop(func(obj any, isInitial bool) error {
		err := process(obj, isInitial)
		if requeue, ok := errors.AsType[contract.ErrRequeue](err); ok {
			return requeue.Err
		}
		return err
	})
}

type takesAnything struct{ readable }

func (f takesAnything) AddIfNotPresent(obj any) error {
	if deltas, ok := obj.(contract.Deltas); ok {
		return f.readable.AddIfNotPresent(deltas)
	}
	return f.Add(obj)
}

type putsBackOverNewer struct{ readable }

func (f putsBackOverNewer) AddIfNotPresent(obj any) error {
	deltas, ok := obj.(contract.Deltas)
	if !ok || len(deltas) == 0 {
		return f.readable.AddIfNotPresent(obj)
	}
	for _, d := range deltas {
		if err := f.Update(d.Object); err != nil {
			return err
		}
	}
	return nil
}

type listsOldest struct{ readable }

func (f listsOldest) List() (list []any) {
	for _, g := range f.waiting() {
		list = append(list, g.Deltas.Oldest().Object)
	}
	return list
}

type sharesKeys struct {
	readable
	keys []string
}

func (f *sharesKeys) ListKeys() []string {
	f.keys = append(f.keys[:0], f.readable.ListKeys()...)
	return f.keys
}

func (f *sharesKeys) Add(obj any) error {
	defer f.ListKeys()
	return f.readable.Add(obj)
}

type getsWithoutKey struct{ readable }

func (f getsWithoutKey) Get(obj any) (any, bool, error) {
	item, exists, _ := f.readable.Get(obj)
	return item, exists, nil
}

type waitsForReplace struct{ readable }

func (f waitsForReplace) AddIfNotPresent(obj any) error {
	f.mu.Lock()
	populated := f.mu.model.Populated
	f.mu.Unlock()
	err := f.readable.AddIfNotPresent(obj)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.model.Populated = populated
	return err
}

type closedWhenEmpty struct{ readable }

func (f closedWhenEmpty) IsClosed() bool { return f.readable.IsClosed() && len(f.waiting()) == 0 }

func readableFIFOs() []Mutant {
	on := func(name, mistake, clauses string, wrap func(readable) contract.FIFO) Mutant {
		m := mutant(contract.ComponentFIFO, name, mistake, clauses)
		m.FIFOClass = contract.Coalescing
		m.NewFIFO = func(cfg contract.FIFOConfig) contract.FIFO { return wrap(newReadable(cfg)) }
		return m
	}
	return []Mutant{
		on("forgets requeue", "an ErrRequeue is an error like any other", "FIFO-25 FIFO-46",
			func(f readable) contract.FIFO {
				return forgetsRequeue{f}
			}),
		on("takes anything", "AddIfNotPresent adds what is not Deltas", "FIFO-47",
			func(f readable) contract.FIFO {
				return takesAnything{f}
			}),
		on("puts back over newer", "AddIfNotPresent does not ask whether something newer waits",
			"FIFO-47", func(f readable) contract.FIFO {
				return putsBackOverNewer{f}
			}),
		on("lists oldest", "List gives the oldest object of each key", "FIFO-48",
			func(f readable) contract.FIFO {
				return listsOldest{f}
			}),
		on("shares keys", "ListKeys hands out one slice again and again", "FIFO-49",
			func(f readable) contract.FIFO {
				return &sharesKeys{readable: f}
			}),
		on("gets without key", "Get drops the error of the KeyFunc", "FIFO-50",
			func(f readable) contract.FIFO {
				return getsWithoutKey{f}
			}),
		on("waits for a replace", "AddIfNotPresent as the first call leaves HasSynced false", "FIFO-51",
			func(f readable) contract.FIFO {
				return waitsForReplace{f}
			}),
		on("closed when empty", "IsClosed waits until what waits is popped", "FIFO-52",
			func(f readable) contract.FIFO {
				return closedWhenEmpty{f}
			}),
		on("hands out what waits", "GetByKey gives the Deltas that wait and no copy", "FIFO-49",
			func(f readable) contract.FIFO {
				return handsOut{f}
			}),
	}
}

type handsOut struct{ readable }

func (f handsOut) GetByKey(key string) (any, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := f.mu.model.Find(key); i >= 0 {
		return f.mu.model.Waiting[i].Deltas, true, nil
	}
	return nil, false, nil
}

type reversedBatches struct{ *cache.RealFIFO }

func (f reversedBatches) PopBatch(batch contract.ProcessBatchFunc,
	single contract.PopProcessFunc) error {
	return f.RealFIFO.PopBatch(func(deltas []contract.Delta, isInitial bool) error {
		slices.Reverse(deltas)
		return batch(deltas, isInitial)
	}, single)
}

type batchesOfOne struct{ *cache.RealFIFO }

func (f batchesOfOne) PopBatch(batch contract.ProcessBatchFunc, _ contract.PopProcessFunc) error {
	return f.RealFIFO.PopBatch(batch, func(o any, isInitial bool) error {
		return batch(o.(contract.Deltas), isInitial)
	})
}

// sentinel marks the end of what waited.
type sentinel struct{}

// doubleBatches glues batches together until nothing waits.
type doubleBatches struct{ *cache.RealFIFO }

func (f doubleBatches) PopBatch(batch contract.ProcessBatchFunc,
	single contract.PopProcessFunc) error {
	var got contract.Deltas
	var initial bool
	gather := func(deltas []contract.Delta, isInitial bool) error {
		got, initial = append(got, deltas...), isInitial
		return nil
	}
	one := func(o any, isInitial bool) error { return gather(o.(contract.Deltas), isInitial) }
	if err := f.RealFIFO.PopBatch(gather, one); err != nil {
		return err
	}
	if err := f.Add(sentinel{}); err != nil {
		return err
	}
	for got.Newest().Object != any(sentinel{}) {
		if err := f.RealFIFO.PopBatch(gather, one); err != nil {
			return err
		}
	}
	if got = got[:len(got)-1]; len(got) == 1 {
		return single(got, initial)
	}
	return batch(got, initial)
}

type closedBatchesSucceed struct{ *cache.RealFIFO }

func (f closedBatchesSucceed) PopBatch(batch contract.ProcessBatchFunc,
	single contract.PopProcessFunc) error {
	if err := f.RealFIFO.PopBatch(batch, single); !errors.Is(err, contract.ErrFIFOClosed) {
		return err
	}
	return nil
}

func batchFIFOs() []Mutant {
	on := func(name, mistake, clauses string, wrap func(*cache.RealFIFO) contract.FIFO) Mutant {
		m := mutant(contract.ComponentFIFO, name, mistake, clauses)
		m.FIFOClass = contract.InOrderAtomic
		m.NewFIFO = func(cfg contract.FIFOConfig) contract.FIFO {
			keyFunc := func(obj any) (string, error) {
				if _, ok := obj.(sentinel); ok {
					return "", nil
				}
				return cfg.KeyFunc(obj)
			}
			return wrap(cache.NewRealFIFOWithOptions(
				cache.RealFIFOOptions{KeyFunction: keyFunc, AtomicEvents: true}))
		}
		return m
	}
	return []Mutant{
		on("batches backwards", "a batch comes newest first", "FIFO-41",
			func(f *cache.RealFIFO) contract.FIFO {
				return reversedBatches{f}
			}),
		on("batches of one", "one event is given to processBatch", "FIFO-42",
			func(f *cache.RealFIFO) contract.FIFO {
				return batchesOfOne{f}
			}),
		on("batches of all", "a batch is all that waits: lists and events, the initial list and what "+
			"came later", "FIFO-43 FIFO-44", func(f *cache.RealFIFO) contract.FIFO {
			return doubleBatches{f}
		}),
		on("closed batch succeeds", "PopBatch of a closed FIFO returns nil", "FIFO-45",
			func(f *cache.RealFIFO) contract.FIFO {
				return closedBatchesSucceed{f}
			}),
	}
}

type transformsTombstones struct {
	*cache.DeltaFIFO
	transform contract.TransformFunc
}

func (f transformsTombstones) Delete(o any) error {
	if tombstone, ok := o.(contract.DeletedFinalStateUnknown); ok {
		tombstone.Obj, _ = f.transform(tombstone.Obj)
		o = tombstone
	}
	return f.DeltaFIFO.Delete(o)
}

type hidesTransformer struct{ *cache.DeltaFIFO }

func (hidesTransformer) Transformer() contract.TransformFunc { return nil }

// transformed is what is known, transformed again.
type transformed struct {
	contract.KeyListerGetter
	transform contract.TransformFunc
}

func (k transformed) GetByKey(key string) (any, bool, error) {
	obj, exists, err := k.KeyListerGetter.GetByKey(key)
	if err == nil && exists {
		obj, err = k.transform(obj)
	}
	return obj, exists, err
}

func deltaFIFO(cfg contract.FIFOConfig, transform contract.TransformFunc) *cache.DeltaFIFO {
	return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KeyFunction: cfg.KeyFunc, KnownObjects: cfg.KnownObjects, EmitDeltaTypeReplaced: true,
		Transformer: transform,
	})
}

func transformingFIFOs() []Mutant {
	on := func(name, mistake, clauses string,
		construct func(contract.FIFOConfig, contract.TransformFunc) contract.FIFO) Mutant {
		m := mutant(contract.ComponentFIFO, name, mistake, clauses)
		m.FIFOClass = contract.Coalescing
		m.NewTransformingFIFO = construct
		m.NewFIFO = func(cfg contract.FIFOConfig) contract.FIFO { return deltaFIFO(cfg, nil) }
		return m
	}
	const source = "https://github.com/kubernetes/client-go/blob/v0.37.2/tools/cache/delta_fifo.go"
	return []Mutant{
		on("transforms twice", "what was transformed is transformed again", "FIFO-53",
			func(cfg contract.FIFOConfig, transform contract.TransformFunc) contract.FIFO {
				return deltaFIFO(cfg, func(o any) (any, error) {
					if _, err := transform(o); err != nil {
						return nil, err
					}
					return transform(o)
				})
			}),
		on("transforms tombstones", "the object in a tombstone, which was transformed when it came, "+
			"is transformed again", "FIFO-54",
			func(cfg contract.FIFOConfig, transform contract.TransformFunc) contract.FIFO {
				return transformsTombstones{deltaFIFO(cfg, transform), transform}
			}),
		on("transforms on resync", "a resync transforms the objects of the store, which others read",
			"FIFO-54", func(cfg contract.FIFOConfig, transform contract.TransformFunc) contract.FIFO {
				if cfg.KnownObjects != nil {
					cfg.KnownObjects = transformed{cfg.KnownObjects, transform}
				}
				return deltaFIFO(cfg, transform)
			}).real(inKubernetes, "124337"),
		on("queues what cannot be transformed", "an object is queued as it is when the transformer fails",
			"FIFO-55", func(cfg contract.FIFOConfig, transform contract.TransformFunc) contract.FIFO {
				return deltaFIFO(cfg, func(o any) (any, error) {
					if out, err := transform(o); err == nil {
						return out, nil
					}
					return o, nil
				})
			}),
		on("hides its transformer", "Transformer returns nil", "FIFO-56",
			func(cfg contract.FIFOConfig, transform contract.TransformFunc) contract.FIFO {
				return hidesTransformer{deltaFIFO(cfg, transform)}
			}),
		on("checker ends before process",
			"the channel of HasSyncedChecker is closed before process is called for the last initial item",
			"FIFO-18", func(cfg contract.FIFOConfig, transform contract.TransformFunc) contract.FIFO {
				return deltaFIFO(cfg, transform)
			}).real(source, ""),
	}
}

var _ contract.KeyedQueue = readable{}
