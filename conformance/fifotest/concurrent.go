package fifotest

// Producers, consumers and relists at once.

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// consume pops until the FIFO is closed and empty.
func consume(t *suite.T, f contract.FIFO, process func(contract.Deltas)) <-chan struct{} {
	return start(t, func() struct{} {
		for {
			p := popOnce(f, func(o any, _ bool) error {
				process(o.(contract.Deltas))
				return nil
			})
			if errors.Is(p.err, contract.ErrFIFOClosed) {
				return struct{}{}
			}
			if p.err != nil {
				t.Errorf("Pop: %v", p.err)
				return struct{}{}
			}
		}
	})
}

// produce runs n goroutines and waits for them.
func produce(t *suite.T, n int, f func(producer int)) {
	done := start(t, func() struct{} {
		var wg sync.WaitGroup
		for p := range n {
			running := start(t, func() struct{} { f(p); return struct{}{} })
			wg.Go(func() { <-running })
		}
		wg.Wait()
		return struct{}{}
	})
	await(t, done, "the producers do not return")
}

// lingered keeps the count of linger, so that the compiler does not remove the loop.
var lingered atomic.Int64

// linger spins for n rounds of some nanoseconds each, without yielding.
func linger(n int) {
	sum := 0
	for i := range n {
		sum += i ^ sum>>1
	}
	lingered.Store(int64(sum))
}

// seen checks that each event arrives once, and that the events of one producer on one key
// arrive in order. A version is producer*perProducer + number of the event.
type seen struct {
	t           *suite.T
	perProducer int

	mu struct {
		sync.Mutex
		count map[int]int
		last  map[string]int // by producer and key
	}
}

func newSeen(t *suite.T, perProducer int) *seen {
	s := &seen{t: t, perProducer: perProducer}
	s.mu.count, s.mu.last = map[int]int{}, map[string]int{}
	return s
}

func (s *seen) add(deltas contract.Deltas, ordered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range deltas {
		o := d.Object.(*object)
		s.mu.count[o.version]++
		if !ordered {
			continue
		}
		stream := fmt.Sprintf("%d %s", o.version/s.perProducer, o.key)
		if last, ok := s.mu.last[stream]; ok && last >= o.version {
			s.t.Errorf("event %d of a producer came after its event %d on the same key %s",
				o.version%s.perProducer, last%s.perProducer, o.key)
		}
		s.mu.last[stream] = o.version
	}
}

func (s *seen) complete(producers int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range producers * s.perProducer {
		if n := s.mu.count[v]; n != 1 {
			s.t.Fatalf("event %d of producer %d came out %d times", v%s.perProducer, v/s.perProducer, n)
		}
	}
}

const producers = 8

var concurrentCases = fifoCases{
	check("FIFO-20", "many-producers",
		"an event is lost when two informers share a FIFO, or when a relist meets a watch",
		func(t *suite.T, construct newFIFO) {
			n := t.Scale(500)
			b := setUp(t, construct, nil)
			s := newSeen(t, n)
			consumed := consume(t, b.f, func(deltas contract.Deltas) { s.add(deltas, true) })
			produce(t, producers, func(p int) {
				for i := range n {
					o := obj(fmt.Sprintf("k%d", i%7), p*n+i)
					var err error
					if i%3 == 0 {
						err = b.f.Add(o)
					} else {
						err = b.f.Update(o)
					}
					if err != nil {
						t.Errorf("queueing %v: %v", o, err)
					}
					if i%64 == 0 {
						b.f.HasSynced()
					}
				}
			})
			b.f.Close()
			await(t, consumed, "the consumer does not return though the FIFO is closed")
			s.complete(producers)
		}),
	check("FIFO-21", "each-waiting-pop-gets-one", "one of two workers sleeps while work waits",
		func(t *suite.T, construct newFIFO) {
			const waiters = 4
			for round := range t.Scale(60) {
				b := setUp(t, construct, nil)
				waiting := make([]<-chan popped, waiters)
				for i := range waiting {
					waiting[i] = start(t, func() popped { return popOnce(b.f, nil) })
				}
				for range round % 8 {
					runtime.Gosched()
				}
				objs := make([]any, waiters)
				for i := range objs {
					objs[i] = obj(fmt.Sprintf("k%d", i), i)
				}
				if b.class != contract.InOrderAtomic && round%2 == 0 {
					b.replace(objs...)
				} else {
					b.add(objs...)
				}
				got := map[string]bool{}
				for _, w := range waiting {
					p := await(t, w, "a Pop still waits though as many events came as Pops wait")
					got[render(p.deltas)] = true
				}
				if len(got) != waiters {
					t.Fatalf("%d Pops gave %d different events", waiters, len(got))
				}
			}
		}),
	unlocked(check("FIFO-21", "both-at-once",
		"one of two workers sleeps while the other's slow handler keeps work waiting",
		func(t *suite.T, construct newFIFO) {
			rnd := t.Rand()
			for round := range t.Scale(300) {
				b := setUp(t, construct, nil)
				var inside atomic.Int32
				both := make(chan struct{})
				waiting := make([]<-chan popped, 2)
				for i := range waiting {
					waiting[i] = start(t, func() popped {
						return popOnce(b.f, func(any, bool) error {
							if inside.Add(1) == 2 {
								close(both)
							}
							select {
							case <-both:
							case <-t.Stalled():
							}
							return nil
						})
					})
				}
				for range round % 8 {
					runtime.Gosched()
				}
				for i := range rnd.IntN(3000) { // the first Pop takes some or all of them, while they come
					b.update(obj("a", i))
				}
				b.update(obj("a", 1000), obj("b", 0))
				for _, w := range waiting {
					await(t, w, "a Pop still waits though something waits for it; the process of each of two "+
						"Pops waits for the other's")
				}
			}
		})),
	check("FIFO-21", "many-consumers", "an event is handled by two workers, or by none",
		func(t *suite.T, construct newFIFO) {
			n := t.Scale(300)
			b := setUp(t, construct, nil)
			s := newSeen(t, n)
			var consumers []<-chan struct{}
			for range 3 {
				consumers = append(consumers, consume(t, b.f, func(deltas contract.Deltas) {
					s.add(deltas, false)
				}))
			}
			produce(t, producers, func(p int) {
				for i := range n {
					err := b.f.Update(obj(fmt.Sprintf("k%d", i%7), p*n+i))
					if err != nil {
						t.Errorf("Update: %v", err)
					}
				}
			})
			b.f.Close()
			for _, consumed := range consumers {
				await(t, consumed, "a consumer does not return though the FIFO is closed")
			}
			s.complete(producers)
		}),
	check("FIFO-22", "state-of-the-source", "the cache differs from the cluster for ever",
		func(t *suite.T, construct newFIFO) {
			for round := range t.Scale(5) {
				store, source := known(), newSource(t, round)
				b := setUp(t, construct, store)
				consumed := consume(t, b.f, store.apply)
				produce(t, 2, func(p int) {
					if p == 0 {
						source.reflect(b.f)
						return
					}
					for range 50 {
						err := b.f.Resync()
						if err != nil {
							t.Errorf("Resync: %v", err)
						}
						for range 10 {
							runtime.Gosched()
						}
					}
				})
				b.f.Close()
				await(t, consumed, "the consumer does not return though the FIFO is closed")
				if got, want := store.String(), source.state.String(); got != want {
					t.Fatalf("the consumer's store ends with\n\t%s\nand the source with\n\t%s", got, want)
				}
			}
		}),
	byEachPopper("FIFO-23", "calls-during-process",
		"the store is read by a relist while the consumer writes it, and deletions are missed",
		func(t *suite.T, construct newFIFO, by popper) {
			objs := by.objects()
			for name, call := range map[string]func(f contract.FIFO) error{
				"Delete":  func(f contract.FIFO) error { return f.Delete(objs[0]) },
				"Replace": func(f contract.FIFO) error { return f.Replace(nil, "7") },
				"Resync":  func(f contract.FIFO) error { return f.Resync() },
			} {
				for range t.Scale(5) {
					store, consulted := watchedStore(t, objs...)
					b := by.setUp(t, construct, store)
					b.add(listOf(objs)...)
					var called <-chan error
					b.take(func(any, bool) error {
						// The call may wait for process, so process leaves it time and does not wait for it.
						called = start(t, func() error { return call(b.f) })
						consulted.inProcess.Store(true)
						letOthersRun()
						consulted.inProcess.Store(false)
						return nil
					})
					b.must(await(t, called, name+" does not return"))
					consulted.check(name)
				}
			}
		}),
	check("FIFO-23", "calls-at-any-time",
		"the store is read by a relist while the consumer writes it, and deletions are missed",
		func(t *suite.T, construct newFIFO) {
			store, consulted := watchedStore(t, obj("a", 1), obj("b", 2))
			b := setUp(t, construct, store)
			consumed := consume(t, b.f, func(contract.Deltas) {
				consulted.inProcess.Store(true)
				runtime.Gosched()
				consulted.inProcess.Store(false)
			})
			produce(t, 2, func(p int) {
				for i := range t.Scale(200) {
					o := obj("a", i)
					err := errors.Join(b.f.Update(o), b.f.Delete(o), b.f.Replace([]any{o}, "7"), b.f.Resync())
					if err != nil {
						t.Errorf("producer %d: %v", p, err)
					}
				}
			})
			b.f.Close()
			await(t, consumed, "the consumer does not return though the FIFO is closed")
			consulted.check("a producer")
		}),
}

// consulted counts the look-ups in the consumer's store that the FIFO must not make.
type consulted struct {
	t          *suite.T
	inProcess  atomic.Bool
	violations atomic.Int64
}

func watchedStore(t *suite.T, objs ...*object) (*knownObjects, *consulted) {
	store, c := known(objs...), &consulted{t: t}
	store.consulted = func() {
		if c.inProcess.Load() || classOf(t.Config()) == contract.InOrderAtomic {
			c.violations.Add(1)
		}
	}
	return store, c
}

func (c *consulted) check(call string) {
	if n := c.violations.Load(); n > 0 {
		c.t.Fatalf("KnownObjects was consulted %d times, by %s, when it must not be", n, call)
	}
}

// A hundred producers at once, and a goroutine that waits for the initial list among them.

// consumeBatches is consume with PopBatch.
func consumeBatches(t *suite.T, f contract.BatchPopper,
	process func(contract.Deltas)) <-chan struct{} {
	return start(t, func() struct{} {
		for {
			err := f.PopBatch(func(deltas []contract.Delta, _ bool) error {
				process(deltas)
				return nil
			}, func(o any, _ bool) error {
				process(o.(contract.Deltas))
				return nil
			})
			if errors.Is(err, contract.ErrFIFOClosed) {
				return struct{}{}
			}
			if err != nil {
				t.Errorf("PopBatch: %v", err)
				return struct{}{}
			}
		}
	})
}

// crowd lets a hundred producers queue their events, on a few shared keys and on many keys
// of their own. It checks that all events come out in order.
func crowd(t *suite.T, b *fixture, consume func(process func(contract.Deltas)) <-chan struct{}) {
	const producers = 100
	n := t.Scale(60)
	s := newSeen(t, n)
	consumed := consume(func(deltas contract.Deltas) { s.add(deltas, true) })
	produce(t, producers, func(p int) {
		for i := range n {
			key := fmt.Sprintf("shared%d", i%5)
			if i%4 == 0 {
				key = fmt.Sprintf("own%d-%d", p, i)
			}
			err := b.f.Update(obj(key, p*n+i))
			if err != nil {
				t.Errorf("Update: %v", err)
			}
		}
	})
	b.f.Close()
	await(t, consumed, "the consumer does not return though the FIFO is closed")
	s.complete(producers)
}

var crowdCases = fifoCases{
	on("FIFO-20", "hundred-producers", "an event is lost when a whole cluster changes at once", nil,
		func(b *fixture) {
			crowd(b.t, b, func(process func(contract.Deltas)) <-chan struct{} {
				return consume(b.t, b.f, process)
			})
		}),
	on("FIFO-20", "hundred-producers-in-batches",
		"an event is lost when a whole cluster changes at once", nil, func(b *fixture) {
			popper := suite.Needs[contract.BatchPopper](b.t, b.f)
			crowd(b.t, b, func(process func(contract.Deltas)) <-chan struct{} {
				return consumeBatches(b.t, popper, process)
			})
		}),
	check("FIFO-17", "watched-in-a-crowd",
		"a controller starts on half a cache because others were busy meanwhile",
		func(t *suite.T, construct newFIFO) {
			for range t.Scale(3) {
				b := setUp(t, construct, nil)
				const n = 50
				var list []any
				for i := range n {
					list = append(list, obj(fmt.Sprintf("i%d", i), i))
				}
				b.replace(list...)
				var processed atomic.Int64 // objects of the list
				var stop atomic.Bool
				t.Cleanup(func() { stop.Store(true) })
				watched := start(t, func() (early int64) {
					for !b.f.HasSynced() && !stop.Load() {
						runtime.Gosched()
					}
					return n - processed.Load()
				})
				consumed := consume(t, b.f, func(deltas contract.Deltas) {
					runtime.Gosched()
					for _, d := range deltas {
						switch d.Type {
						case contract.Replaced:
							processed.Add(1)
						case contract.ReplacedAll:
							processed.Add(n)
						}
					}
				})
				produce(t, 4, func(p int) {
					for i := range n {
						err := b.f.Update(obj(fmt.Sprintf("k%d", i), n+p*n+i))
						if err != nil {
							t.Errorf("Update: %v", err)
						}
					}
				})
				left := await(t, watched, "HasSynced does not become true though the consumer goes on")
				if left > 0 {
					t.Errorf("HasSynced was true while %d of %d of the initial list were not processed",
						left, n)
				}
				b.f.Close()
				await(t, consumed, "the consumer does not return though the FIFO is closed")
			}
		}),
}
