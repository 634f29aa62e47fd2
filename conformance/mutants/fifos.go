package mutants

import (
	"reflect"
	"slices"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/internal/fifomodel"
	"github.com/informerbench/informerbench/contract"
)

// FIFOs returns the broken FIFOs. The slice belongs to the caller.
func FIFOs() []Mutant {
	return slices.Concat(eventFIFOs(), listFIFOs(), popFIFOs(), readableFIFOs(), batchFIFOs(),
		transformingFIFOs(), flightFIFOs())
}

// fifoOf makes a mutant of what change makes of a sound FIFO of the class.
func fifoOf(class contract.FIFOClass, name, mistake, clauses string,
	change func(f *fifo, m *fifomodel.Model)) Mutant {
	return fifoLike(class, name, mistake, clauses, func(f *fifo) contract.FIFO {
		change(f, &f.mu.model)
		return f
	})
}

func fifoLike(class contract.FIFOClass, name, mistake, clauses string,
	wrap func(f *fifo) contract.FIFO) Mutant {
	m := mutant(contract.ComponentFIFO, name, mistake, clauses)
	m.FIFOClass = class
	m.NewFIFO = func(cfg contract.FIFOConfig) contract.FIFO { return wrap(newFIFO(cfg, class)) }
	return m
}

func coalescing(name, mistake, clauses string, change func(f *fifo, m *fifomodel.Model)) Mutant {
	return fifoOf(contract.Coalescing, name, mistake, clauses, change)
}

// event makes a mutant of which Add, Update and Delete are wrong: step says
// whether it did the work itself.
func event(class contract.FIFOClass, name, mistake, clauses string,
	step func(m *fifomodel.Model, d contract.Delta, key string) (done bool)) Mutant {
	return fifoOf(class, name, mistake, clauses, func(f *fifo, m *fifomodel.Model) {
		sound := f.produce
		f.produce = func(kind contract.DeltaType, key string, obj any) {
			if !step(m, contract.Delta{Type: kind, Object: obj}, key) {
				sound(kind, key, obj)
			}
		}
	})
}

// newest is the delta that was added last under key, none if the key does not wait.
func newest(m *fifomodel.Model, key string) (last contract.Delta) {
	for _, g := range m.Waiting {
		if g.Key == key {
			last = g.Newest()
		}
	}
	return last
}

// secondDeletion reports whether d and what was added before it are deletions.
func secondDeletion(m *fifomodel.Model, d contract.Delta, key string) bool {
	return d.Type == contract.Deleted && newest(m, key).Type == contract.Deleted
}

// eventFIFOs are wrong in what they do with one event.
func eventFIFOs() []Mutant {
	losesOne := func(class contract.FIFOClass) Mutant {
		return fifoOf(class, "loses one of many, "+string(class),
			"a counter that runs over drops an event", "FIFO-20", func(f *fifo, _ *fifomodel.Model) {
				sound, calls := f.produce, 0
				f.produce = func(kind contract.DeltaType, key string, obj any) {
					if calls++; calls%997 != 0 {
						sound(kind, key, obj)
					}
				}
			})
	}
	updateAsAdd := func(class contract.FIFOClass, clauses string) Mutant {
		return event(class, "update as add, "+string(class), "an Update queues an Added delta", clauses,
			func(m *fifomodel.Model, d contract.Delta, _ string) bool {
				if d.Type == contract.Updated {
					m.Event(contract.Added, d.Object)
				}
				return d.Type == contract.Updated
			})
	}
	return []Mutant{
		updateAsAdd(contract.Coalescing, "FIFO-5"),
		updateAsAdd(contract.InOrderAtomic, "FIFO-25"),
		losesOne(contract.Coalescing),
		losesOne(contract.InOrder),
		coalescing("copies objects", "what is queued is a copy of what was given", "FIFO-5",
			func(f *fifo, m *fifomodel.Model) {
				f.produce = func(kind contract.DeltaType, _ string, obj any) { m.Event(kind, copyOf(obj)) }
			}),
		coalescing("bare key error", "the KeyFunc's error is returned as it is", "FIFO-8",
			func(f *fifo, _ *fifomodel.Model) {
				f.key = func(obj any) (string, error) {
					if tombstone, ok := obj.(contract.DeletedFinalStateUnknown); ok {
						return tombstone.Key, nil
					}
					return f.keyFunc(obj)
				}
			}),
		coalescing("tombstone by key func", "the KeyFunc is asked for the key of a tombstone", "FIFO-10",
			func(f *fifo, _ *fifomodel.Model) {
				f.key = func(obj any) (string, error) {
					key, err := f.keyFunc(obj)
					if err != nil {
						err = contract.KeyError{Obj: obj, Err: err}
					}
					return key, err
				}
			}),
		namesOnly(),
		event(contract.Coalescing, "newest only", "a waiting key keeps the newest of its deltas",
			"FIFO-26", func(m *fifomodel.Model, d contract.Delta, key string) bool {
				i := m.Find(key)
				if i >= 0 {
					m.Waiting[i].Deltas = contract.Deltas{d}
				}
				return i >= 0
			}),
		event(contract.Coalescing, "moves to the end", "a waiting key that changes goes to the end",
			"FIFO-27", func(m *fifomodel.Model, _ contract.Delta, key string) bool {
				if i := m.Find(key); i >= 0 {
					g := m.Waiting[i]
					m.Waiting = append(slices.Delete(m.Waiting, i, i+1), g)
				}
				return false
			}),
		event(contract.Coalescing, "newest deletion", "of two deletions the second is kept", "FIFO-28",
			func(m *fifomodel.Model, d contract.Delta, key string) bool {
				again := secondDeletion(m, d, key) && !fifomodel.IsTombstone(d)
				if again {
					replaceNewest(m, d, key)
				}
				return again
			}),
		event(contract.Coalescing, "tombstone displaces",
			"a tombstone takes the place of the deletion of an object", "FIFO-29",
			func(m *fifomodel.Model, d contract.Delta, key string) bool {
				again := secondDeletion(m, d, key)
				if again {
					replaceNewest(m, d, key)
				}
				return again
			}),
		event(contract.Coalescing, "unknown deletions",
			"a deletion is queued without asking whether the key waits or is known", "FIFO-30",
			func(m *fifomodel.Model, d contract.Delta, key string) bool {
				if d.Type == contract.Deleted {
					m.Populate(0)
					m.Enqueue(d, key)
				}
				return d.Type == contract.Deleted
			}),
		event(contract.Coalescing, "known deletions ignored",
			"a deletion of a key that is known and does not wait is dropped", "FIFO-22 FIFO-31",
			func(m *fifomodel.Model, d contract.Delta, key string) bool {
				drop := d.Type == contract.Deleted && m.Find(key) < 0
				if drop {
					m.Populate(0)
				}
				return drop
			}),
		event(contract.Coalescing, "waiting deletions ignored",
			"a deletion is dropped if the consumer does not know the key, although it waits", "FIFO-31",
			func(m *fifomodel.Model, d contract.Delta, key string) bool {
				drop := d.Type == contract.Deleted && m.Known != nil && !m.Knows(key)
				if drop {
					m.Populate(0)
				}
				return drop
			}).real(inKubernetes, "27004"),
		event(contract.Coalescing, "at most four", "a fifth delta pushes the first one out", "FIFO-25",
			func(m *fifomodel.Model, _ contract.Delta, key string) bool {
				if i := m.Find(key); i >= 0 && len(m.Waiting[i].Deltas) == 4 {
					m.Waiting[i].Deltas = m.Waiting[i].Deltas[1:]
				}
				return false
			}),
		event(contract.InOrder, "drops repeated deletions",
			"of two deletions in a row one is dropped, as the other class does", "FIFO-36", secondDeletion),
	}
}

// namesOnly takes objects of the same name in two namespaces for one.
func namesOnly() Mutant {
	m := mutant(contract.ComponentFIFO, "default key without namespace",
		"without a KeyFunc, objects are keyed by their names", "FIFO-11")
	m.FIFOClass = contract.Coalescing
	m.NewFIFO = func(cfg contract.FIFOConfig) contract.FIFO {
		if cfg.KeyFunc == nil {
			cfg.KeyFunc = func(obj any) (string, error) {
				key, err := cache.MetaNamespaceKeyFunc(obj)
				if err != nil {
					return "", err
				}
				_, name, err := cache.SplitMetaNamespaceKey(key)
				return name, err
			}
		}
		return newFIFO(cfg, contract.Coalescing)
	}
	return m
}

// replaceNewest puts d in the place of the newest delta that waits under key.
func replaceNewest(m *fifomodel.Model, d contract.Delta, key string) {
	i := m.Find(key)
	deltas := slices.Clone(m.Waiting[i].Deltas)
	deltas[len(deltas)-1] = d
	m.Waiting[i].Deltas = deltas
}

// copyOf returns a pointer to a copy of what obj points to; obj itself if it is
// no pointer.
func copyOf(obj any) any {
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer {
		return obj
	}
	fresh := reflect.New(v.Type().Elem())
	fresh.Elem().Set(v.Elem())
	return fresh.Interface()
}
