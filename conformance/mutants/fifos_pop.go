package mutants

// FIFOs that are wrong in Pop, in who they wake, or in more powers.

import (
	"errors"
	"slices"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// popFIFOs are wrong in Pop, Close or in whom they wake.
func popFIFOs() []Mutant {
	return []Mutant{
		coalescing("newest first", "Pop takes the last of what waits", "FIFO-1", func(f *fifo, m *model) {
			f.take = func() (group, bool) {
				last := len(m.Waiting) - 1
				m.Waiting[0], m.Waiting[last] = m.Waiting[last], m.Waiting[0]
				return m.Pop()
			}
		}),
		coalescing("replace does not wake", "Replace fills the queue and wakes nobody", "FIFO-2",
			func(f *fifo, _ *model) {
				sound, silent := f.replace, false
				f.replace = func(list []any, rv string) {
					sound(list, rv)
					silent = true
				}
				f.wake = func(int) {
					if !silent {
						f.cond.Broadcast()
					}
					silent = false
				}
			}),
		coalescing("pop asks every 50 microseconds",
			"Pop looks whether something waits, with a pause between two looks", "FIFO-2",
			func(f *fifo, _ *model) {
				f.sleep = func() {
					f.mu.Unlock()
					time.Sleep(50 * time.Microsecond)
					f.mu.Lock()
				}
			}),
		coalescing("close wakes one", "Close signals where it should broadcast", "FIFO-3",
			func(f *fifo, _ *model) { f.wakeAll = f.cond.Signal }),
		coalescing("discards on close", "Pop of a closed FIFO hands out nothing more", "FIFO-4",
			func(f *fifo, _ *model) { f.ended = func() bool { return f.mu.closed } }),
		coalescing("add waits after close", "a closed FIFO has no room, and Add waits for some",
			"FIFO-64", func(f *fifo, _ *model) {
				sound := f.produce
				f.produce = func(kind contract.DeltaType, key string, obj any) {
					for f.mu.closed {
						f.sleep()
					}
					sound(kind, key, obj)
				}
			}),
		coalescing("swallows errors", "Pop does not return the error of process", "FIFO-6",
			func(f *fifo, _ *model) {
				f.handle = func(process contract.PopProcessFunc, g group, isInitial bool) error {
					_ = process(g.Deltas, isInitial)
					return nil
				}
			}),
		coalescing("processes twice", "process is called again after it succeeded", "FIFO-6",
			func(f *fifo, _ *model) {
				f.handle = func(process contract.PopProcessFunc, g group, isInitial bool) error {
					if err := process(g.Deltas, isInitial); err != nil {
						return err
					}
					return process(g.Deltas, isInitial)
				}
			}),
		fifoLike(contract.Coalescing, "lock left by a panic",
			"the lock is given back without defer, so a panicking process leaves it", "FIFO-7",
			func(f *fifo) contract.FIFO { return leakyPop{f} }).hangs(),
		coalescing("counts before it processes",
			"the lock is given back before process, and what it has counts as processed", "FIFO-17",
			func(f *fifo, _ *model) {
				f.handle = func(process contract.PopProcessFunc, g group, isInitial bool) error {
					f.mu.Unlock()
					defer f.mu.Lock()
					return process(g.Deltas, isInitial)
				}
			}),
		coalescing("looks up during process",
			"the lock is given back while process runs, so that others consult the known objects", "FIFO-23",
			func(f *fifo, m *model) { unlock(f, m, func(_ group, err error) error { return err }) }),
		coalescing("flag never set", "isInInitialList is always false", "FIFO-19",
			func(f *fifo, m *model) {
				f.take = func() (group, bool) {
					g, _ := m.Pop()
					return g, false
				}
			}),
		coalescing("one signal for a list", "Replace wakes one Pop for all that it brings", "FIFO-21",
			func(f *fifo, _ *model) {
				f.wake = func(added int) {
					if added > 0 {
						f.cond.Signal()
					}
				}
			}),
		coalescing("keeps what was popped", "the slot of what was popped is not cleared", "FIFO-24",
			func(f *fifo, m *model) {
				var slots []group
				f.take = func() (group, bool) {
					slots = append(slots, m.Waiting[0])
					return m.Pop()
				}
			}),
	}
}

type leakyPop struct{ *fifo }

func (f leakyPop) Pop(process contract.PopProcessFunc) (any, error) {
	f.mu.Lock()
	err := f.waitLocked()
	if err != nil {
		f.mu.Unlock()
		return nil, err
	}
	g, isInitial := f.take()
	err = process(g.Deltas, isInitial)
	f.mu.Unlock()
	return g.Deltas, err
}

// unlock has f give back its lock while process runs, and lets HasSynced wait for
// process all the same. after is called with the lock, with what process returned.
func unlock(f *fifo, m *model, after func(g group, err error) error) {
	f.take = func() (g group, isInitial bool) {
		left := m.Left
		g, isInitial = m.Pop()
		m.Left = left // until it is processed
		return g, isInitial
	}
	f.handle = func(process contract.PopProcessFunc, g group, isInitial bool) (err error) {
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

const clientGoFIFOs = "https://github.com/kubernetes/client-go/blob/v0.37.2/tools/cache/"

func readableFIFOs() []Mutant {
	on := func(name, mistake, clauses string, change func(f *readable, m *model)) Mutant {
		m := mutant(contract.ComponentFIFO, name, mistake, clauses)
		m.FIFOClass = contract.Coalescing
		m.NewFIFO = func(cfg contract.FIFOConfig) contract.FIFO {
			f := newReadable(cfg)
			change(f, &f.mu.model)
			return f
		}
		return m
	}
	return []Mutant{
		on("forgets requeue", "an ErrRequeue is an error like any other", "FIFO-25 FIFO-46",
			func(f *readable, _ *model) {
				f.handle = func(process contract.PopProcessFunc, g group, isInitial bool) error {
					err := process(g.Deltas, isInitial)
					if requeue, ok := errors.AsType[contract.ErrRequeue](err); ok {
						return requeue.Err
					}
					return err
				}
			}),
		on("takes anything", "AddIfNotPresent adds what is not Deltas", "FIFO-47",
			func(f *readable, _ *model) {
				f.addIfNotPresent = func(obj any) error {
					if _, ok := obj.(contract.Deltas); ok {
						return f.soundAdd(obj)
					}
					return f.Add(obj)
				}
			}),
		on("puts back over newer", "AddIfNotPresent does not ask whether something newer waits",
			"FIFO-47", func(f *readable, _ *model) {
				f.addIfNotPresent = func(obj any) (err error) {
					deltas, ok := obj.(contract.Deltas)
					if !ok || len(deltas) == 0 {
						return f.soundAdd(obj)
					}
					for _, d := range deltas {
						err = errors.Join(err, f.Update(d.Object))
					}
					return err
				}
			}),
		on("lists oldest", "List gives the oldest object of each key", "FIFO-48",
			func(f *readable, m *model) {
				f.list = func() (list []any) {
					for _, g := range m.Waiting {
						list = append(list, g.Deltas.Oldest().Object)
					}
					return list
				}
			}),
		on("hands out what waits", "GetByKey gives the Deltas that wait and no copy", "FIFO-49",
			func(f *readable, m *model) {
				f.getByKey = func(key string) (any, bool, error) {
					f.mu.Lock()
					defer f.mu.Unlock()
					if i := m.Find(key); i >= 0 {
						return m.Waiting[i].Deltas, true, nil
					}
					return nil, false, nil
				}
			}),
		on("gets without key", "Get drops the error of the KeyFunc", "FIFO-50",
			func(f *readable, _ *model) {
				f.get = func(obj any) (any, bool, error) {
					item, exists, _ := f.soundGet(obj)
					return item, exists, nil
				}
			}),
		on("waits for a replace", "AddIfNotPresent as the first call leaves HasSynced false", "FIFO-51",
			func(f *readable, m *model) {
				f.addIfNotPresent = func(obj any) error {
					before := m.Populated // the suite calls one method at a time here
					defer func() { m.Populated = before }()
					return f.soundAdd(obj)
				}
			}),
		on("closed when empty", "IsClosed waits until what waits is popped", "FIFO-52",
			func(f *readable, m *model) {
				f.isClosed = func() bool { return f.mu.closed && len(m.Waiting) == 0 }
			}),
		on("requeued behind newer", "what is put back is put behind what came while it was processed",
			"FIFO-61", func(f *readable, m *model) {
				unlock(f.fifo, m, func(g group, err error) error {
					requeue, ok := errors.AsType[contract.ErrRequeue](err)
					if i := m.Find(g.Key); ok && i >= 0 {
						m.Waiting[i].Deltas = slices.Concat(m.Waiting[i].Deltas, g.Deltas)
						return requeue.Err
					}
					return f.requeued(g, err)
				})
			}),
	}
}

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

type hidesTransformer struct{ *cache.DeltaFIFO }

func (hidesTransformer) Transformer() contract.TransformFunc { return nil }

func deltaFIFO(cfg contract.FIFOConfig, transform contract.TransformFunc) *cache.DeltaFIFO {
	return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KeyFunction: cfg.KeyFunc, KnownObjects: cfg.KnownObjects, EmitDeltaTypeReplaced: true,
		Transformer: transform,
	})
}

// transformingFIFOs are client-go's DeltaFIFO with a mistake in how it transforms.
func transformingFIFOs() []Mutant {
	on := func(name, mistake, clauses string,
		construct func(contract.FIFOConfig, contract.TransformFunc) contract.FIFO) Mutant {
		m := mutant(contract.ComponentFIFO, name, mistake, clauses)
		m.FIFOClass = contract.Coalescing
		m.NewTransformingFIFO = construct
		m.NewFIFO = func(cfg contract.FIFOConfig) contract.FIFO { return deltaFIFO(cfg, nil) }
		return m
	}
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
			}).real(clientGoFIFOs, "delta_fifo.go"),
	}
}
