package engine

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

func newDuet(seed uint64) *duet { return &duet{rng: rand.New(rand.NewPCG(seed, 0))} }

// measure has the actors sit several times.
func measure(t *testing.T, d *duet, times int, budget time.Duration, crews ...[]Actor) *collector {
	t.Helper()
	gc := newCollector()
	defer gc.release()
	gc.collect() // as Alone does
	for range times {
		if err := d.sit(here(gc, crews...), budget); err != nil {
			t.Fatal(err)
		}
	}
	return gc
}

// here are crews of actors in this process.
func here(gc *collector, all ...[]Actor) (crews []crew) {
	for _, one := range all {
		crews = append(crews, &actors{one, gc, &meter{}})
	}
	return crews
}

// sleeper is an operation that takes d, on the bubble's clock, and the longer the later: the
// machine becomes slower by drift for each second since its start.
func sleeper(start time.Time, d time.Duration, drift float64) Actor {
	return Actor{Loop: func(n int) int {
		for range n {
			time.Sleep(time.Duration(float64(d) * (1 + drift*time.Since(start).Seconds())))
		}
		return n
	}}
}

// The ratio is that of the work. A machine that becomes slower all the time does not change
// it, since the turns of a group mirror each other.
func TestDuetFindsTheRatio(t *testing.T) {
	for _, c := range []struct {
		candidate, reference time.Duration
		drift                float64
	}{
		{time.Microsecond, time.Microsecond, 0},
		{1100 * time.Nanosecond, time.Microsecond, 0},
		{40 * time.Microsecond, 50 * time.Microsecond, 0},
		{40 * time.Microsecond, 50 * time.Microsecond, 5},
		{50 * time.Microsecond, 50 * time.Microsecond, 5},
		{20 * time.Millisecond, 30 * time.Millisecond, 0}, // longer than a turn
	} {
		synctest.Test(t, func(t *testing.T) {
			d, start := newDuet(1), time.Now()
			const sittings = 4
			measure(t, d, sittings, 50*time.Millisecond, []Actor{sleeper(start, c.candidate, c.drift)},
				[]Actor{sleeper(start, c.reference, c.drift)})
			want := float64(c.candidate) / float64(c.reference)
			if got := math.Exp(stats.MidMean(d.logs[wallTime])); math.Abs(got/want-1) > 0.002 {
				t.Errorf("%s to %s, drift %g: %.4f, want %.4f", c.candidate, c.reference, c.drift, got, want)
			}
			if len(d.logs[wallTime]) != sittings {
				t.Errorf("%d sittings, want %d", len(d.logs), sittings)
			}
		})
	}
}

// A sitting has three groups of turns of an operation of milliseconds, however short its
// time, and one of an operation that would take longer than a tenth of a second for it.
func TestSlowOperationsHaveEnoughTurns(t *testing.T) {
	for _, c := range []struct {
		operation time.Duration
		turns     int // of each side, in a sitting
	}{{time.Millisecond, 6}, {8 * time.Millisecond, 6}, {9 * time.Millisecond, 4},
		{60 * time.Millisecond, 2}} {
		synctest.Test(t, func(t *testing.T) {
			d, start := newDuet(1), time.Now()
			operation := []Actor{sleeper(start, c.operation, 0)}
			measure(t, d, 1, 6*time.Millisecond, operation, operation)
			if got := len(d.sides[candidate].turns); got != c.turns {
				t.Errorf("%d turns of %s, want %d", got, c.operation, c.turns)
			}
		})
	}
}

// seldom is an operation that takes d, and each every-th one more than that.
func seldom(d time.Duration, every int, more time.Duration) Actor {
	i := 0
	return Actor{Loop: func(n int) int {
		for range n {
			time.Sleep(d)
			if i++; i%every == 0 {
				time.Sleep(more)
			}
		}
		return n
	}}
}

// What an operation does seldom, in a few turns of a sitting, counts in full: here a tenth of
// the time, in one turn of twenty.
func TestDuetChargesRareWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDuet(1)
		const every = 2000 // a turn is 100 operations
		measure(t, d, 4, 200*time.Millisecond,
			[]Actor{seldom(time.Microsecond, every, every/10*time.Microsecond)},
			[]Actor{seldom(time.Microsecond, every, 0)})
		if got := math.Exp(stats.MidMean(d.logs[wallTime])); math.Abs(got-1.1) > 0.02 {
			t.Errorf("%.3f, want 1.1: rare work is hidden", got)
		}
		if got := math.Exp(stats.MidMean(d.logs[usualTime])); math.Abs(got-1) > 0.001 {
			t.Errorf("%.4f in the usual turn, want 1: rare work counts", got)
		}
	})
}

// A machine that stops for milliseconds now and then hits one of the two by chance. Here it
// stops for 100 turns' time, once in each of the candidate's sittings.
func TestDuetSurvivesAStoppedMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDuet(1)
		measure(t, d, 4, 200*time.Millisecond,
			[]Actor{seldom(time.Microsecond, 100_000, 10*time.Millisecond)},
			[]Actor{seldom(time.Microsecond, 1, 0)})
		if got := math.Exp(stats.MidMean(d.logs[wallTime])); math.Abs(got-1) > 0.02 {
			t.Errorf("%.3f, want 1", got)
		}
	})
}

// One sitting of four may be disturbed as a whole.
func TestDuetSurvivesADisturbedSitting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, gc := newDuet(1), newCollector()
		defer gc.release()
		for i := range 4 {
			slow := time.Microsecond
			if i == 2 {
				slow *= 5
			}
			if err := d.sit(here(gc, []Actor{seldom(slow, 1, 0)}, []Actor{seldom(time.Microsecond, 1, 0)}),
				20*time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		if got := math.Exp(stats.MidMean(d.logs[wallTime])); math.Abs(got-1) > 0.01 {
			t.Errorf("%.3f, want 1", got)
		}
	})
}

// allocating is an operation that allocates bytes.
func allocating(bytes int, sink *[]byte) Actor {
	return Actor{Loop: func(n int) int {
		for range n {
			*sink = make([]byte, bytes)
		}
		return n
	}}
}

// Each side's allocations are its own, and each has its share of the collector's time.
func TestDuetKeepsTheSidesApart(t *testing.T) {
	var sink []byte
	d := newDuet(1)
	const bytes = 64 << 10
	gc := measure(t, d, 2, 20*time.Millisecond, []Actor{allocating(bytes, &sink)},
		[]Actor{{Loop: func(n int) int {
			return n
		}}})
	mine, other := d.sides[candidate].values(gc.perByte()), d.sides[reference].values(gc.perByte())
	// The runtime may allocate an object of its own among the thousand.
	if b, n := mine[metrics.BytesPerOp], mine[metrics.AllocsPerOp]; math.Abs(b/bytes-1) > 0.001 ||
		math.Abs(n-1) > 0.01 {
		t.Errorf("%g B/op and %g allocs/op, want %d and 1", b, n, bytes)
	}
	if got := mine[metrics.GCNsPerOp]; got <= 0 {
		t.Errorf("garbage costs %g ns/op", got)
	}
	if got := other[metrics.BytesPerOp] + other[metrics.AllocsPerOp] +
		other[metrics.GCNsPerOp]; got != 0 {
		t.Errorf("the side that allocates nothing is charged with %g", got)
	}
}

// Small objects are counted exactly too, though the runtime's own count runs behind by some
// hundred of them.
func TestAllocationsAreExact(t *testing.T) {
	const cut = 3
	var sink []*int
	i := 0
	some := Actor{Loop: func(n int) int {
		for range n {
			if i++; i%cut != 0 {
				sink = append(sink[:0:0], new(int), new(int)) // and the slice
			}
		}
		return n
	}}
	d := newDuet(1)
	gc := measure(t, d, 4, 5*time.Millisecond, []Actor{some}, []Actor{{Loop: func(n int) int {
		return n
	}}})
	// Each round begins anywhere among the three.
	if got := d.sides[candidate].values(gc.perByte())[metrics.AllocsPerOp]; math.Abs(got-2) > 0.02 {
		t.Errorf("%g allocs/op, want 2 on average", got)
	}
	if got := d.sides[reference].values(gc.perByte())[metrics.AllocsPerOp]; got != 0 {
		t.Errorf("%g allocs/op of nothing", got)
	}
}

// The goroutines that the harness makes for an operation of several are not the operation's.
func TestGoroutinesAreNotCounted(t *testing.T) {
	nothing := Actor{Loop: func(n int) int { return n }}
	d := newDuet(1)
	gc := measure(t, d, 4, 5*time.Millisecond, []Actor{nothing, nothing},
		[]Actor{nothing, nothing, nothing})
	for side := range d.sides {
		if got := d.sides[side].values(gc.perByte())[metrics.AllocsPerOp]; got != 0 {
			t.Errorf("side %d: %g allocs/op of nothing", side, got)
		}
	}
}

// Each cost of a turn has its own mean and its own ratio; what could not be read in a
// sitting has none.
func TestEachCostHasItsRatio(t *testing.T) {
	side := func(wall, cpu, misses float64) solo {
		s := solo{crew: &actors{crew: make([]Actor, 2)}, sittings: [allCosts][]float64{}}
		for range 11 {
			s.turns = append(
				s.turns, spent{Ops: 1, Costs: costs{wallTime: wall, usualTime: wall, cpuTime: cpu,
					allCosts - 1: misses}})
		}
		s.turns[3].Costs[wallTime] = 1e9 // the machine stopped: it counts as ten turns
		s.counted.Ops = 1
		return s
	}
	d, gc := newDuet(1), newCollector()
	defer gc.release()
	d.sides = []solo{side(110, 30, 0), side(100, 20, 7)}
	d.perTurn = 1
	for i := range d.sides {
		d.sides[i].rise(1, true)
	}
	d.compare()
	s, ratios := d.series(candidate, gc.perByte()), d.ratios()
	if got, want := s.Values[metrics.NsPerOp], 2*110*20.0/11; math.Abs(got-want) > 0.01 {
		t.Errorf("%g ns/op of two goroutines, want %g", got, want)
	}
	if got := s.Values[metrics.CPUNsPerOp]; got != 30 {
		t.Errorf("%g cpu-ns/op, want 30", got)
	}
	for metric, want := range map[string]float64{metrics.NsPerOp: 1.1, metrics.UsualNsPerOp: 1.1,
		metrics.CPUNsPerOp: 1.5} {
		if got := math.Exp(ratios[metric].Log); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: ratio %g, want %g", metric, got, want)
		}
	}
	if len(ratios) != 3 {
		t.Errorf("ratios %v, want three: the other costs are 0 on one side or on both", ratios)
	}
	other := d.series(reference, gc.perByte()).Values
	if _, ok := s.Values[metrics.CacheMisses]; ok || other[metrics.CacheMisses] != 7 {
		t.Errorf("%v and %v, want cache misses of the reference alone", s.Values, other)
	}
}

// Collections come between turns: an operation that fills the heap many times sees none.
func TestNoCollectionInATurn(t *testing.T) {
	var sink []byte
	collections := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumGC
	}
	const bytes = 64 << 10
	allocate, inside, made := allocating(bytes, &sink), uint32(0), int64(0)
	counted := Actor{Loop: func(n int) int {
		before := collections()
		made += bytes * int64(allocate.Loop(n))
		inside += collections() - before
		return n
	}}
	for made < 8*garbage {
		measure(t, newDuet(1), 1, 20*time.Millisecond, []Actor{counted}, []Actor{counted})
	}
	if inside > 0 {
		t.Errorf("%d collections in turns, want none", inside)
	}
	// But where they are part of what is measured.
	made, counted.UsualGC = 0, true
	for inside == 0 && made < 64*garbage {
		measure(t, newDuet(1), 1, 20*time.Millisecond, []Actor{counted})
	}
	if inside == 0 {
		t.Errorf("no collection in turns of %d bytes with the usual collector", made)
	}
}

// Two that hold the collector at once, as two players in one process do, leave GOGC as it was,
// whichever ends first.
func TestCollectorsLeaveGOGCAsItWas(t *testing.T) {
	const usual = 150
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	percent := func() int {
		now := debug.SetGCPercent(-1)
		debug.SetGCPercent(now)
		return now
	}
	for last := range 2 {
		both := [2]*collector{newCollector(), newCollector()}
		both[1-last].release()
		if got := percent(); got != -1 {
			t.Errorf("GOGC %d while one of two holds, want -1", got)
		}
		both[last].release()
		if got := percent(); got != usual {
			t.Fatalf("GOGC %d after collector %d released last, want %d", got, last, usual)
		}
	}
}

// A turn never has more operations than keep the two apart on the walk, and both sides do as
// many.
func TestDuetTurnsAreBounded(t *testing.T) {
	d := newDuet(1)
	var most [2]int
	side := func(i int) []Actor {
		return []Actor{{Loop: func(n int) int {
			if d.perTurn > 0 {
				most[i] = max(most[i], n)
			}
			return n
		}}}
	}
	measure(t, d, 2, time.Millisecond, side(candidate), side(reference))
	if most[0] > mostPerTurn || most[0] != most[1] {
		t.Errorf("turns of %d operations, want the same for both, at most %d", most, mostPerTurn)
	}
}

// Operations that another goroutine finishes have turns in which that is most of the work:
// here the last 50 of a turn are put off.
func TestDuetChargesDeferredWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const room = 50
		side := func(each time.Duration, room int) []Actor {
			return []Actor{{Deferred: room, Loop: func(n int) int {
				if more := n - room; more > 0 {
					time.Sleep(time.Duration(more) * each)
				}
				return n
			}}}
		}
		d := newDuet(1)
		measure(t, d, 4, 50*time.Millisecond, side(2*time.Microsecond, room), side(time.Microsecond, 0))
		if d.perTurn != deferredShare*room {
			t.Errorf("turns of %d operations, want %d", d.perTurn, deferredShare*room)
		}
		want := 2 * (1 - 1.0/deferredShare)
		if got := math.Exp(stats.MidMean(d.logs[wallTime])); math.Abs(got/want-1) > 0.01 {
			t.Errorf("ratio %.3f, want %.3f: twice the work, of which a turn may put off one part in %d",
				got, want, deferredShare)
		}
	})
}

// Operations whose cost depends on how many follow each other come in turns of that many, whatever
// one takes.
func TestDuetKeepsWholeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, each := range []time.Duration{10 * time.Nanosecond, time.Microsecond,
			40 * time.Microsecond} {
			var sizes []int
			actor := Actor{Turn: 64, Chunk: 64, Loop: func(n int) int {
				sizes = append(sizes, n)
				time.Sleep(time.Duration(n) * each)
				return n
			}}
			measure(t, newDuet(1), 2, 10*time.Millisecond, []Actor{actor})
			if len(sizes) < 8 || slices.ContainsFunc(sizes, func(n int) bool { return n != 64 }) {
				t.Errorf("%s each: calls of %d operations, want 64 in each", each, sizes)
			}
		}
	})
}

func TestDuetRefusesAShortLoop(t *testing.T) {
	whole, short := []Actor{{Loop: func(n int) int {
		return n
	}}}, []Actor{{Loop: func(n int) int { return n / 2 }}}
	gc := newCollector()
	defer gc.release()
	for _, crews := range [][][]Actor{{whole, short}, {short, whole}, {short}} {
		if err := newDuet(1).sit(here(gc, crews...), time.Millisecond); !errors.Is(err, errStopped) {
			t.Errorf("got %v, want errStopped", err)
		}
	}
}

// counting is a subject that has all operations but one.
type counting struct {
	stub
	lacks   load.Op
	made    *[]string
	name    string
	stopped *int
}

func (s *counting) Stop() { *s.stopped++ }
func (s *counting) Actor(op load.Op, _ load.Group, _ int) (Actor, error) {
	if op == s.lacks {
		return Actor{}, fmt.Errorf("%s: %w", op, ErrUnsupported)
	}
	*s.made = append(*s.made, s.name)
	sink := 0
	return Actor{Loop: func(n int) int {
		for i := range n {
			sink ^= i
		}
		runtime.KeepAlive(sink)
		return n
	}}, nil
}

// Every sitting has subjects of its own, which are stopped. What the candidate lacks is left
// out, and what only the reference lacks is measured without it.
func TestAloneSits(t *testing.T) {
	var made []string
	sat, stopped := 0, 0
	sit := func(i int) (Sitting, error) {
		sat++
		of := func(name string, lacks load.Op) Subject {
			return &counting{made: &made, name: name, lacks: lacks, stopped: &stopped}
		}
		return Sitting{Candidate: of("candidate", load.OpList), Reference: of("reference", load.OpUpdate),
			ReferenceFirst: i%2 == 0}, nil
	}
	w := load.Workload{Ops: []load.Op{load.OpGet, load.OpList, load.OpUpdate}, Parallel: []int{1},
		Duration: 48 * time.Millisecond,
		Objects:  synthetic.ObjectSpec{Kind: synthetic.KindKey, Count: 100}}
	f := record.Fork{Process: map[string]float64{}}
	if err := Alone(t.Context(), sit, "theirs", w, synthetic.Generate(w.Objects, 1), &f,
		nil); err != nil {
		t.Fatal(err)
	}
	if sat != 8 || stopped != 2*sat {
		t.Errorf("%d sittings, want 8; %d subjects stopped, want %d", sat, stopped, 2*sat)
	}
	if made[0] != "reference" || !slices.Equal(made[4:6], []string{"candidate", "reference"}) {
		t.Errorf("actors are made in the order %v, want the reference's first in the first sitting, "+
			"then the candidate's", made)
	}
	if len(f.Unsupported) != 1 || len(f.Series) != 2 {
		t.Fatalf("%d series, %v unsupported; want get and update, and list", len(f.Series), f.Unsupported)
	}
	if d := f.Series[0].Duet; d == nil || d.Against != "theirs" ||
		len(d.Ratios[metrics.NsPerOp].Sittings) != sat {
		t.Errorf("the duet of get is %+v", d)
	}
	if f.Series[1].Duet != nil {
		t.Error("update has a duet, though the reference lacks it")
	}
}

func TestSittingsOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		duration time.Duration
		objects  int
		want     int
	}{
		{25 * time.Millisecond, 10_000, 4}, {time.Millisecond, 10, 2},
		{100 * time.Millisecond, 10_000, 16}, {time.Second, 10_000, 16},
		{200 * time.Millisecond, 100_000, 4}, {time.Second, 1_000_000, 2},
	} {
		w := load.Workload{Duration: c.duration, Objects: synthetic.ObjectSpec{Count: c.objects}}
		if got := Sittings(w); got != c.want {
			t.Errorf("%s, %d objects: %d sittings, want %d", c.duration, c.objects, got, c.want)
		}
	}
}
