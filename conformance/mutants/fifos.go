package mutants

import (
	"errors"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/conformance/internal/fifomodel"
	"github.com/informerbench/informerbench/contract"
)

// FIFOs returns the broken FIFOs. The slice belongs to the caller.
func FIFOs() []Mutant {
	return slices.Concat(eventFIFOs(), listFIFOs(), popFIFOs(), flightFIFOs(), batchFIFOs(),
		readableFIFOs(), transformingFIFOs())
}

// fifoOf makes a mutant of what change makes of a sound FIFO of the class.
func fifoOf(class contract.FIFOClass, name, mistake, clauses string,
	change func(f *fifo, m *model)) Mutant {
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

func coalescing(name, mistake, clauses string, change func(f *fifo, m *model)) Mutant {
	return fifoOf(contract.Coalescing, name, mistake, clauses, change)
}

// event makes a mutant of which Add, Update and Delete are wrong: step says
// whether it did the work itself.
func event(class contract.FIFOClass, name, mistake, clauses string,
	step func(m *model, d contract.Delta, key string) (done bool)) Mutant {
	return fifoOf(class, name, mistake, clauses, func(f *fifo, m *model) {
		sound := f.produce
		f.produce = func(kind contract.DeltaType, key string, obj any) {
			if !step(m, contract.Delta{Type: kind, Object: obj}, key) {
				sound(kind, key, obj)
			}
		}
	})
}

// newest is the delta that was added last under key, none if the key does not wait.
func newest(m *model, key string) (last contract.Delta) {
	for _, g := range m.Waiting {
		if g.Key == key {
			last = g.Newest()
		}
	}
	return last
}

// secondDeletion reports whether d and what was added before it are deletions.
func secondDeletion(m *model, d contract.Delta, key string) bool {
	return d.Type == contract.Deleted && newest(m, key).Type == contract.Deleted
}

// eventFIFOs are wrong in what they do with one event.
func eventFIFOs() []Mutant {
	return []Mutant{
		event(contract.Coalescing, "update as add", "an Update queues an Added delta", "FIFO-5",
			func(m *model, d contract.Delta, _ string) bool {
				if d.Type == contract.Updated {
					m.Event(contract.Added, d.Object)
				}
				return d.Type == contract.Updated
			}),
		coalescing("loses one of many", "a counter that runs over drops an event", "FIFO-20",
			func(f *fifo, _ *model) {
				sound, calls := f.produce, 0
				f.produce = func(kind contract.DeltaType, key string, obj any) {
					if calls++; calls%997 != 0 {
						sound(kind, key, obj)
					}
				}
			}),
		event(contract.Coalescing, "copies objects", "what is queued is wrapped anew", "FIFO-5",
			func(m *model, d contract.Delta, key string) bool {
				m.Populate(0)
				m.Enqueue(contract.Delta{Type: d.Type, Object: &struct{ any }{d.Object}}, key)
				return true
			}),
		coalescing("bare key error", "the KeyFunc's error is returned as it is", "FIFO-8",
			func(f *fifo, _ *model) {
				f.key = func(obj any) (string, error) {
					key, err := f.soundKey(obj)
					return key, errors.Unwrap(err)
				}
			}),
		coalescing("tombstone by key func", "the KeyFunc is asked for the key of a tombstone", "FIFO-10",
			func(f *fifo, _ *model) {
				f.key = func(obj any) (string, error) {
					key, err := f.keyFunc(obj)
					if err != nil {
						err = contract.KeyError{Obj: obj, Err: err}
					}
					return key, err
				}
			}),
		coalescing("default key without namespace",
			"without a KeyFunc, objects are keyed by their names", "FIFO-11", func(f *fifo, _ *model) {
				full := f.keyFunc
				f.keyFunc = func(obj any) (string, error) {
					key, err := full(obj)
					return key[strings.LastIndex(key, "/")+1:], err
				}
			}),
		event(contract.Coalescing, "newest only", "a waiting key keeps the newest of its deltas",
			"FIFO-26", func(m *model, d contract.Delta, key string) bool {
				i := m.Find(key)
				if i >= 0 {
					m.Waiting[i].Deltas = contract.Deltas{d}
				}
				return i >= 0
			}),
		event(contract.Coalescing, "moves to the end", "a waiting key that changes goes to the end",
			"FIFO-27", func(m *model, _ contract.Delta, key string) bool {
				if i := m.Find(key); i >= 0 {
					g := m.Waiting[i]
					m.Waiting = append(slices.Delete(m.Waiting, i, i+1), g)
				}
				return false
			}),
		event(contract.Coalescing, "newest deletion", "of two deletions the second is kept", "FIFO-28",
			func(m *model, d contract.Delta, key string) bool {
				again := secondDeletion(m, d, key) && !fifomodel.IsTombstone(d)
				if again {
					replaceNewest(m, d, key)
				}
				return again
			}),
		event(contract.Coalescing, "tombstone displaces",
			"a tombstone takes the place of the deletion of an object", "FIFO-29",
			func(m *model, d contract.Delta, key string) bool {
				again := secondDeletion(m, d, key)
				if again {
					replaceNewest(m, d, key)
				}
				return again
			}),
		event(contract.Coalescing, "unknown deletions",
			"a deletion is queued without asking whether the key waits or is known", "FIFO-30",
			func(m *model, d contract.Delta, key string) bool {
				if d.Type == contract.Deleted {
					m.Populate(0)
					m.Enqueue(d, key)
				}
				return d.Type == contract.Deleted
			}),
		event(contract.Coalescing, "waiting deletions ignored",
			"a deletion is dropped if the consumer does not know the key, although it waits", "FIFO-31",
			func(m *model, d contract.Delta, key string) bool {
				drop := d.Type == contract.Deleted && m.Known != nil && !m.Knows(key)
				if drop {
					m.Populate(0)
				}
				return drop
			}).real(inKubernetes, "27004"),
		event(contract.InOrder, "drops repeated deletions",
			"of two deletions in a row one is dropped, as the other class does", "FIFO-36", secondDeletion),
	}
}

// replaceNewest puts d in the place of the newest delta that waits under key.
func replaceNewest(m *model, d contract.Delta, key string) {
	i := m.Find(key)
	deltas := slices.Clone(m.Waiting[i].Deltas)
	deltas[len(deltas)-1] = d
	m.Waiting[i].Deltas = deltas
}

// list makes a mutant whose Replace is wrong.
func list(class contract.FIFOClass, name, mistake, clauses string,
	replace func(m *model, list []any, rv string)) Mutant {
	return fifoOf(class, name, mistake, clauses, func(f *fifo, m *model) {
		f.replace = func(list []any, rv string) { replace(m, list, rv) }
	})
}

// listFIFOs are wrong in Replace or Resync.
func listFIFOs() []Mutant {
	resyncAll := func(f *fifo, m *model) {
		f.resync = func() {
			if m.Known == nil {
				return
			}
			for _, key := range m.Known.ListKeys() {
				m.Sync(key)
			}
		}
	}
	return []Mutant{
		coalescing("skips bad objects", "an object of a list that has no key is left out", "FIFO-9",
			func(f *fifo, _ *model) {
				f.listed = func(list []any) ([]any, error) {
					return slices.DeleteFunc(slices.Clone(list), func(obj any) bool {
						_, err := f.key(obj)
						return err != nil
					}), nil
				}
			}),
		list(contract.Coalescing, "waiting not deleted",
			"a relist deletes what is known, and not what only waits", "FIFO-33",
			func(m *model, list []any, rv string) {
				waiting := m.Waiting
				m.Waiting = nil
				m.ImpliedDeletions(list)
				known := m.Waiting
				m.Waiting = waiting
				m.Replaced(list)
				for _, g := range known {
					m.Enqueue(g.Newest(), g.Key)
				}
				m.Populate(len(m.Waiting))
			}).real(inKubernetes, "115658"),
		list(contract.Coalescing, "known not deleted",
			"a relist deletes what waits, and not what is only known", "FIFO-34",
			func(m *model, list []any, rv string) {
				known := m.Known
				m.Known = nil
				m.Replace(list, rv)
				m.Known = known
			}),
		list(contract.Coalescing, "replace emits sync",
			"a relist looks like a resync, and updates in it are ignored", "FIFO-32",
			func(m *model, list []any, _ string) {
				for _, obj := range list {
					m.Enqueue(contract.Delta{Type: contract.Sync, Object: obj}, m.KeyOf(obj))
				}
				m.ImpliedDeletions(list)
				m.Populate(len(m.Waiting))
			}).real(inKubernetes, "86015"),
		list(contract.Coalescing, "listed after its deletion is lost",
			"an object that is listed is not queued if a deletion of its key waits", "FIFO-22 FIFO-25",
			func(m *model, list []any, rv string) {
				m.Replace(slices.DeleteFunc(list, func(obj any) bool {
					return newest(m, m.KeyOf(obj)).Type == contract.Deleted
				}), rv)
			}).real(inKubernetes, "83810"),
		coalescing("resync of what waits",
			"Resync queues the known object behind the newer one that waits", "FIFO-35",
			resyncAll).real(inKubernetes, "32125"),
		fifoOf(contract.InOrder, "resync of what waits, in order",
			"Resync queues the known object behind the newer one that waits", "FIFO-38", resyncAll),
		list(contract.InOrder, "deletions after the list",
			"Replace queues the deletions behind what is listed", "FIFO-37",
			func(m *model, list []any, _ string) {
				m.Replaced(list)
				m.ImpliedDeletions(list)
				m.Populate(len(m.Waiting))
			}),
		list(contract.InOrderAtomic, "no resource version", "the version of a list is dropped", "FIFO-39",
			func(m *model, list []any, _ string) { m.Replace(list, "") }),
		fifoOf(contract.InOrderAtomic, "no sync-all", "Resync does nothing", "FIFO-40",
			func(f *fifo, _ *model) { f.resync = func() {} }),

		coalescing("synced from the start", "HasSynced is true before anything came", "FIFO-12",
			func(f *fifo, _ *model) { f.hasSynced = func() bool { return true } }),
		coalescing("synced by replace only",
			"HasSynced waits for a Replace, also if something else came first", "FIFO-13",
			func(f *fifo, m *model) {
				sound := f.produce
				f.produce = func(kind contract.DeltaType, key string, obj any) {
					populated := m.Populated
					sound(kind, key, obj)
					m.Populated = populated
				}
			}),
		coalescing("synced on replace",
			"HasSynced is true once there was a list, whether or not it was popped", "FIFO-14",
			func(f *fifo, m *model) {
				f.hasSynced = func() bool { return m.Populated }
			}).real(inKubernetes, "20259"),
		list(contract.Coalescing, "implied deletions do not count",
			"HasSynced waits for what was listed, and not for the deletions that the first list implies",
			"FIFO-14", func(m *model, list []any, rv string) {
				populated := m.Populated
				m.Replace(list, rv)
				if !populated {
					m.Left = len(list)
				}
			}).real(inKubernetes, "31755"),
		list(contract.Coalescing, "empty list never syncs",
			"HasSynced becomes true with the last Pop of a list, so never for an empty one", "FIFO-15",
			func(m *model, list []any, rv string) {
				populated := m.Populated
				m.Replace(list, rv)
				m.Populated = populated || len(m.Waiting) > 0
			}),
		list(contract.Coalescing, "unsyncs", "every Replace counts anew", "FIFO-16",
			func(m *model, list []any, rv string) {
				m.Replace(list, rv)
				m.Left = len(m.Waiting)
			}),
	}
}
