package runner

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/informerbench/informerbench/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/report"
)

// look decides where more forks are worth their time: in workloads with inconclusive
// comparisons that an affordable number of forks would settle. It returns none when nothing
// is left to settle or the budget is too small, and says which.
//
// A workload grows by at least half. Each look at a verdict is charged
// (stats.Rule.AtLook), so there must be few. The workloads with the least cost per
// settled comparison come first.
//
// How many forks a comparison needs is estimated from those that there are, and of six, one
// that lies apart makes it hundreds. So a workload that has not grown yet is doubled where
// the estimate is too much for the budget, after the others.
func look(sides []*side, out io.Writer) ([]record.Look, error) {
	run := sides[0].Run()
	if run.Settings.Budget == 0 {
		return nil, nil
	}
	left := run.Settings.Budget - spent(sides)
	judged, err := judge(sides)
	if err != nil {
		return nil, err
	}
	var wanted []addition
	cheapest := time.Duration(math.MaxInt64)
	for workload, open := range openOf(judged) {
		have, each := run.ForksOf(workload), costOf(sides, workload)
		need := max(have/2, slices.MinFunc(open, byMoreForks).MoreForks)
		cost := time.Duration(need) * each
		cheapest = min(cheapest, cost)
		if cost > left && have == run.Settings.Forks {
			need, cost = have, time.Duration(have)*each
		}
		a := addition{record.Look{Workload: workload, Forks: have + need}, open[0].Name.Component + "/" + open[0].Name.Workload, cost, 0}
		for _, c := range open {
			if c.MoreForks <= need {
				a.settles++
			}
		}
		wanted = append(wanted, a)
	}
	slices.SortFunc(wanted, func(a, b addition) int {
		return cmp.Or(cmp.Compare(a.perSettled(), b.perSettled()), cmp.Compare(a.cost, b.cost), cmp.Compare(a.Workload, b.Workload))
	})
	var looks []record.Look
	before := left
	for _, a := range wanted {
		if a.cost > left {
			continue
		}
		left -= a.cost
		looks = append(looks, a.Look)
		fmt.Fprintf(out, "%s: %d forks of each instead of %d, %s (about %s)\n", report.VisibleLine(a.of), a.Forks, run.ForksOf(a.Workload), a.purpose(), a.cost.Round(time.Second))
	}
	if len(looks) == 0 {
		fmt.Fprintln(out, whyStopped(judged, before, cheapest))
	}
	return looks, nil
}

// addition is a number of forks that a workload may grow to.
type addition struct {
	record.Look
	of      string // the workload, for the output
	cost    time.Duration
	settles int // comparisons that it is expected to settle
}

// perSettled is the cost of a settled comparison; those that settle none come last.
func (a addition) perSettled() time.Duration {
	if a.settles == 0 {
		return math.MaxInt64
	}
	return a.cost / time.Duration(a.settles)
}

func (a addition) purpose() string {
	if a.settles == 0 {
		return "to see what its inconclusive comparisons need"
	}
	return fmt.Sprintf("to settle %d comparisons", a.settles)
}

// whyStopped says why no forks are added. cheapest is the cost of the least addition that
// would settle something.
func whyStopped(judged []*compare.Comparison, left, cheapest time.Duration) string {
	open, hopeless := 0, 0
	for _, c := range judged {
		if c.Verdict == stats.Inconclusive {
			open++
			if c.MoreForks == 0 {
				hopeless++
			}
		}
	}
	switch open {
	case 0:
		return "budget: every comparison has its verdict"
	case hopeless:
		return fmt.Sprintf("budget: %d comparisons are inconclusive, and no number of forks would settle them as they stand", open)
	}
	return fmt.Sprintf("budget: %s left, and the cheapest of %d inconclusive comparisons needs about %s more",
		max(0, left).Round(time.Second), open-hopeless, cheapest.Round(time.Second))
}

// judge gives the verdicts so far: within a run, or between the sides of a pair.
func judge(sides []*side) ([]*compare.Comparison, error) {
	if len(sides) == 1 {
		return compare.Judged(compare.Within(sides[0].Run())), nil
	}
	r, err := compare.Runs(sides[0].Run(), sides[1].Run(), true)
	if err != nil {
		return nil, err
	}
	err = r.Judge(nil)
	return r.Judged(), err
}

// openOf collects, by workload, the inconclusive comparisons that more forks would settle.
func openOf(judged []*compare.Comparison) map[string][]*compare.Comparison {
	open := map[string][]*compare.Comparison{}
	for _, c := range judged {
		if c.Verdict == stats.Inconclusive && c.MoreForks > 0 {
			key := c.Cell.WorkloadKey()
			open[key] = append(open[key], c)
		}
	}
	return open
}

func byMoreForks(a, b *compare.Comparison) int { return cmp.Compare(a.MoreForks, b.MoreForks) }

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

// costOf is the time of one more fork of every cell of a workload.
func costOf(sides []*side, workload string) time.Duration {
	total := 0.0
	for _, s := range sides {
		seconds := map[string][]float64{}
		for _, f := range s.Run().Forks {
			if f.Cell.WorkloadKey() == workload && len(f.Profiles) == 0 {
				seconds[f.Cell.ID()] = append(seconds[f.Cell.ID()], f.Seconds)
			}
		}
		for of := range maps.Values(seconds) {
			total += stats.MedianOf(of)
		}
	}
	return time.Duration(total * float64(time.Second))
}
