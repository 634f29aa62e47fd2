package scale

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// speeds is the standard deviation of the logarithm of the machines' speeds.
const speeds = 0.15

// outcome counts what a simulated run said.
type outcome struct {
	planted, found, same, wrong int
}

// simulate runs the matrix once on so many shards, forks of each cell, and judges it as one
// family. A share of the comparisons is planted: slower by what difference says for their kind,
// unless that is infinite. A planted comparison is found if it is significant and its whole
// interval above 1. Wrong are the others that are significant, and those planted that are called
// faster.
func (m *matrix) simulate(n *noise, shards, forks int, difference map[kind]float64) (map[kind]outcome, error) {
	machines, err := m.divide(shards, forks)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(uint64(shards), uint64(forks)))
	type comparison struct {
		kind    kind
		planted bool
	}
	var all []comparison
	var family []*stats.Ratio
	for _, w := range m.workloads {
		for _, k := range kinds {
			for _, spread := range w.comparisons[k] {
				slower := difference[k]
				c := comparison{k, rng.Float64() < planted && !math.IsInf(slower, 0)}
				if !c.planted {
					slower = 0
				}
				r, err := n.draw(rng, k, spread, machines[w.key], slower)
				if err != nil {
					return nil, err
				}
				all, family = append(all, c), append(family, &r)
			}
		}
	}
	stats.Adjust(family)
	out := map[kind]outcome{}
	for i, c := range all {
		r, o := family[i], out[c.kind]
		significant := r.Enough() && r.Q <= stats.DefaultRule.Alpha && (r.Lo > 1 || r.Hi < 1)
		switch {
		case c.planted:
			o.planted++
			if significant && r.Lo > 1 {
				o.found++
			} else if significant {
				o.wrong++
			}
		default:
			o.same++
			if significant {
				o.wrong++
			}
		}
		out[c.kind] = o
	}
	return out, nil
}

// draw simulates one comparison: forks on machines of different speed, whose noise is that of the
// records.
func (n *noise) draw(rng *rand.Rand, k kind, spread float64, machines []int, slower float64) (stats.Ratio, error) {
	effect := math.Log1p(slower)
	if k == turns { // the machine's speed cancels in a ratio
		var logs []float64
		for _, forks := range machines {
			for range forks {
				logs = append(logs, effect+spread*rng.NormFloat64())
			}
		}
		return stats.PairedRatioOf(logs)
	}
	shapes := n.shapes[k]
	var base, head [][]float64
	for _, forks := range machines {
		speed := speeds * rng.NormFloat64()
		side := func(effect float64) (out []float64) {
			for range forks {
				// Smoothed by a tenth, so that the few values do not repeat.
				z := shapes[rng.IntN(len(shapes))] + 0.1*rng.NormFloat64()
				out = append(out, math.Exp(speed+effect+spread*z))
			}
			return out
		}
		base, head = append(base, side(0)), append(head, side(effect))
	}
	return stats.RatioWithin(base, head)
}

// divide returns the forks of each workload on each of its machines, by the workload's key.
func (m *matrix) divide(shards, forks int) (map[string][]int, error) {
	cost := map[string]time.Duration{}
	var cells []record.Cell
	for _, w := range m.workloads {
		cost[w.key] = w.cost / time.Duration(len(w.cells))
		cells = append(cells, w.cells...)
	}
	divided, err := record.Divide(cells, forks, false, func(c record.Cell) time.Duration { return cost[c.WorkloadKey()] }, shards)
	if err != nil {
		return nil, err
	}
	out := map[string][]int{}
	for _, s := range divided {
		for _, p := range s.Parts {
			out[p.Workload] = append(out[p.Workload], p.To-p.From)
		}
	}
	return out, nil
}

// spreadsOf are the spreads of all comparisons of a kind, sorted.
func (m *matrix) spreadsOf(k kind) (out []float64) {
	for _, w := range m.workloads {
		out = append(out, w.comparisons[k]...)
	}
	slices.Sort(out)
	return out
}

// costOf is the machine time with which every workload finds the difference in all but one in
// twenty of its comparisons of a kind, and the most forks that a workload takes.
func (m *matrix) costOf(k kind, difference float64) (cost time.Duration, most int) {
	for _, w := range m.workloads {
		if spreads := slices.Sorted(slices.Values(w.comparisons[k])); len(spreads) > 0 {
			forks := forksFor(k, quantile(spreads, 0.95), difference)
			cost, most = cost+time.Duration(forks)*w.cost, max(most, forks)
		}
	}
	return cost, most
}

// quantile is that of sorted values, by nearest rank.
func quantile(sorted []float64, p float64) float64 {
	return sorted[max(0, int(math.Ceil(p*float64(len(sorted))))-1)]
}

// total adds the outcomes of all kinds.
func total(of map[kind]outcome) (sum outcome) {
	for o := range maps.Values(of) {
		sum.planted, sum.found, sum.same, sum.wrong = sum.planted+o.planted, sum.found+o.found, sum.same+o.same, sum.wrong+o.wrong
	}
	return sum
}
