package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// Name identifies a number. A benchmark from a file has only Benchmark and Metric.
type Name struct {
	Component string `json:"component,omitempty"`
	// with the values of its sweep: "store-ops/objects=10000"
	Workload  string `json:"workload,omitempty"`
	Procs     int    `json:"procs,omitempty"`
	Series    string `json:"series,omitempty"` // "get", "writer:update", ProcessSeries
	Impl      string `json:"impl,omitempty"`
	Package   string `json:"package,omitempty"` // of the benchmark, where files have several
	Benchmark string `json:"benchmark,omitempty"`
	Metric    string `json:"metric"`
}

// ProcessSeries replaces the series' name for metrics of the process as a whole.
const ProcessSeries = "(process)"

// String joins the parts with slashes, the metric last:
// "store/store-ops/objects=10000/get/mutexmap/ns/op". Gates match it.
func (n Name) String() string {
	parts := []string{n.Component, n.Workload, n.Series, n.Impl, n.Package, n.Benchmark, n.Metric}
	out := parts[:0]
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "/")
}

// workloadOf names a cell's workload and parameters, and GOMAXPROCS where the run has
// several.
func workloadOf(r *record.Run, c record.Cell) string {
	parts := []string{c.Workload}
	for _, p := range c.Params {
		parts = append(parts, p.Key+"="+p.Value)
	}
	if slices.ContainsFunc(r.Cells, func(o record.Cell) bool { return o.Procs != c.Procs }) {
		parts = append(parts, fmt.Sprintf("procs=%d", c.Procs))
	}
	return strings.Join(parts, "/")
}

// Comparison compares one number of head with that of base.
type Comparison struct {
	Name Name           `json:"name"`
	Base stats.Estimate `json:"base"`
	Head stats.Estimate `json:"head"`
	// Ratio is head to base; nil where there is none.
	Ratio *stats.Ratio `json:"ratio,omitempty"`
	// Floor is the relative difference between two samples of the same code; -1 if that was
	// not measured.
	Floor float64 `json:"floor"`
	// Verdict is NotComparable where nothing was judged.
	Verdict stats.Verdict `json:"verdict"`
	stats.Prospect
	// Warnings taint the comparison, beside those of Base and Head.
	Warnings []string `json:"warnings,omitempty"`

	// BaseValues and HeadValues are what Base and Head were estimated from: a value per fork,
	// or per line of a file.
	BaseValues []float64 `json:"-"`
	HeadValues []float64 `json:"-"`

	// Cell is the measured cell; zero for a benchmark from a file.
	Cell record.Cell `json:"-"`

	direction metrics.Direction
	gated     bool // the direction is that of a gate, since the metric's is unknown
	look      int  // see stats.Rule.AtLook
	judged    bool // belongs to the family
	// would be judged in its series, were it no control: of the percentiles, the one that "p99" may
	// name
	short    bool
	replaced bool    // a percentile that base alone would have judged; another stands in for it
	controls bool    // shows what the machine changed between two runs (see control)
	critical float64 // the largest p that would be significant, once judged
	// disturbed is the factor by which others may have changed the number (see Disturbance)
	disturbed float64
}

// newComparison compares two samples. Their estimates already contain the warnings of the
// forks and series. turns is the ratio of what took turns, if it did; else it is that of the
// samples.
func newComparison(name Name, base, head sample, turns *stats.Ratio) *Comparison {
	c := &Comparison{
		Name: name, Base: base.estimate(), Head: head.estimate(), BaseValues: base.values,
		HeadValues: head.values, Ratio: turns, Floor: -1, Verdict: stats.NotComparable,
		direction: metrics.Of(name.Metric).Better,
	}
	if turns == nil {
		if r, err := ratioOf(base, head); err == nil {
			c.Ratio = &r
		}
	}
	return c
}

// sample is the values of one metric, a value per fork, and the warnings that taint them.
type sample struct {
	values   []float64
	machines []string // that measured each value; nil if all are of one machine
	warnings []string
}

// ratioOf compares the values of each machine among themselves, where base and head have
// machines in common. Of two runs on different machines the values are compared as they are.
func ratioOf(base, head sample) (stats.Ratio, error) {
	var within [2][][]float64
	for _, machine := range slices.Compact(slices.Sorted(slices.Values(base.machines))) {
		if slices.Contains(head.machines, machine) {
			within[0] = append(within[0], base.of(machine))
			within[1] = append(within[1], head.of(machine))
		}
	}
	if len(within[0]) == 0 {
		return stats.RatioOf(base.values, head.values)
	}
	return stats.RatioWithin(within[0], within[1])
}

// of are the values of one machine.
func (s sample) of(machine string) (values []float64) {
	for i, v := range s.values {
		if s.machines[i] == machine {
			values = append(values, v)
		}
	}
	return values
}

func (s sample) estimate() stats.Estimate {
	e := stats.EstimateOf(s.values)
	e.Warnings = append(e.Warnings, s.warnings...)
	return e
}

// judge gives verdicts to the comparisons marked for it. They are one family: their
// p-values are corrected for their number (stats.Adjust).
func judge(rule stats.Rule, all []*Comparison) {
	var family []*Comparison
	var ratios []*stats.Ratio
	for _, c := range all {
		if c.judged && c.Ratio != nil && c.direction != metrics.Neither {
			family = append(family, c)
			ratios = append(ratios, c.Ratio)
		}
	}
	stats.Adjust(ratios)
	for _, c := range family {
		at := rule.AtLook(c.look).For(metrics.Of(c.Name.Metric))
		floor := max(0, c.Floor)
		c.Verdict = at.Judge(c.direction, *c.Ratio, floor)
		c.critical = critical(at, ratios)
		c.Prospect = at.Prospect(*c.Ratio, floor, c.critical)
		if c.Verdict != stats.Inconclusive {
			c.MoreForks = 0
		}
	}
}

// critical is the largest p-value with which one more comparison of the family would be
// significant.
func critical(rule stats.Rule, family []*stats.Ratio) float64 {
	passed := 0
	for _, r := range family {
		if r.Q <= rule.Alpha {
			passed++
		}
	}
	return rule.Alpha * float64(min(passed+1, len(family))) / float64(len(family))
}
