package engine

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// Two implementations that take turns many times a second meet the same machine: what slows
// it down for longer than a turn slows both. Their ratio is therefore much more exact than
// either time (Bulej et al., "Duet Benchmarking: Improving Measurement Accuracy in the
// Cloud", ICPE 2020, run both at once; here they take turns, so that they do not contend for
// caches and memory).
const (
	// turnTime is how long a turn lasts, about. The noise of a turn hardly depends on how
	// long it is, from 3 ms down to 30 us, so short turns give more samples a second. It must be
	// much longer than a reading of the clock and of the counters of allocations, which take
	// some microseconds.
	turnTime = 100 * time.Microsecond
	// shortestTurn is the least that a turn of the faster side lasts. Beside an operation that takes
	// a thousand times as long, it would else be shorter than a reading of the clock.
	shortestTurn = 5 * time.Microsecond
	// mostPerTurn bounds the operations of a turn. The two walk the same circle of objects,
	// half of it apart. A group's four turns must stay in their halves, or one would find
	// warm in the caches what the other has just read. The bound is right for 10,000
	// objects and more.
	mostPerTurn = 1024
	// lap is the number of operations of each side that do not count at the beginning of a
	// sitting, unless they take half of its time: a lap of the circle of 10,000 objects. What
	// was done before, filling the two among it, left one of them more in the caches, and
	// makes it 5 to 10 percent faster at first.
	lap = 8 * mostPerTurn
	// deferredShare is how many times as long a turn is as what its operations may put off
	// (Actor.Deferred).
	deferredShare = 12
	// longTurn is how long a turn is in which allocations are counted: fifty times as long as
	// that takes.
	longTurn = time.Millisecond
	// leastGroups is how many groups a sitting has at least, and leastOperations how often each
	// side does the operation in it, unless the groups take more than extended in all. With one
	// group there is no median turn. The time of an operation that lasts some milliseconds
	// differs by a tenth from one to the next, and the time of the workload may be over after
	// four of them.
	leastGroups     = 2
	leastOperations = 6
	extended        = 100 * time.Millisecond
	// leadIn is the share of a turn that is done before it, untimed: it brings back into
	// the caches what the other's turn drove out.
	leadIn = 8
	// Warm-up ends when the medians of two successive windows of steadyRounds turns of each
	// side differ by less than the share steadyWithin. A turn that takes longTurn is a window by
	// itself.
	steadyRounds = 3
	steadyWithin = 0.05
	// windows after the first; then the operation is measured as it is, with a warning
	maxWarmup = 4
)

// The sides of a duet.
const (
	candidate = iota
	reference
)

// duet measures one operation of one implementation, or of two that take turns, in sittings
// (see Sittings). Two take turns in groups of four, ABBA or BAAB, drawn for each group: in
// either order a steady drift of the machine's speed hits both alike. Each turn has the same
// number of operations.
//
// The sample of a sitting is the logarithm of the quotient of the two times, summed over all
// turns, so that what an implementation does seldom counts (see longestTurn). A process gives the
// mean
// of the middle half of its sittings, so that one in four may be hit by anything.
type duet struct {
	sides   []solo // the candidate; the reference if there is one
	rng     *rand.Rand
	perTurn int                 // operations of each goroutine; 0 before the first sitting
	group   time.Duration       // how long a group of turns lasts, about
	logs    [allCosts][]float64 // of the sittings
	// restless says that a side reached no steady state in warm-up, which taints the ratio.
	restless bool
}

// sit measures a sitting: groups of turns until budget is spent (see leastOperations), of crews
// that were made for it.
func (d *duet) sit(crews []crew, budget time.Duration) error {
	if d.sides == nil {
		d.sides = make([]solo, len(crews))
	}
	for _, i := range d.order()[:len(d.sides)] { // what begins last has its data in the caches
		d.sides[i].begin(crews[i])
	}
	if d.perTurn == 0 {
		d.calibrate()
	}
	d.warm(budget)
	start := time.Now()
	for n := 0; n == 0 || time.Since(start) < budget || d.needs(n) &&
		time.Since(start)+d.group <= extended; n++ {
		d.turns(d.order())
	}
	for i := range d.sides {
		d.sides[i].rise(d.perTurn, d.counts())
		if err := d.sides[i].end(); err != nil {
			return err
		}
	}
	d.compare()
	d.readjust()
	return nil
}

// needs reports whether a sitting of so many groups is too short.
func (d *duet) needs(groups int) bool {
	return groups < leastGroups || groups*2*d.perTurn < leastOperations
}

// compare keeps the ratios of the last sitting.
func (d *duet) compare() {
	if len(d.sides) == 1 {
		return
	}
	mine, other := &d.sides[candidate], &d.sides[reference]
	for i := range d.logs {
		log, ok := logRatio(mine.last(i), other.last(i))
		if i == usualTime && ok {
			log = usualRatio(mine.turns, other.turns)
		}
		if ok {
			d.logs[i] = append(d.logs[i], log)
		}
	}
}

// usualRatio is the median of the logarithms of the groups' ratios of time.
func usualRatio(mine, other []spent) float64 {
	logs := make([]float64, len(mine)/2) // a group has two turns of each side
	for i := range logs {
		a := mine[2*i].Costs[wallTime] + mine[2*i+1].Costs[wallTime]
		b := other[2*i].Costs[wallTime] + other[2*i+1].Costs[wallTime]
		logs[i] = math.Log(max(a, 1) / max(b, 1))
	}
	return stats.MedianOf(logs)
}

// calibrate finds the number of operations of a turn, roughly, and warms both sides up.
func (d *duet) calibrate() {
	perOp := make([]float64, len(d.sides))
	for _, i := range d.order()[:len(d.sides)] {
		perOp[i] = float64(turnTime) / d.sides[i].calibrate(turnTime)
	}
	d.adjust(perOp)
	if d.perTurn > 1 {
		d.warmUp()
	}
}

// warmUp lets the sides do turns that do not count, until the median turns of each agree in two
// windows. They take turns here too. If one warmed up after the other, it would begin the measured
// turns with its data in the caches, and the other without; ratios then leaned to one side
// to a first sitting.
func (d *duet) warmUp() {
	rounds := steadyRounds
	if d.group >= 4*longTurn {
		rounds = 1
	}
	window := func() []float64 {
		times := make([][]float64, len(d.sides))
		for range rounds {
			for _, i := range d.order()[:len(d.sides)] {
				times[i] = append(times[i], d.sides[i].round(0, d.perTurn, false).Costs[wallTime])
			}
		}
		medians := make([]float64, len(d.sides))
		for i := range times {
			medians[i] = stats.MedianOf(times[i])
		}
		return medians
	}
	before := window()
	for range maxWarmup {
		now := window()
		steady := true
		for i := range now {
			steady = steady && math.Abs(now[i]/before[i]-1) < steadyWithin
		}
		if steady {
			return
		}
		before = now
	}
	d.restless = true
}

// adjust sets the number of operations of a turn, given what one takes on each side, in ns.
func (d *duet) adjust(perOp []float64) {
	mean := 0.0
	for _, t := range perOp {
		mean += t / float64(len(perOp))
	}
	// a coarse clock shows no time, so the quotients may be infinite
	d.perTurn = max(1, int(min(mostPerTurn,
		max(float64(turnTime)/mean, float64(shortestTurn)/slices.Min(perOp)))))
	for i := range d.sides {
		d.perTurn = max(d.perTurn, deferredShare*d.sides[i].crew.deferred())
		if n := d.sides[i].crew.wholeTurn(); n > 0 {
			d.perTurn = n
		}
	}
	d.group = time.Duration(4 * float64(d.perTurn) * mean)
}

// readjust does so after a sitting, by its median turns: in the first, the caches were cold,
// or the machine was busy elsewhere.
func (d *duet) readjust() {
	perOp := make([]float64, len(d.sides))
	for i := range d.sides {
		perOp[i] = d.sides[i].last(usualTime)
	}
	d.adjust(perOp)
}

// warm does turns that do not count, before a sitting of the time budget.
func (d *duet) warm(budget time.Duration) {
	start := time.Now()
	for n := 0; n < lap && time.Since(start)+d.group <= budget/2; n += 2 * d.perTurn {
		d.turns(d.order())
	}
	for i := range d.sides {
		d.sides[i].turns = nil
	}
}

// order is that of a group's turns.
func (d *duet) order() []int {
	switch {
	case len(d.sides) == 1:
		return []int{candidate, candidate, candidate, candidate}
	case d.rng.IntN(2) == 1:
		return []int{candidate, reference, reference, candidate}
	}
	return []int{reference, candidate, candidate, reference}
}

func (d *duet) turns(order []int) {
	for _, i := range order {
		d.sides[i].turn(d.perTurn, d.counts())
	}
}

// counts reports whether allocations are counted in the turns themselves, which last long
// enough not to feel that the program is stopped twice for it. Otherwise some turns are done
// again for that.
func (d *duet) counts() bool { return d.group >= 4*longTurn }

// ratios are the candidate's costs to the reference's, by metric: those that could always be
// read.
func (d *duet) ratios() map[string]record.LogRatio {
	out := map[string]record.LogRatio{}
	for i, logs := range d.logs {
		if len(logs) > 0 && len(logs) == len(d.sides[candidate].sittings[wallTime]) {
			out[costNames[i]] = record.LogRatio{Log: stats.MidMean(logs), Sittings: logs}
		}
	}
	return out
}

// series summarises the sittings of one side, of which an allocated byte costs the collector
// so many ns.
func (d *duet) series(side int, perByte float64) record.Series {
	s := record.Series{Passes: d.sides[side].sittings[wallTime], Values: d.sides[side].values(perByte)}
	if d.restless {
		s.Warnings = []string{"no steady state after warm-up"}
	}
	return s
}

// values are those of one side.
func (s *solo) values(perByte float64) map[string]float64 {
	bytes := perOp(s.counted.Bytes, s.counted.Ops, 0.1)
	values := map[string]float64{
		metrics.BytesPerOp:  bytes,
		metrics.AllocsPerOp: perOp(s.counted.Objects, s.counted.Ops, 0.001),
		metrics.GCNsPerOp:   bytes * perByte,
	}
	for i, sittings := range s.sittings {
		if slices.Min(sittings) > 0 {
			values[costNames[i]] = stats.QuantileOf(sittings, Undisturbed)
		}
	}
	for metric, told := range s.told {
		values[metric] = stats.MedianOf(told)
	}
	return values
}

// perOp divides and rounds to a multiple of step: smaller amounts are the runtime's own
// allocations and not the operation's.
func perOp(count, ops uint64, step float64) float64 {
	return math.Round(float64(count)/float64(ops)/step) * step
}
