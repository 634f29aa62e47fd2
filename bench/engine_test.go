package bench

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/informerbench/informerbench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stub is a subject whose operation takes a given time on the bubble's clock.
type stub struct {
	mu    sync.Mutex
	calls int
	takes func(call int) time.Duration
}

func (s *stub) Stop()     {}
func (s *stub) Fill()     {}
func (s *stub) Held() int { return 0 }
func (s *stub) Actor(load.Op, load.Group, int) (Actor, error) {
	return Actor{Loop: func(n int) int {
		for range n {
			s.mu.Lock()
			call := s.calls
			s.calls++
			s.mu.Unlock()
			time.Sleep(s.takes(call))
		}
		return n
	}}, nil
}

func contended(t *testing.T, takes func(int) time.Duration, g load.Group, warmup ...time.Duration) record.Series {
	t.Helper()
	var out record.Series
	synctest.Test(t, func(t *testing.T) {
		g.Name, g.Op, g.Goroutines = "writer", load.OpUpdate, 1
		w := load.Workload{Component: contract.ComponentStore, Groups: []load.Group{g}, Duration: time.Second}
		for _, d := range warmup {
			w.Warmup = d
		}
		series, err := contend(t.Context(), &stub{takes: takes}, w, nil, map[string]float64{})
		if err != nil {
			t.Fatal(err)
		}
		out = series[0]
	})
	return out
}

// One call of a thousand stalls for 200 ms. At 1,000 operations a second some 200
// operations become due meanwhile. The k-th waits 200-k ms, so 1 in 50 of all has a delay
// of 180 ms or more. A closed loop sees only one slow call; an open loop must show the
// delays.
func TestOpenLoopChargesAStallToAllThatItHeldUp(t *testing.T) {
	stall := func(call int) time.Duration {
		if call == 100 {
			return 200 * time.Millisecond
		}
		return 0
	}
	open := contended(t, stall, load.Group{Rate: 1000})
	if n := open.Values["delay-n"]; n != 1000 {
		t.Errorf("%g operations, want 1000: none may be left out", n)
	}
	for p, want := range map[float64]time.Duration{50: 0, 90: 100 * time.Millisecond, 99: 190 * time.Millisecond, 99.9: 199 * time.Millisecond} {
		got := time.Duration(open.Values[metrics.Percentile(metrics.Delay, p)])
		if got < want-2*time.Millisecond || got > want+2*time.Millisecond {
			t.Errorf("delay p%g is %s, want about %s", p, got, want)
		}
	}
	if got := time.Duration(open.Values[metrics.Percentile(metrics.Service, 99)]); got != 0 && got > time.Millisecond {
		t.Errorf("service p99 is %s: all calls but one are instant", got)
	}
	closed := contended(t, func(call int) time.Duration { return stall(call) + time.Millisecond }, load.Group{})
	if got := time.Duration(closed.Values[metrics.Percentile(metrics.Service, 99)]); got > 2*time.Millisecond {
		t.Errorf("a closed loop shows the stall at p99 (%s): then this test shows nothing", got)
	}
}

// Operations that were due and never done count, with their delay at the end.
func TestWhatIsNotDoneCounts(t *testing.T) {
	s := contended(t, func(int) time.Duration { return 10 * time.Second }, load.Group{Rate: 100})
	if s.Values[metrics.Achieved] != 0 || s.Values[metrics.AchievedPct] != 0 {
		t.Errorf("achieved %g/s: nothing was done in time", s.Values[metrics.Achieved])
	}
	if s.Values[metrics.Unfinished] != 100 || s.Values["delay-n"] != 100 {
		t.Errorf("%g unfinished, %g delays; want 100 of each", s.Values[metrics.Unfinished], s.Values["delay-n"])
	}
	if got := time.Duration(s.Values[metrics.Percentile(metrics.Delay, 50)]); got < 480*time.Millisecond || got > 520*time.Millisecond {
		t.Errorf("the median delay is %s, want about 500 ms", got)
	}
}

func TestOfferedAndAchieved(t *testing.T) {
	s := contended(t, func(int) time.Duration { return 20 * time.Millisecond }, load.Group{Rate: 100})
	if s.Values[metrics.Offered] != 100 || s.Values[metrics.Achieved] < 49 || s.Values[metrics.Achieved] > 50 {
		t.Errorf("offered %g, achieved %g; want 100 and 50", s.Values[metrics.Offered], s.Values[metrics.Achieved])
	}
	if late := s.Values[metrics.Max(metrics.Late)]; late > float64(time.Microsecond) {
		t.Errorf("the generator was %s late in a bubble, where timers are exact", time.Duration(late))
	}
}

// Operations left over from the warm-up are no backlog of the measured time. Otherwise a
// starved writer would never seem to do anything.
func TestWarmUpLeavesNoDebt(t *testing.T) {
	s := contended(t, func(int) time.Duration { return 20 * time.Millisecond }, load.Group{Rate: 1000}, time.Second)
	if got := s.Values[metrics.Achieved]; got < 48 || got > 50 {
		t.Errorf("achieved %g/s, want 50: a call takes 20 ms", got)
	}
	if n := s.Values["delay-n"]; n != 1000 {
		t.Errorf("%g delays, want those of the 1000 operations due after warm-up", n)
	}
}

// The subject is not charged for a generator that overslept.
func TestLatenessIsKeptApart(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		start := time.Now()
		table := timetable{}
		from, late := table.await(start.Add(time.Millisecond))
		if late != 0 || !from.Equal(start.Add(time.Millisecond)) {
			t.Errorf("on time: from %s, late %s", from.Sub(start), late)
		}
		// As if the machine had slept until 10 ms: operations due before that count from 10
		// ms.
		table.woke = start.Add(10 * time.Millisecond)
		time.Sleep(10 * time.Millisecond)
		if from, _ = table.await(start.Add(2 * time.Millisecond)); !from.Equal(start.Add(10 * time.Millisecond)) {
			t.Errorf("due before the generator woke: counts from %s, want 10ms", from.Sub(start))
		}
		if from, _ = table.await(start.Add(10500 * time.Microsecond)); !from.Equal(start.Add(10500 * time.Microsecond)) {
			t.Errorf("due after it woke: counts from %s, want 10.5ms", from.Sub(start))
		}
	})
}

func TestWalks(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{1: 1, 2: 2, 3: 2, 100: 64, 5000: 4096, 100_000: longestWalk} {
		w := newWalk(n, 0, 3)
		seen := map[int]bool{}
		for range len(w.order) {
			seen[w.order[w.slot()]] = true
		}
		if len(seen) != want || len(w.order) != want {
			t.Errorf("a walk over %d positions has %d slots and visits %d, want %d: none twice in a lap", n, len(w.order), len(seen), want)
		}
	}
	if w := newWalk(100, 7, 0); slices.Max(w.order) > 6 {
		t.Errorf("a walk over the first 7 positions goes to %d", slices.Max(w.order))
	}
	a, errA := ownWalk(100, 0, 0, 2)
	b, errB := ownWalk(100, 0, 1, 2)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	for _, p := range a.order {
		if slices.Contains(b.order, p) {
			t.Fatalf("two goroutines share position %d", p)
		}
	}
	if _, err := ownWalk(3, 0, 0, 4); err == nil {
		t.Error("four goroutines were given objects of their own among three")
	}
	w := newWalk(4, 0, 0)
	var passes []uint32
	for range 12 {
		passes = append(passes, w.pass())
		w.slot()
	}
	if !slices.Equal(passes, []uint32{0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0}) {
		t.Errorf("passes %v", passes)
	}
}

// Every operation of every implementation does as many as requested, in the chunks that it
// allows, alone and by two goroutines. It leaves the component with its initial contents.
func TestEveryOperation(t *testing.T) {
	for _, e := range catalog.All() {
		if e.Component == contract.ComponentLimiter {
			continue // no workload measures one by itself
		}
		t.Run(e.ID(), func(t *testing.T) {
			w := load.Workload{Name: "w", Component: e.Component, Objects: load.ObjectSpec{Count: 300}}
			if e.Component == contract.ComponentDelay {
				w.Waiting, w.Ahead = 150, time.Minute
			}
			w = w.WithDefaults()
			objects := load.Generate(w.Objects, 1)
			for _, op := range load.Operations(e.Component) {
				if !op.Single {
					continue
				}
				s, err := NewSubject(e, objects, w)
				if err != nil {
					t.Fatal(err)
				}
				s.Fill()
				for _, goroutines := range []int{1, 2} {
					actors, err := crew(s, op.Op, goroutines)
					if goroutines > 1 && (e.Component == contract.ComponentDelay || e.Component == contract.ComponentFIFO) {
						if !errors.Is(err, ErrUnsupported) {
							t.Errorf("%s by two goroutines: %v, want ErrUnsupported: there is one owner, or one consumer", op.Op, err)
						}
						continue
					}
					if goroutines > 1 && (op.Op == load.OpSync || op.Op == load.OpSyncStream) {
						if !errors.Is(err, ErrUnsupported) {
							t.Errorf("%s by two goroutines: %v, want ErrUnsupported: one informer is measured at a time", op.Op, err)
						}
						continue
					}
					if err != nil {
						t.Errorf("%s: %v", op.Op, err)
						continue
					}
					var wg sync.WaitGroup
					for _, a := range actors {
						want := 500
						if a.collects {
							want = 5 // each makes a whole informer, and collects garbage before
						}
						wg.Go(func() {
							if got := a.do(want); got != want {
								t.Errorf("%s: did %d of %d", op.Op, got, want)
							}
						})
					}
					wg.Wait()
				}
				if store, ok := s.(*storeSubject); ok {
					if n := len(store.store.List()); n != 300 {
						t.Errorf("%s left %d of 300 objects", op.Op, n)
					}
				}
				s.Stop()
			}
		})
	}
}

// do runs n operations with the preparations that they need.
func (a Actor) do(n int) (done int) {
	for done < n {
		k := a.chunk(n - done)
		if a.Prepare != nil {
			a.Prepare(k)
		}
		got := a.Loop(k)
		done += got
		if got < k {
			break
		}
	}
	return done
}

func TestAloneCountsAllocations(t *testing.T) {
	var keep [][]byte
	a := Actor{Loop: func(n int) int {
		keep = keep[:0]
		for range n {
			keep = append(keep, make([]byte, 1024))
		}
		return n
	}}
	var o solo
	for range passes {
		if err := o.pass([]Actor{a}, 20*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	s := o.series()
	if got := s.Values[metrics.AllocsPerOp]; got < 0.95 || got > 1.1 {
		t.Errorf("%g allocs/op, want 1", got)
	}
	if got := s.Values[metrics.BytesPerOp]; got < 1000 || got > 1300 {
		t.Errorf("%g B/op, want 1024", got)
	}
	if len(s.Passes) != passes {
		t.Errorf("%d passes, want %d", len(s.Passes), passes)
	}
}

// Only operations that fill the heap quickly are measured from collection to collection.
// One that allocates little would take seconds, and so would one that is a large part of a
// cycle.
func TestAloneMeasuresWholeCycles(t *testing.T) {
	const heap = 64 << 20
	ballast, sink := make([]byte, heap), []byte(nil)
	for _, c := range []struct {
		name  string
		bytes int
		whole bool
	}{{"nothing", 0, false}, {"little", 64, false}, {"much", heap / 100, true}, {"most", heap / 2, false}} {
		a := Actor{Loop: func(n int) int {
			for range n {
				if c.bytes > 0 {
					sink = make([]byte, c.bytes)
				}
			}
			return n
		}}
		var o solo
		ended, did := 0, 0
		// A pass does not wait forever for a collector that gets no processor. On a busy
		// machine several passes may therefore be needed until one ends with a collection.
		for ; did < passes || c.whole && ended == 0 && did < 40*passes; did++ {
			if err := o.pass([]Actor{a}, time.Millisecond); err != nil {
				t.Fatal(err)
			}
			if o.collected {
				ended++
			}
		}
		if whole := o.perCycle > 0; whole != c.whole || whole && ended == 0 {
			t.Errorf("%s: whole cycles: %v, want %v; %d of %d passes ended with one", c.name, whole, c.whole, ended, did)
		}
	}
	runtime.KeepAlive(ballast)
	runtime.KeepAlive(sink)
}

// A pass of whole cycles ends even if the operation stops allocating.
func TestAloneEndsWithoutCollections(t *testing.T) {
	var o solo
	a := Actor{Loop: func(n int) int { return n }}
	if err := o.pass([]Actor{a}, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	o.perCycle, o.perRound = 100*partsOfCycle, 100
	if err := o.pass([]Actor{a}, time.Millisecond); err != nil || o.collected {
		t.Errorf("error %v, collected %v; want neither", err, o.collected)
	}
}

// A workload with faults runs over the list/watch source, and loses nothing.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		impl      string
		component contract.Component
		groups    []load.Group
	}{
		{"mutexmap", contract.ComponentStore, []load.Group{{Name: "writer", Op: load.OpUpdate, Goroutines: 1, Rate: 2000}, {Name: "readers", Op: load.OpList, Goroutines: 1, Rate: 100}}},
		{"clientgo", contract.ComponentStore, []load.Group{{Name: "writer", Op: load.OpAddDelete, Goroutines: 1, Rate: 1000}}},
		{"deltafifo", contract.ComponentFIFO, []load.Group{{Name: "producer", Op: load.OpAdd, Goroutines: 1, Rate: 2000}, {Name: "consumer", Op: load.OpPop, Goroutines: 1}}},
	} {
		t.Run(string(c.component)+"/"+c.impl, func(t *testing.T) {
			e, err := catalog.Lookup(c.component, c.impl)
			if err != nil {
				t.Fatal(err)
			}
			w := load.Workload{
				Name: "faulty", Component: c.component, Objects: load.ObjectSpec{Count: 100}, Groups: c.groups, Duration: 200 * time.Millisecond,
				Faults: []load.Fault{{Kind: load.FaultGone, AfterEvents: 20, EveryEvents: 40}, {Kind: load.FaultClose, AfterEvents: 10, EveryEvents: 30}},
			}.WithDefaults()
			if err := w.Validate(); err != nil {
				t.Fatal(err)
			}
			f := record.Fork{Process: map[string]float64{}}
			if err := perform(t.Context(), e, w, &f, nil); err != nil {
				t.Fatal(err)
			}
			if f.Process[metrics.Faults] < 2 {
				t.Errorf("%g faults struck, want several", f.Process[metrics.Faults])
			}
			for _, s := range f.Series {
				if s.Values[metrics.Achieved] <= 0 {
					t.Errorf("%s did nothing", s.Name())
				}
				// Writers to the source know when the store shows their events.
				n, known := s.Values[metrics.Number(metrics.Stale)]
				if want := c.component == contract.ComponentStore && s.Group == "writer"; known != want || want && n <= 0 {
					t.Errorf("%s: staleness of %g events (known: %t), want it: %t", s.Name(), n, known, want)
				}
			}
			if c.component == contract.ComponentStore && (len(f.Checks) != 1 || !f.Checks[0].Passed) {
				t.Errorf("checks: %+v", f.Checks)
			}
		})
	}
}

// The comparison of a store with a trace's final state finds each kind of difference.
func TestCompareFindsDifferences(t *testing.T) {
	pods := &load.PodTrace{Source: "a test", Seed: 1, Compress: 1, Pods: []load.TracePod{
		{Namespace: "a", Name: "one", QOS: "LS"}, {Namespace: "a", Name: "two", QOS: "LS"},
	}, Events: []load.PodEvent{
		{Type: load.TraceCreated}, {At: 1, Type: load.TraceCreated, Pod: 1}, {At: 2, Type: load.TraceScheduled, Pod: 0, Node: "n"}, {At: 3, Type: load.TraceDeleted, Pod: 1},
	}}
	if err := pods.Validate(); err != nil {
		t.Fatal(err)
	}
	trace := pods.Trace()
	e, err := catalog.Lookup(contract.ComponentStore, "mutexmap")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		spoil  func(contract.Store)
		passes bool
	}{
		{"as it is", func(contract.Store) {}, true},
		{"missing", func(s contract.Store) { s.Delete("a/one") }, false},
		{"not deleted", func(s contract.Store) { s.Add("a/two", trace.StateAfter(2)[0]["a/two"]) }, false},
		{"stale", func(s contract.Store) { s.Add("a/one", trace.StateAfter(1)[0]["a/one"]) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := load.Workload{Component: contract.ComponentStore, Groups: []load.Group{{Name: "lister", Op: load.OpList, Goroutines: 1}}}
			target := newStoreTarget(e.NewStore, trace, w)
			store := target.stores[0].store
			series, err := feed(t.Context(), target, trace, w, nil)
			if err != nil {
				t.Fatal(err)
			}
			if n := series[0].Values["delay-n"]; n != 4 {
				t.Errorf("%g events applied, want 4", n)
			}
			state := func() []map[string]any {
				state, err := target.state()
				if err != nil {
					t.Fatal(err)
				}
				return state
			}
			whole, err := digest(state())
			if err != nil {
				t.Fatal(err)
			}
			c.spoil(store)
			if check := compare(sameFinalState, state(), trace, sameObject); check.Passed != c.passes {
				t.Errorf("%+v", check)
			}
			spoilt, err := digest(state())
			if err != nil {
				t.Fatal(err)
			}
			if (spoilt == whole) != c.passes {
				t.Error("the digest does not tell the difference")
			}
		})
	}
}

// The time of an operation that does less than requested is refused.
func TestAloneRefusesAShortLoop(t *testing.T) {
	var o solo
	if err := o.pass([]Actor{{Loop: func(n int) int { return n / 2 }}}, time.Millisecond); !errors.Is(err, errStopped) {
		t.Errorf("got %v, want errStopped", err)
	}
}

// Consumers stop when the time is up, even if items still wait.
func TestConsumersLeaveABacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := load.Workload{Component: contract.ComponentFIFO, Duration: time.Second, Groups: []load.Group{{Name: "consumer", Op: load.OpPop, Goroutines: 1}}}
		begin := time.Now()
		if _, err := contend(t.Context(), &stub{takes: func(int) time.Duration { return 10 * time.Millisecond }}, w, nil, map[string]float64{}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took > 1100*time.Millisecond {
			t.Errorf("it took %s, want about 1s", took)
		}
	})
}
