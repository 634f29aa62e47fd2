//go:build explore

package deltafifo_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/explore"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

type construct func(contract.FIFOConfig, deltafifo.Options) contract.FIFO

// variants are Coalescing and InOrder. Small batches end within every program.
var variants = []struct {
	name      string
	opts      deltafifo.Options
	construct construct
}{
	{"Coalescing", deltafifo.Options{}, newCoalescing},
	{"Coalescing-batches-of-3", deltafifo.Options{MaxBatch: 3}, newCoalescing},
	{"InOrder", deltafifo.Options{}, newInOrder},
	{"InOrder-batches-of-3", deltafifo.Options{MaxBatch: 3}, newInOrder},
	{"InOrder-atomic", deltafifo.Options{Atomic: true}, newInOrder},
}

// told is an object: the n-th thing that a producer tells of a key.
type told struct {
	key      string
	producer string
	n        int
}

// fixture is a FIFO, the store that its consumer fills, and what came out.
type fixture struct {
	fifo    contract.FIFO
	known   map[string]*told
	got     []*told
	running int // process functions that run
	failed  error
}

// GetByKey and ListKeys are contract.KeyListerGetter.
func (b *fixture) GetByKey(key string) (any, bool, error) {
	o, ok := b.known[key]
	return o, ok, nil
}

func (b *fixture) ListKeys() []string {
	var keys []string
	for key := range b.known {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func newFixture(v construct, opts deltafifo.Options) *fixture {
	b := &fixture{known: map[string]*told{}}
	b.fifo = v(contract.FIFOConfig{KnownObjects: b, KeyFunc: func(obj any) (string, error) {
		if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			return tombstone.Key, nil
		}
		return obj.(*told).key, nil
	}}, opts)
	return b
}

func (b *fixture) fail(format string, args ...any) {
	if b.failed == nil {
		b.failed = fmt.Errorf(format, args...)
	}
}

// process applies what comes out, one delta after the other.
func (b *fixture) process(item any, _ bool) error {
	for _, d := range item.(contract.Deltas) {
		b.take(d)
	}
	return nil
}

func (b *fixture) take(d contract.Delta) {
	explore.Point("process")
	switch o := d.Object.(type) {
	case *told:
		b.got = append(b.got, o)
		if b.known[o.key] = o; d.Type == contract.Deleted {
			delete(b.known, o.key)
		}
	case cache.DeletedFinalStateUnknown:
		delete(b.known, o.Key)
	case contract.ReplacedAllInfo:
		clear(b.known)
		for _, obj := range o.Objects {
			b.got = append(b.got, obj.(*told))
			b.known[obj.(*told).key] = obj.(*told)
		}
	default:
		b.fail("delta %v of %T", d.Type, d.Object)
	}
}

// pop consumes until the FIFO is closed and empty.
func (b *fixture) pop() {
	for {
		if _, err := b.fifo.Pop(b.process); err != nil {
			if !errors.Is(err, contract.ErrFIFOClosed) {
				b.fail("Pop: %v", err)
			}
			return
		}
	}
}

func (b *fixture) popBatches() {
	batches, ok := b.fifo.(contract.BatchPopper)
	if !ok {
		b.pop()
		return
	}
	for {
		err := batches.PopBatch(func(deltas []contract.Delta, _ bool) error {
			for _, d := range deltas {
				b.take(d)
			}
			return nil
		}, b.process)
		if err != nil {
			return
		}
	}
}

// popN consumes until n objects came out.
func (b *fixture) popN(n int) func() {
	return func() {
		for len(b.got) < n {
			if _, err := b.fifo.Pop(b.process); err != nil {
				b.fail("Pop: %v", err)
				return
			}
		}
	}
}

func (b *fixture) produce(producer string, keys ...string) func() {
	return func() {
		for n, key := range keys {
			add := b.fifo.Add
			if n > 0 {
				add = b.fifo.Update
			}
			if err := add(&told{key, producer, n}); err != nil {
				b.fail("%v", err)
			}
		}
	}
}

func then(fs ...func()) func() {
	return func() {
		for _, f := range fs {
			f()
		}
	}
}

// judge: of each producer everything came out once, in the order of its calls.
func (b *fixture) judge(want map[string]int) func() error {
	return func() error {
		b.fifo.Close()
		b.pop()
		next := map[string]int{}
		for _, o := range b.got {
			if o.n != next[o.producer] {
				b.fail("of %s came out %d where %d was due", o.producer, o.n, next[o.producer])
			}
			next[o.producer]++
		}
		for producer, n := range want {
			if next[producer] != n {
				b.fail("of %s came out %d of %d", producer, next[producer], n)
			}
		}
		return b.failed
	}
}

// popTogether pops, and has process wait until n of its calls run, where the FIFO lets
// them.
func (b *fixture) popTogether(n int) func() {
	taken := 0
	return func() {
		_, err := b.fifo.Pop(func(item any, isInInitialList bool) error {
			taken++
			explore.Await("all have one", func() bool { return taken == n })
			return b.process(item, isInInitialList)
		})
		if err != nil {
			b.fail("Pop: %v", err)
		}
	}
}

// whileOneWorks has two consumers that pop once each: the first does not come back to look
// for what call queues.
func (b *fixture) whileOneWorks(call func() error) ([]func(), func() error) {
	produce := func() {
		if err := call(); err != nil {
			b.fail("%v", err)
		}
	}
	once := func() {
		if _, err := b.fifo.Pop(b.process); err != nil {
			b.fail("Pop: %v", err)
		}
	}
	b.produce("p", "a")() // before the threads begin: fewer interleavings
	return []func(){produce, once, once}, b.judge(map[string]int{"p": 1, "q": 1})
}

// plays are what is done to each FIFO.
var plays = map[string]func(b *fixture) (threads []func(), judge func() error){
	"two producers, a consumer": func(b *fixture) ([]func(), func() error) {
		return []func(){b.produce("p", "a", "a"), b.produce("q", "b", "b"), b.popN(4)},
			b.judge(map[string]int{"p": 2, "q": 2})
	},
	"two producers, a consumer of batches": func(b *fixture) ([]func(), func() error) {
		return []func(){b.produce("p", "a", "c"), then(b.produce("q", "b"), b.fifo.Close), b.popBatches},
			b.judge(map[string]int{"p": 2, "q": 1})
	},
	"a producer, two consumers": func(b *fixture) ([]func(), func() error) {
		return []func(){then(b.produce("p", "a"), b.produce("q", "b"), b.produce("r", "c"), b.fifo.Close),
			b.pop, b.pop}, b.judge(map[string]int{"p": 1, "q": 1, "r": 1})
	},
	"two consumers at once": func(b *fixture) ([]func(), func() error) {
		pop := b.popTogether(2)
		return []func(){then(b.produce("p", "a"), b.produce("q", "b")), pop, pop},
			b.judge(map[string]int{"p": 1, "q": 1})
	},
	"two consumers at once, of a list": func(b *fixture) ([]func(), func() error) {
		pop := b.popTogether(2)
		list := func() {
			if err := b.fifo.Replace([]any{&told{"a", "p", 0}}, "1"); err != nil {
				b.fail("%v", err)
			}
		}
		return []func(){then(list, b.produce("q", "b")), pop, pop},
			b.judge(map[string]int{"p": 1, "q": 1})
	},
	"two consumers at once, beside a reader": func(b *fixture) ([]func(), func() error) {
		pop := b.popTogether(2)
		read := func() {
			if q, ok := b.fifo.(contract.KeyedQueue); ok {
				q.ListKeys()
			}
		}
		return []func(){then(b.produce("p", "a"), b.produce("q", "b")), pop, pop, read},
			b.judge(map[string]int{"p": 1, "q": 1})
	},
	"adds beside Close": func(b *fixture) ([]func(), func() error) {
		return []func(){b.produce("p", "a", "b"), b.fifo.Close, b.pop}, b.judge(map[string]int{"p": 2})
	},
	"a deletion beside the processing of the object": func(b *fixture) ([]func(), func() error) {
		return []func(){
				func() {
					if err := errors.Join(b.fifo.Add(&told{"a", "p", 0}),
						b.fifo.Delete(&told{"a", "p", 1})); err != nil {
						b.fail("%v", err)
					}
				},
				b.popN(2),
			}, func() error {
				if err := b.judge(map[string]int{"p": 2})(); err != nil {
					return err
				}
				if len(b.known) > 0 {
					return errors.New("a deleted object is known")
				}
				return nil
			}
	},
	"HasSynced beside the first list": func(b *fixture) ([]func(), func() error) {
		replaced := false
		return []func(){
				func() {
					replaced = true
					if err := b.fifo.Replace([]any{&told{"a", "p", 0}, &told{"b", "p", 1}}, "1"); err != nil {
						b.fail("%v", err)
					}
				},
				b.popN(2),
				func() {
					for range 3 {
						explore.Point("ask")
						if synced := b.fifo.HasSynced(); synced && (!replaced || len(b.got) < 2) {
							b.fail("HasSynced when %d of 2 objects were processed", len(b.got))
						}
					}
				},
			}, func() error {
				if !b.fifo.HasSynced() {
					b.fail("HasSynced never came")
				}
				return b.judge(map[string]int{"p": 2})()
			}
	},
	"a list while one consumer works and another waits": func(b *fixture) ([]func(), func() error) {
		return b.whileOneWorks(func() error { return b.fifo.Replace([]any{&told{"b", "q", 0}}, "1") })
	},
	"a deletion while one consumer works and another waits": func(b *fixture) ([]func(),
		func() error) {
		b.known["old"] = &told{"old", "before", 0}
		return b.whileOneWorks(func() error { return b.fifo.Delete(&told{"old", "q", 0}) })
	},
	"a list that is folded between two adds": func(b *fixture) ([]func(), func() error) {
		list := func() {
			if err := b.fifo.Replace([]any{&told{"a", "p", 0}}, "1"); err != nil {
				b.fail("%v", err)
			}
		}
		return []func(){list, b.produce("q", "b", "b"), b.popN(3)},
			b.judge(map[string]int{"p": 1, "q": 2})
	},
	"an item put back beside an update": func(b *fixture) ([]func(), func() error) {
		_, back := b.fifo.(contract.KeyedQueue)
		once := func(item any, initial bool) error {
			if back {
				back = false
				return deltafifo.ErrRequeue{}
			}
			return b.process(item, initial)
		}
		pop := func() {
			for len(b.got) < 2 {
				if _, err := b.fifo.Pop(once); err != nil {
					b.fail("Pop: %v", err)
					return
				}
			}
		}
		return []func(){b.produce("p", "a", "a"), pop}, b.judge(map[string]int{"p": 2})
	},
	"a relist beside an add": func(b *fixture) ([]func(), func() error) {
		b.known["old"] = &told{"old", "before", 0}
		return []func(){
				func() {
					if err := b.fifo.Replace([]any{&told{"a", "p", 0}}, "1"); err != nil {
						b.fail("%v", err)
					}
				},
				b.produce("q", "b"),
				b.popN(2),
			}, func() error {
				err := b.judge(map[string]int{"p": 1, "q": 1})()
				if _, kept := b.known["old"]; kept {
					return errors.Join(err, errors.New("an object that is not listed is known"))
				}
				return err
			}
	},
}

// TestExploreInterleavings explores every FIFO: each event comes out once, those of a producer
// in the order of its calls, and no consumer sleeps while something waits.
func TestExploreInterleavings(t *testing.T) { explored().Check(t) }

// In the builds of these tests locks, wake-ups and atomic operations are points.
func init() { explore.Instrument(explore.Code{}) }

func explored() explore.Suite {
	s := explore.Suite{Share: 0.15}
	add := func(name string, construct construct, opts deltafifo.Options) {
		for play, threads := range explore.Ordered(plays) {
			s.Programs = append(s.Programs,
				explore.Program{Name: name + ": " + play, New: func() ([]func(), func() error) {
					return threads(newFixture(construct, opts))
				}})
		}
	}
	for _, v := range variants {
		add(v.name, v.construct, v.opts)
	}
	return s
}
