package runner

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/report"
)

// look decides where more forks are worth their time: for inconclusive comparisons, or of a
// pair with gates for inconclusive gates, that an affordable number of forks would settle. It
// returns none when nothing is left to settle or the budget is too small, and says which.
//
// An addition grows its cells by at least half. Each look at a verdict is charged
// (stats.Rule.AtLook), so there must be few. The additions with the least cost per settled
// comparison come first.
//
// How many forks a comparison needs is estimated from those that there are, and of six, one
// that lies apart makes it hundreds. So cells that have not grown yet are doubled where the
// estimate is too much for the budget, after the others.
func look(sides []*side, out io.Writer, gates ...compare.Gate) ([]record.Look, error) {
	run := sides[0].Run()
	if run.Settings.Budget == 0 {
		return nil, nil
	}
	left, what := run.Settings.Budget-spent(sides), "comparisons"
	if len(gates) > 0 {
		what = "gates"
	}
	judged, err := judge(sides, gates)
	if wrong := (*compare.GateError)(nil); errors.As(err, &wrong) {
		// What was measured is kept. The caller applies the gates at the end, and gets this error.
		fmt.Fprintf(out, "budget: it is not spent on a wrong gate: %s\n",
			report.VisibleLine(wrong.Error()))
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	// Cells may share the reference, so an addition may become cheaper when another is made.
	planned := *run
	planned.Looks = slices.Clone(run.Looks)
	wanted, cheapest, before := []addition{}, time.Duration(math.MaxInt64), left
	for _, open := range openOf(judged, run.Settings.Pair) {
		a := additionFor(run, open)
		cost := a.cost(&planned, sides)
		cheapest = min(cheapest, cost)
		if cost > left && a.have == run.Settings.Forks {
			a.Forks = 2 * a.have
		}
		for _, c := range open {
			if c.needs <= a.Forks-a.have {
				a.settles++
			}
		}
		wanted = append(wanted, a)
	}
	for len(wanted) > 0 {
		slices.SortFunc(wanted, func(a, b addition) int {
			costA, costB := a.cost(&planned, sides), b.cost(&planned, sides)
			return cmp.Or(cmp.Compare(a.perSettled(costA), b.perSettled(costB)), cmp.Compare(costA, costB),
				cmp.Compare(a.of, b.of))
		})
		next, cost := wanted[0], wanted[0].cost(&planned, sides)
		wanted = wanted[1:]
		if cost > left || next.Forks > record.MaxForks ||
			record.CheckPlanned(next.Forks, len(run.Cells)) != nil || len(planned.Looks) == record.MaxLooks {
			continue
		}
		left -= cost
		planned.Looks = append(planned.Looks, next.Look)
		fmt.Fprintf(out, "%s: %d forks instead of %d, %s (about %s)\n", report.VisibleLine(next.of),
			next.Forks, next.have, next.purpose(what), cost.Round(time.Second))
	}
	looks := planned.Looks[len(run.Looks):]
	if len(looks) == 0 {
		fmt.Fprintln(out, whyStopped(judged, what, before, cheapest))
	}
	return looks, nil
}

// addition is a number of forks that some cells of a workload may grow to.
type addition struct {
	record.Look
	of      string // the workload and the implementation, for the output
	cells   []record.Cell
	have    int // forks of the cells whose comparisons are open
	settles int // comparisons or gates that it is expected to settle
}

// additionFor is what the open comparisons of a cell need, or those of a workload of a pair.
// In a pair all cells of the workload grow: those of the reference show what the machine did.
// In a run the reference grows with a cell where it is the base, or where the noise floor is
// what keeps a comparison open: that of the reference against itself or its second copy.
func additionFor(run *record.Run, open []question) addition {
	cell := open[0].Cell
	alike := slices.DeleteFunc(slices.Clone(run.Cells), func(c record.Cell) bool {
		return !c.SameExceptImpl(cell)
	})
	a := addition{Look: record.Look{Workload: cell.WorkloadKey()},
		of: open[0].Name.Component + "/" + open[0].Name.Workload, have: run.ForksOf(cell)}
	a.Forks = a.have + max(a.have/2, slices.MinFunc(open, byNeeds).needs)
	if run.Settings.Pair {
		a.cells = alike
		return a
	}
	a.of += " " + cell.Impl
	a.Impls = []string{cell.Impl}
	if slices.ContainsFunc(open, func(c question) bool {
		return !c.Ratio.Paired || c.Floor > run.Settings.Rule.Threshold
	}) {
		a.Impls = append(a.Impls, run.ReferenceOf(alike).Impl)
	}
	a.cells = slices.DeleteFunc(alike, func(c record.Cell) bool {
		return !slices.Contains(a.Impls, c.Impl)
	})
	return a
}

// cost is the time of the forks that the addition adds to what is planned.
func (a addition) cost(planned *record.Run, sides []*side) time.Duration {
	total := time.Duration(0)
	for _, c := range a.cells {
		total += time.Duration(max(0, a.Forks-planned.ForksOf(c))) * costOf(sides, c)
	}
	return total
}

// perSettled is the cost of a settled comparison; those that settle none come last.
func (a addition) perSettled(cost time.Duration) time.Duration {
	if a.settles == 0 {
		return math.MaxInt64
	}
	return cost / time.Duration(a.settles)
}

func (a addition) purpose(what string) string {
	if a.settles == 0 {
		return "to see what its inconclusive " + what + " need"
	}
	return fmt.Sprintf("to settle %d %s", a.settles, what)
}

// whyStopped says why no forks are added. what is judged: comparisons or gates. cheapest is the
// cost of the least addition that would settle something.
func whyStopped(judged []question, what string, left, cheapest time.Duration) string {
	open, hopeless := 0, 0
	for _, c := range judged {
		if c.open {
			open++
			if c.needs == 0 {
				hopeless++
			}
		}
	}
	switch open {
	case 0:
		return "budget: all " + what + " are decided"
	case hopeless:
		return fmt.Sprintf(
			"budget: %d %s are inconclusive, and no number of forks would settle them as they stand", open,
			what)
	}
	return fmt.Sprintf("budget: %s left, and the cheapest of %d inconclusive %s needs about %s more",
		max(0, left).Round(time.Second), open-hopeless, what, cheapest.Round(time.Second))
}

// question is a comparison, or a gate on one, that has an answer so far or is open.
type question struct {
	*compare.Comparison
	open  bool
	needs int // more forks that would settle it; 0 if no number of them would
}

// judge gives the verdicts so far: within a run, or between the sides of a pair. With gates it
// gives their outcomes instead: a verdict that none of them asks for is worth no time.
func judge(sides []*side, gates []compare.Gate) (judged []question, err error) {
	if len(sides) == 1 {
		for _, c := range compare.Judged(compare.Within(sides[0].Run())) {
			judged = append(judged, question{c, c.Verdict == stats.Inconclusive, c.MoreForks})
		}
		return judged, nil
	}
	r, err := compare.Runs(sides[0].Run(), sides[1].Run(), true)
	if err != nil {
		return nil, err
	}
	if err := r.Judge(gates); err != nil {
		return nil, err
	}
	for _, g := range r.Gates {
		if c := g.Comparison(); c != nil {
			judged = append(judged, question{c, g.Outcome == compare.Undetermined, g.MoreForks})
		}
	}
	return judged, nil
}

// openOf collects the questions that more forks would settle: by cell, or by workload if the
// cells of a workload grow together.
func openOf(judged []question, together bool) map[string][]question {
	open := map[string][]question{}
	for _, c := range judged {
		if c.open && c.needs > 0 {
			key := c.Cell.ID()
			if together {
				key = c.Cell.WorkloadKey()
			}
			open[key] = append(open[key], c)
		}
	}
	return open
}

func byNeeds(a, b question) int { return cmp.Compare(a.needs, b.needs) }

// spent is the time of the forks beyond the settled number.
func spent(sides []*side) time.Duration {
	total := 0.0
	for _, s := range sides {
		for _, f := range s.Run().Forks {
			if f.Index >= s.Run().Settings.Forks && f.Index < record.ProfileIndex {
				total += f.Seconds
			}
		}
	}
	return time.Duration(total * float64(time.Second))
}

// costOf is the time of one more fork of a cell, of all sides.
func costOf(sides []*side, c record.Cell) time.Duration {
	total := 0.0
	for _, s := range sides {
		var seconds []float64
		for _, f := range s.Run().Measured(c) {
			seconds = append(seconds, f.Seconds)
		}
		if len(seconds) > 0 {
			total += stats.MedianOf(seconds)
		}
	}
	return time.Duration(total * float64(time.Second))
}
