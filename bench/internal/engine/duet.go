package engine

import (
	"math"
	"math/rand/v2"
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
	// long it is, from 3 ms down to 30 us, so short turns give more samples a second
	// (docs/measuring.md has the numbers). It must be much longer than a reading of the
	// clock and of the counters of allocations, which take some microseconds.
	turnTime = 100 * time.Microsecond
	// mostPerTurn bounds the operations of a turn. The two walk the same circle of objects,
	// half of it apart. A group's four turns must stay in their halves, or one would find
	// warm in the caches what the other has just read. The bound is right for 10,000
	// objects and more.
	mostPerTurn = 1024
	// leadIn is the share of a turn that is done before it, untimed: it brings back into
	// the caches what the other's turn drove out.
	leadIn = 8
)

// The sides of a duet.
const (
	candidate = iota
	reference
)

// duet measures one operation of one implementation, or of two that take turns, in sittings
// (see sittingsOf). Two take turns in groups of four, ABBA or BAAB, drawn for each group: in
// either order a steady drift of the machine's speed hits both alike. Each turn has the same
// number of operations.
//
// The sample of a sitting is the logarithm of the quotient of the two times, summed over all
// turns, so that what an implementation does seldom counts (see longestTurn). A process gives the mean
// of the middle half of its sittings, so that one in four may be hit by anything.
type duet struct {
	sides   []solo // the candidate; the reference if there is one
	rng     *rand.Rand
	perTurn int       // operations of each goroutine; 0 before the first sitting
	logs    []float64 // of the sittings
}

// sit measures a sitting: groups of turns until budget is spent, of actors that were made for
// it. It is errStopped if an actor did fewer operations than asked.
func (d *duet) sit(crews [][]Actor, budget time.Duration, gc *collector) error {
	if d.sides == nil {
		d.sides = make([]solo, len(crews))
	}
	for _, i := range d.order()[:len(d.sides)] { // what begins last has its data in the caches
		d.sides[i].begin(crews[i], gc)
	}
	if crews[candidate][0].UsualGC {
		gc.release()
		defer gc.hold()
	}
	if d.perTurn == 0 {
		d.calibrate()
	}
	if d.perTurn > 1 {
		d.turns(d.order()) // brings the caches to what turns leave in them
	}
	for i := range d.sides {
		d.sides[i].turns = d.sides[i].turns[:0]
	}
	for start, first := time.Now(), true; first || time.Since(start) < budget; first = false {
		d.turns(d.order())
	}
	for i := range d.sides {
		if d.sides[i].stopped {
			return errStopped
		}
		d.sides[i].rise()
	}
	if len(d.sides) > 1 {
		d.logs = append(d.logs, math.Log(d.sides[candidate].last()/d.sides[reference].last()))
	}
	return nil
}

// calibrate finds the number of operations of a turn and warms both sides up.
func (d *duet) calibrate() {
	perOp := 0.0
	for i := range d.sides {
		perOp += 1 / float64(d.sides[i].calibrate(turnTime))
	}
	d.perTurn = max(1, min(mostPerTurn, int(float64(len(d.sides))/perOp)))
	for i := range d.sides {
		if d.perTurn > 1 {
			d.sides[i].warmUp(d.perTurn)
		}
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
		d.sides[i].turn(d.perTurn)
	}
}

// series summarises the candidate's sittings, beside those of the reference against.
func (d *duet) series(against string, gc *collector) record.Series {
	s := record.Series{Passes: d.sides[candidate].times, Values: d.sides[candidate].values(gc)}
	for i := range d.sides {
		if d.sides[i].restless { // either side's taints the ratio
			s.Warnings = []string{"no steady state after warm-up"}
		}
	}
	if len(d.logs) > 0 {
		s.Duet = &record.Duet{Against: against, Reference: d.sides[reference].values(gc), LogRatio: stats.MidMean(d.logs), Sittings: d.logs}
	}
	return s
}

// values are those of one side.
func (s *solo) values(gc *collector) map[string]float64 {
	bytes := perOp(s.all.bytes, s.all.ops, 0.1)
	return map[string]float64{
		metrics.NsPerOp:     stats.QuantileOf(s.times, Undisturbed),
		metrics.BytesPerOp:  bytes,
		metrics.AllocsPerOp: perOp(s.all.objects, s.all.ops, 0.001),
		metrics.GCNsPerOp:   bytes * gc.perByte(),
	}
}

// perOp divides and rounds to a multiple of step: smaller amounts are the runtime's own
// allocations and not the operation's.
func perOp(count, ops uint64, step float64) float64 {
	return math.Round(float64(count)/float64(ops)/step) * step
}
