package engine

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informerbench/informerbench/load"
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
		if err := d.sit(crews, budget, gc); err != nil {
			t.Fatal(err)
		}
	}
	return gc
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
			measure(t, d, sittings, 50*time.Millisecond, []Actor{sleeper(start, c.candidate, c.drift)}, []Actor{sleeper(start, c.reference, c.drift)})
			want := float64(c.candidate) / float64(c.reference)
			if got := math.Exp(stats.MidMean(d.logs)); math.Abs(got/want-1) > 0.002 {
				t.Errorf("%s to %s, drift %g: %.4f, want %.4f", c.candidate, c.reference, c.drift, got, want)
			}
			if len(d.logs) != sittings {
				t.Errorf("%d sittings, want %d", len(d.logs), sittings)
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
		measure(t, d, 4, 200*time.Millisecond, []Actor{seldom(time.Microsecond, every, every/10*time.Microsecond)}, []Actor{seldom(time.Microsecond, every, 0)})
		if got := math.Exp(stats.MidMean(d.logs)); math.Abs(got-1.1) > 0.02 {
			t.Errorf("%.3f, want 1.1: rare work is hidden", got)
		}
	})
}

// A machine that stops for milliseconds now and then hits one of the two by chance. Here it
// stops for 100 turns' time, once in each of the candidate's sittings.
func TestDuetSurvivesAStoppedMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDuet(1)
		measure(t, d, 4, 200*time.Millisecond, []Actor{seldom(time.Microsecond, 100_000, 10*time.Millisecond)}, []Actor{seldom(time.Microsecond, 1, 0)})
		if got := math.Exp(stats.MidMean(d.logs)); math.Abs(got-1) > 0.02 {
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
			if err := d.sit([][]Actor{{seldom(slow, 1, 0)}, {seldom(time.Microsecond, 1, 0)}}, 20*time.Millisecond, gc); err != nil {
				t.Fatal(err)
			}
		}
		if got := math.Exp(stats.MidMean(d.logs)); math.Abs(got-1) > 0.01 {
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
	gc := measure(t, d, 2, 20*time.Millisecond, []Actor{allocating(bytes, &sink)}, []Actor{{Loop: func(n int) int { return n }}})
	mine, other := d.sides[candidate].values(gc), d.sides[reference].values(gc)
	if got := mine[metrics.BytesPerOp]; math.Abs(got/bytes-1) > 0.1 {
		t.Errorf("%g B/op, want %d", got, bytes)
	}
	if got := mine[metrics.AllocsPerOp]; got < 0.95 || got > 1.1 {
		t.Errorf("%g allocs/op, want 1", got)
	}
	if got := mine[metrics.GCNsPerOp]; got <= 0 {
		t.Errorf("garbage costs %g ns/op", got)
	}
	if got := other[metrics.BytesPerOp] + other[metrics.GCNsPerOp]; got > 10 {
		t.Errorf("the side that allocates nothing is charged with %g", got)
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
	allocate, inside, made := allocating(bytes, &sink), uint32(0), 0
	counted := Actor{Loop: func(n int) int {
		before := collections()
		made += bytes * allocate.Loop(n)
		inside += collections() - before
		return n
	}}
	for made < 8*garbage {
		measure(t, newDuet(1), 1, 20*time.Millisecond, []Actor{counted}, []Actor{counted})
	}
	if inside > 0 {
		t.Errorf("%d collections in turns, want none", inside)
	}
	// But where they are part of what is measured. Without them this does not end.
	for counted.UsualGC = true; inside == 0; {
		measure(t, newDuet(1), 1, 20*time.Millisecond, []Actor{counted})
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

func TestDuetRefusesAShortLoop(t *testing.T) {
	whole, short := []Actor{{Loop: func(n int) int { return n }}}, []Actor{{Loop: func(n int) int { return n / 2 }}}
	gc := newCollector()
	defer gc.release()
	for _, crews := range [][][]Actor{{whole, short}, {short, whole}, {short}} {
		if err := newDuet(1).sit(crews, time.Millisecond, gc); !errors.Is(err, errStopped) {
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
		return Sitting{Candidate: of("candidate", load.OpList), Reference: of("reference", load.OpUpdate), ReferenceFirst: i%2 == 0}, nil
	}
	w := load.Workload{Ops: []load.Op{load.OpGet, load.OpList, load.OpUpdate}, Parallel: []int{1}, Duration: 48 * time.Millisecond, Objects: load.ObjectSpec{Kind: load.KindKey, Count: 100}}
	f := record.Fork{Process: map[string]float64{}}
	if err := Alone(t.Context(), sit, "theirs", w, load.Generate(w.Objects, 1), &f, nil); err != nil {
		t.Fatal(err)
	}
	if sat != 8 || stopped != 2*sat {
		t.Errorf("%d sittings, want 8; %d subjects stopped, want %d", sat, stopped, 2*sat)
	}
	if made[0] != "reference" || !slices.Equal(made[4:6], []string{"candidate", "reference"}) {
		t.Errorf("actors are made in the order %v, want the reference's first in the first sitting, then the candidate's", made)
	}
	if len(f.Unsupported) != 1 || len(f.Series) != 2 {
		t.Fatalf("%d series, %v unsupported; want get and update, and list", len(f.Series), f.Unsupported)
	}
	if d := f.Series[0].Duet; d == nil || d.Against != "theirs" || len(d.Sittings) != sat {
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
		{25 * time.Millisecond, 10_000, 4}, {time.Millisecond, 10, 2}, {100 * time.Millisecond, 10_000, 16}, {time.Second, 10_000, 16},
		{200 * time.Millisecond, 100_000, 4}, {time.Second, 1_000_000, 2},
	} {
		w := load.Workload{Duration: c.duration, Objects: load.ObjectSpec{Count: c.objects}}
		if got := sittingsOf(w); got != c.want {
			t.Errorf("%s, %d objects: %d sittings, want %d", c.duration, c.objects, got, c.want)
		}
	}
}
