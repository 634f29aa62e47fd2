package mutants

// FIFOs that are wrong in what they do with a list, in Pop, and in who they wake.

import (
	"runtime"
	"slices"
	"time"

	"github.com/informerbench/informerbench/conformance/internal/fifomodel"
	"github.com/informerbench/informerbench/contract"
)

// list makes a mutant of which Replace is wrong.
func list(class contract.FIFOClass, name, mistake, clauses string,
	replace func(m *fifomodel.Model, list []any, rv string)) Mutant {
	return fifoOf(class, name, mistake, clauses, func(f *fifo, m *fifomodel.Model) {
		f.replace = func(list []any, rv string) { replace(m, list, rv) }
	})
}

// listFIFOs are wrong in Replace or Resync.
func listFIFOs() []Mutant {
	withoutDeletions := func(m *fifomodel.Model, list []any, _ string) {
		m.Replaced(list)
		m.Populate(len(m.Waiting))
	}
	resyncAll := func(f *fifo, m *fifomodel.Model) {
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
			func(f *fifo, _ *fifomodel.Model) {
				f.listed = func(list []any) ([]any, error) {
					return slices.DeleteFunc(slices.Clone(list), func(obj any) bool {
						_, err := f.key(obj)
						return err != nil
					}), nil
				}
			}),
		list(contract.Coalescing, "no implied deletions",
			"Replace queues what is listed and no deletion of what is not", "FIFO-33 FIFO-34",
			withoutDeletions),
		list(contract.Coalescing, "waiting not deleted",
			"a relist deletes what is known, and not what only waits", "FIFO-33",
			func(m *fifomodel.Model, list []any, rv string) {
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
			func(m *fifomodel.Model, list []any, rv string) {
				known := m.Known
				m.Known = nil
				m.Replace(list, rv)
				m.Known = known
			}),
		list(contract.Coalescing, "replace emits sync",
			"a relist looks like a resync, and updates in it are ignored", "FIFO-32",
			func(m *fifomodel.Model, list []any, _ string) {
				for _, obj := range list {
					m.Enqueue(contract.Delta{Type: contract.Sync, Object: obj}, m.KeyOf(obj))
				}
				m.ImpliedDeletions(list)
				m.Populate(len(m.Waiting))
			}).real(inKubernetes, "86015"),
		list(contract.Coalescing, "listed after its deletion is lost",
			"an object that is listed is not queued if a deletion of its key waits", "FIFO-22 FIFO-25",
			func(m *fifomodel.Model, list []any, rv string) {
				m.Replace(slices.DeleteFunc(list, func(obj any) bool {
					return newest(m, m.KeyOf(obj)).Type == contract.Deleted
				}), rv)
			}).real(inKubernetes, "83810"),
		coalescing("resync of what waits",
			"Resync queues the known object behind the newer one that waits", "FIFO-35",
			resyncAll).real(inKubernetes, "32125"),
		fifoOf(contract.InOrder, "resync of what waits, in order",
			"Resync queues the known object behind the newer one that waits", "FIFO-38", resyncAll),
		list(contract.InOrder, "no implied deletions, in order",
			"Replace queues what is listed and no deletion of what is not", "FIFO-22", withoutDeletions),
		list(contract.InOrder, "deletions after the list",
			"Replace queues the deletions behind what is listed", "FIFO-37",
			func(m *fifomodel.Model, list []any, _ string) {
				m.Replaced(list)
				m.ImpliedDeletions(list)
				m.Populate(len(m.Waiting))
			}),
		list(contract.InOrderAtomic, "no resource version", "the version of a list is dropped", "FIFO-39",
			func(m *fifomodel.Model, list []any, _ string) {
				m.Replace(list, "")
			}),
		fifoOf(contract.InOrderAtomic, "no sync-all", "Resync does nothing", "FIFO-40",
			func(f *fifo, _ *fifomodel.Model) {
				f.resync = func() {}
			}),

		coalescing("synced from the start", "HasSynced is true before anything came", "FIFO-12",
			func(f *fifo, _ *fifomodel.Model) {
				f.hasSynced = func() bool { return true }
			}),
		coalescing("synced by replace only",
			"HasSynced waits for a Replace, also if something else came first", "FIFO-13",
			func(f *fifo, m *fifomodel.Model) {
				sound := f.produce
				f.produce = func(kind contract.DeltaType, key string, obj any) {
					populated := m.Populated
					sound(kind, key, obj)
					m.Populated = populated
				}
			}),
		coalescing("synced on replace",
			"HasSynced is true once there was a list, whether or not it was popped", "FIFO-14",
			func(f *fifo, m *fifomodel.Model) {
				f.hasSynced = func() bool { return m.Populated }
			}).real(inKubernetes, "20259"),
		list(contract.Coalescing, "implied deletions do not count",
			"HasSynced waits for what was listed, and not for the deletions that the first list implies",
			"FIFO-14", func(m *fifomodel.Model, list []any, rv string) {
				populated := m.Populated
				m.Replace(list, rv)
				if !populated {
					m.Left = len(list)
				}
			}).real(inKubernetes, "31755"),
		list(contract.Coalescing, "empty list never syncs",
			"HasSynced becomes true with the last Pop of a list, so never for an empty one", "FIFO-15",
			func(m *fifomodel.Model, list []any, rv string) {
				populated := m.Populated
				m.Replace(list, rv)
				m.Populated = populated || len(m.Waiting) > 0
			}),
		list(contract.Coalescing, "unsyncs", "every Replace counts anew", "FIFO-16",
			func(m *fifomodel.Model, list []any, rv string) {
				m.Replace(list, rv)
				m.Left = len(m.Waiting)
			}),
	}
}

// polling makes a mutant whose Pop looks again and again, with a pause, whether something waits.
func polling(name, mistake string, pause func()) Mutant {
	return coalescing(name, mistake, "FIFO-2", func(f *fifo, _ *fifomodel.Model) {
		f.sleep = func() {
			f.mu.Unlock()
			pause()
			f.mu.Lock()
		}
	})
}

// popFIFOs are wrong in Pop, Close or in whom they wake.
func popFIFOs() []Mutant {
	const class = contract.Coalescing
	return []Mutant{
		coalescing("newest first", "Pop takes the last of what waits", "FIFO-1",
			func(f *fifo, m *fifomodel.Model) {
				f.take = func() (fifomodel.Group, bool) {
					last := len(m.Waiting) - 1
					m.Waiting[0], m.Waiting[last] = m.Waiting[last], m.Waiting[0]
					return m.Pop()
				}
			}),
		coalescing("replace does not wake", "Replace fills the queue and wakes nobody", "FIFO-2",
			func(f *fifo, _ *fifomodel.Model) {
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
		polling("pop asks again and again", "Pop looks without a pause whether something waits",
			runtime.Gosched),
		polling("pop asks every 50 microseconds",
			"Pop looks whether something waits, with a pause between two looks", func() {
				time.Sleep(50 * time.Microsecond)
			}),
		coalescing("close wakes one", "Close signals where it should broadcast", "FIFO-3",
			func(f *fifo, _ *fifomodel.Model) {
				f.wakeAll = f.cond.Signal
			}),
		coalescing("close wakes nobody", "Close sets a flag that a waiting Pop does not look at",
			"FIFO-3", func(f *fifo, _ *fifomodel.Model) {
				f.wakeAll = func() {}
			}).real(inKubernetes, "25412"),
		coalescing("discards on close", "Pop of a closed FIFO hands out nothing more", "FIFO-4",
			func(f *fifo, _ *fifomodel.Model) {
				f.ended = func() bool { return f.mu.closed }
			}),
		coalescing("swallows errors", "Pop does not return the error of process", "FIFO-6",
			func(f *fifo, _ *fifomodel.Model) {
				f.handle = func(process contract.PopProcessFunc, g fifomodel.Group, isInitial bool) error {
					_ = process(g.Deltas, isInitial)
					return nil
				}
			}),
		coalescing("processes twice", "process is called again after it succeeded", "FIFO-6",
			func(f *fifo, _ *fifomodel.Model) {
				f.handle = func(process contract.PopProcessFunc, g fifomodel.Group, isInitial bool) error {
					if err := process(g.Deltas, isInitial); err != nil {
						return err
					}
					return process(g.Deltas, isInitial)
				}
			}),
		coalescing("failed process returns", "what could not be processed is queued again", "FIFO-6",
			func(f *fifo, m *fifomodel.Model) {
				f.handle = func(process contract.PopProcessFunc, g fifomodel.Group, isInitial bool) error {
					err := process(g.Deltas, isInitial)
					if err != nil {
						m.PutBack(g.Key, g.Deltas)
					}
					return err
				}
			}),
		fifoLike(class, "lock left by a panic",
			"the lock is given back without defer, so a panicking process leaves it", "FIFO-7",
			func(f *fifo) contract.FIFO { return leakyPop{f} }).hangs(),
		fifoLike(class, "counts before it processes",
			"the lock is given back before process, and what it has counts as processed", "FIFO-17",
			func(f *fifo) contract.FIFO { return unlockedPop{f} }),
		coalescing("looks up during process",
			"the lock is given back while process runs, so that others consult the known objects", "FIFO-23",
			func(f *fifo, m *fifomodel.Model) {
				unlock(f, m, func(_ fifomodel.Group, err error) error { return err })
			}),
		coalescing("flag never set", "isInInitialList is always false", "FIFO-19",
			func(f *fifo, m *fifomodel.Model) {
				f.take = func() (fifomodel.Group, bool) {
					g, _ := m.Pop()
					return g, false
				}
			}),
		coalescing("one signal for a list", "Replace wakes one Pop for all that it brings", "FIFO-21",
			func(f *fifo, _ *fifomodel.Model) {
				f.wake = func(added int) {
					if added > 0 {
						f.cond.Signal()
					}
				}
			}),
		coalescing("keeps the last list", "the list of a Replace is kept until the next one", "FIFO-24",
			func(f *fifo, _ *fifomodel.Model) {
				sound := f.replace
				var last []any
				f.replace = func(list []any, rv string) {
					sound(list, rv)
					last = append(last[:0], list...)
				}
			}),
		coalescing("keeps what was popped", "the slot of what was popped is not cleared", "FIFO-24",
			func(f *fifo, m *fifomodel.Model) {
				var slots []fifomodel.Group
				f.take = func() (fifomodel.Group, bool) {
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

type unlockedPop struct{ *fifo }

func (f unlockedPop) Pop(process contract.PopProcessFunc) (any, error) {
	f.mu.Lock()
	err := f.waitLocked()
	var g fifomodel.Group
	var isInitial bool
	if err == nil {
		g, isInitial = f.take()
	}
	f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return g.Deltas, process(g.Deltas, isInitial)
}
