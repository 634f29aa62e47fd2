package engine

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// Two implementations that take turns every few milliseconds meet the same machine: what
// slows it down for longer than a turn slows both. Their ratio is therefore much more exact
// than either time (Bulej et al., "Duet Benchmarking: Improving Measurement Accuracy in the
// Cloud", ICPE 2020, run both at once; here they take turns, so that they do not contend for
// caches and memory).
const (
	// turnTime is how long a turn lasts, about. A turn that is shorter than the operating
	// system's time slice is mostly undisturbed or lost as a whole.
	turnTime = 3 * time.Millisecond
	// mostPerTurn bounds the operations of a turn. The two walk the same circle of objects,
	// half of it apart. A group's four turns must stay in their halves, or one would find
	// warm in the caches what the other has just read.
	mostPerTurn = LongestWalk / 8
	// leadIn is the share of a turn that is done before it, untimed: it brings back into
	// the caches what the other's turn drove out.
	leadIn = 8
	// leastGroups is the smallest number of groups in a pass.
	leastGroups = 1
)

// duet measures one operation of two subjects, which take turns in groups of four: ABBA or
// BAAB, drawn for each group. In either order a steady drift of the machine's speed hits
// both alike. The sample of a group is the logarithm of B's time per operation to A's.
//
// An operation that causes collections takes turns by whole cycles of the collector, as it
// has passes of whole cycles: each turn contains exactly the collections that its own
// garbage caused, and the other begins after it.
type duet struct {
	sides [2]solo // the reference and the candidate
	rng   *rand.Rand
	logs  []float64 // of the groups
}

func newDuet(seed uint64) *duet { return &duet{rng: rand.New(rand.NewPCG(seed, 0x6475657473))} }

// pass does groups of turns until budget is spent. It is errStopped if an actor did fewer
// operations than asked.
func (d *duet) pass(actors [2][]Actor, budget time.Duration) error {
	var took [2]time.Duration
	var done [2]int
	var before [2]allocated
	for i := range d.sides {
		side := &d.sides[i]
		side.ready(actors[i], turnTime)
		side.perRound = min(side.perRound, mostPerTurn)
		if side.stopped {
			return errStopped
		}
	}
	groups := 0
	for start := time.Now(); groups < leastGroups || time.Since(start) < budget; groups++ {
		order := [4]int{0, 1, 1, 0}
		if d.rng.IntN(2) == 1 {
			order = [4]int{1, 0, 0, 1}
		}
		var cost [2]float64
		for _, i := range order {
			side := &d.sides[i]
			side.lead()
			before[i] = side.allocated
			t, n := side.turn()
			if side.stopped {
				return errStopped
			}
			took[i] += t
			done[i] += n
			cost[i] += float64(t) / float64(n)
			side.measured.bytes += side.bytes - before[i].bytes
			side.measured.objects += side.objects - before[i].objects
		}
		d.logs = append(d.logs, math.Log(cost[1]/cost[0]))
	}
	for i := range d.sides {
		side := &d.sides[i]
		side.times = append(side.times, float64(took[i])/float64(done[i]))
		side.ops += done[i]
	}
	return nil
}

// series summarises the candidate's turns beside those of the reference against.
func (d *duet) series(against string) record.Series {
	reference, candidate := d.sides[0].series(), d.sides[1].series()
	if len(candidate.Warnings) == 0 {
		candidate.Warnings = reference.Warnings // either side's taint the ratio; each is the same text
	}
	candidate.Duet = &record.Duet{Against: against, Reference: reference.Values, LogRatio: stats.MidMean(d.logs), Groups: d.logs}
	return candidate
}

// lead does a few operations before a turn. Where turns are of whole cycles there are none:
// their garbage would be collected in the turn.
func (s *solo) lead() {
	if s.perCycle == 0 && s.perRound >= leadIn {
		s.round(s.perRound / leadIn)
	}
	s.ended = s.allocs.Read().Cycles // the other's collections are not this side's
}

// turn does one turn and returns its time and the operations that each goroutine did.
func (s *solo) turn() (took time.Duration, done int) {
	if s.perCycle == 0 {
		return s.round(s.perRound), s.perRound
	}
	for s.collected = false; s.amidCycle(done) && !s.stopped; done += s.perRound {
		took += s.round(s.perRound)
	}
	return took, done
}
