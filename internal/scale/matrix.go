package scale

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/informerbench/informerbench/bench/runner"
	"github.com/informerbench/informerbench/catalog"
	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// shortOperation divides the two rows of inTurns.
const shortOperation = 100 * time.Millisecond

// workload is one workload of the matrix, at one value of its sweep.
type workload struct {
	key   string
	cells []record.Cell
	cost  time.Duration // of a fork of every cell
	// comparisons with the reference, by kind: the standard deviation of the logarithm of one
	// process's value; in turns, of its ratio.
	comparisons map[kind][]float64
}

// matrix is every preset over the whole catalog.
type matrix struct {
	workloads []workload
	// cost is that of one fork of every cell; longer is how much longer forks took than the plan
	// expects, in the median.
	cost    time.Duration
	longer  float64
	matched int
}

// newMatrix resolves the plan. The noise of a comparison is drawn from that of its kind.
func newMatrix(n *noise) (*matrix, error) {
	entries, err := catalog.Select(nil, []string{"*"})
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(1, 1))
	m := &matrix{}
	var ratios []float64
	seen := map[string]bool{}
	for _, preset := range load.Presets() {
		for _, swept := range preset.Workloads {
			for _, v := range swept.Variants() {
				w := newWorkload(n, v, entries, rng)
				if len(w.cells) < 2 || seen[w.key] {
					continue
				}
				seen[w.key] = true
				if measured := n.seconds[w.key]; len(measured) > 0 {
					ratios = append(ratios, stats.MedianOf(measured)/runner.Expected(v.Workload).Seconds())
				}
				m.workloads = append(m.workloads, w)
			}
		}
	}
	m.longer, m.matched = stats.MedianOf(ratios), len(ratios)
	for i := range m.workloads {
		w := &m.workloads[i]
		w.cost = time.Duration(float64(w.cost) * m.longer)
		m.cost += w.cost
	}
	return m, nil
}

func newWorkload(n *noise, v load.Variant, entries []catalog.Entry, rng *rand.Rand) workload {
	const procs = 2 // of the cells whose forks were recorded
	of := v.Workload
	w := workload{comparisons: map[kind][]float64{}}
	params := []record.Param{{Key: "objects", Value: itoa(of.Objects.Count)}}
	if v.Key != "" && v.Key != "objects" {
		params = append(params, record.Param{Key: v.Key, Value: itoa(v.Value)})
	}
	for _, e := range entries {
		if e.Component == of.Component {
			w.cells = append(w.cells, record.Cell{Component: e.Component, Impl: e.Name, Workload: of.Name, Procs: max(procs, v.Procs), Params: params})
		}
	}
	if len(w.cells) == 0 {
		return w
	}
	others := len(w.cells) - 1 // beside the reference
	if len(of.Groups) > 0 || of.Component == contract.ComponentInformer {
		aa := w.cells[0]
		aa.Role = record.AARole
		w.cells = append(w.cells, aa)
	}
	w.key = w.cells[0].WorkloadKey()
	w.cost = time.Duration(len(w.cells)) * runner.Expected(of)
	add := func(k kind) {
		for range others {
			spreads := n.of(k, of.Component)
			w.comparisons[k] = append(w.comparisons[k], spreads[rng.IntN(len(spreads))])
		}
	}
	for range max(1, len(of.Parallel)) {
		for _, op := range of.Ops {
			if of.Component == contract.ComponentInformer {
				add(alone)
				continue
			}
			w.comparisons[turns] = append(w.comparisons[turns], slices.Repeat([]float64{turnsNoise(of, op)}, others)...)
		}
	}
	for _, g := range of.Groups {
		if g.Goroutines == 0 {
			continue
		}
		add(tail)
		if g.Rate > 0 {
			add(share)
		} else {
			add(rate)
		}
	}
	add(memory)
	return w
}
