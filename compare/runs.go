package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// Result is a comparison of two runs or files.
type Result struct {
	Base, Head string // their folders or files
	Rule       stats.Rule
	// Comparisons are in the order of the base's record.
	Comparisons []*Comparison
	// Warnings taint every comparison. Among them are the reasons why the comparison had to
	// be forced.
	Warnings []string
	// Left names the cells that only one of the two has, and the key metrics that only base
	// has. They were left out.
	Left []string
	// Gates are the outcomes of the gates (see Judge).
	Gates []GateResult

	// BaseFrom and HeadFrom say where the numbers come from.
	BaseFrom, HeadFrom Side
	// Pair says that benchrun pair measured both in turns.
	Pair bool
	// References are the reference implementations of head by component; nil for files.
	References map[string]string

	// missing are the metrics that base has and head lacks although it has the cell: a fork
	// crashed or hung, or an operation was left out. Whether they became worse is unknown.
	missing []*Comparison
}

// Runs compares the numbers of two runs that have the same name: base against head. The
// error says why the two may not be compared; with force it is a warning of the result
// instead. A gate may add metrics to the judged key metrics (see Judge).
//
// The machine may have changed between the two runs. The reference implementation is in
// both, and its code is the same as long as its module's version is. Its change between the
// runs is therefore part of the noise floor of every row.
func Runs(base, head *record.Run, force bool) (*Result, error) {
	out := &Result{
		Base: base.Name, Head: head.Name, Rule: head.Settings.Rule,
		BaseFrom: sideOf(base), HeadFrom: sideOf(head), Pair: base.Settings.Pair && head.Settings.Pair, References: referencesOf(head),
	}
	if reasons := incomparable(base, head); len(reasons) > 0 {
		if !force {
			return nil, fmt.Errorf("%s and %s cannot be compared: %s; --force compares them all the same", base.Name, head.Name, strings.Join(reasons, "; "))
		}
		for _, r := range reasons {
			out.Warnings = append(out.Warnings, "forced although "+r)
		}
	}
	for _, side := range []struct {
		name string
		run  *record.Run
	}{{"base", base}, {"head", head}} {
		for _, w := range RunWarnings(side.run) {
			out.Warnings = append(out.Warnings, side.name+": "+w)
		}
	}
	if a, b := base.Machines(), head.Machines(); !slices.Equal(a, b) && len(a)+len(b) > 2 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("base was measured on %d machines, head on %d, and not on the same ones: where operations took no turns, the difference between the machines is in the numbers", len(a), len(b)))
	}
	control := sameReference(base, head)
	if control != nil {
		out.Warnings = append(out.Warnings, control.Error())
	}
	for _, c := range base.Cells {
		if c.Role != "" {
			continue
		}
		if !slices.ContainsFunc(head.Cells, func(o record.Cell) bool { return o.ID() == c.ID() }) {
			out.Left = append(out.Left, c.ID()+" (only in "+base.Name+")")
			continue
		}
		both, missing := runsCell(base, head, c, control == nil)
		out.Comparisons, out.missing = append(out.Comparisons, both...), append(out.missing, missing...)
		for _, m := range missing {
			if m.judged {
				out.Left = append(out.Left, m.Name.String()+" (only in "+base.Name+")")
			}
		}
	}
	for _, c := range head.Cells {
		if !slices.ContainsFunc(base.Cells, func(o record.Cell) bool { return o.ID() == c.ID() }) && c.Role == "" {
			out.Left = append(out.Left, c.ID()+" (only in "+head.Name+")")
		}
	}
	if len(out.Comparisons) == 0 {
		return nil, fmt.Errorf("%s and %s have no cell in common: nothing to compare", base.Name, head.Name)
	}
	return out, nil
}

// incomparable returns the reasons why the numbers of two runs cannot be compared.
func incomparable(base, head *record.Run) []string {
	var out []string
	if !record.SameNumbers(base.Schema, head.Schema) {
		out = append(out, fmt.Sprintf("their schemas differ: %d against %d", base.Schema, head.Schema))
	}
	if err := base.Environment.SameMachine(&head.Environment); err != nil {
		out = append(out, "their machines differ: "+err.Error())
	}
	if base.Settings.Rule != head.Settings.Rule {
		out = append(out, fmt.Sprintf("their rules differ: %+v against %+v", base.Settings.Rule, head.Settings.Rule))
	}
	for _, w := range base.Workloads {
		for _, o := range head.Workloads {
			if w.Key == o.Key && w.YAML != o.YAML {
				out = append(out, "workload "+w.Key+" is another in each")
			}
		}
	}
	return out
}

// sameReference says why the reference implementations cannot serve as a control for
// changes between two runs, or returns nil.
func sameReference(base, head *record.Run) error {
	if p := head.Settings.Plant; p != nil && p.Share > 0 && head.IsReference(p.Impl) {
		return fmt.Errorf("no control: the reference %s is slowed down on purpose", p.Impl)
	}
	for module, v := range base.Environment.Modules {
		if o := head.Environment.Modules[module]; o != v {
			return fmt.Errorf("no control: %s is %s in base and %s in head, so the reference cannot tell how the machine changed between the runs", module, v, o)
		}
	}
	return nil
}

// runsCell compares every metric of one cell, and returns those that head lacks.
// With control, the drift of the reference is part of the noise floor.
func runsCell(base, head *record.Run, c record.Cell, control bool) (out, missing []*Comparison) {
	var group []record.Cell
	var aa *record.Cell
	for _, o := range base.Cells {
		if o.SameExceptImpl(c) {
			group = append(group, o)
			if o.Role == record.AARole {
				aa = &o
			}
		}
	}
	reference := base.ReferenceOf(group)
	// The reference is the same code in both and shows what the machine did, unless there is
	// nothing else to judge.
	controls := control && c.ID() == reference.ID() && slices.ContainsFunc(group, func(o record.Cell) bool { return o.Role == "" && o.ID() != reference.ID() })
	var sameCode []record.Cell // in base and head
	if control {
		sameCode = append(sameCode, reference)
		if aa != nil {
			sameCode = append(sameCode, *aa)
		}
	}
	look := max(base.LookAt(c), head.LookAt(c))
	for _, series := range SeriesOf(base, []record.Cell{c}) {
		names := MetricsOf(base, []record.Cell{c}, series)
		for _, metric := range names {
			of := func(r *record.Run, c record.Cell) sample { return sampleOf(r, c, series, metric) }
			b, h := of(base, c), of(head, c)
			if len(h.values) == 0 {
				missing = append(missing, &Comparison{Name: nameOf(base, c, series, metric), judged: metrics.JudgedAmong(metric, names)})
				continue
			}
			floor, drifts := -1.0, []string(nil)
			widen := func(f float64, w []string) { floor, drifts = max(floor, f), append(drifts, w...) }
			n := newComparison(nameOf(base, c, series, metric), b, h, -1, look)
			n.Cell = c
			n.judged = metrics.JudgedAmong(metric, names) && !controls
			if ratio, err := turnsRatio(head, c, series, metric); err == nil {
				n.Ratio = &ratio
				for _, same := range sameCode {
					if again, err := turnsRatio(head, same, series, metric); err == nil && same.ID() != c.ID() {
						widen(floorOfRatio(head.Settings.Rule, again))
					}
				}
			} else {
				if ratio, err := relativeRatio(base, head, c, series, metric); err == nil && control {
					// Without control the reference in between is not the same code. With it,
					// the others are measured with it.
					if c.ID() != reference.ID() {
						n.Ratio = &ratio
					}
					widen(ownFloor(base, reference, series, metric))
					widen(ownFloor(head, reference, series, metric))
				}
				if aa != nil {
					widen(aaFloor(base, reference, *aa, series, metric))
					widen(aaFloor(head, reference, *aa, series, metric))
				}
				if control && c.ID() != reference.ID() && (n.Ratio == nil || !n.Ratio.Paired) {
					widen(floorOf(base.Settings.Rule, of(base, reference), of(head, reference)))
				}
			}
			n.Floor = floor
			n.Warnings = append(n.Warnings, slices.Compact(drifts)...)
			out = append(out, n)
		}
	}
	return out, missing
}

// Judged returns the comparisons that have a verdict.
func (r *Result) Judged() []*Comparison {
	var out []*Comparison
	for _, c := range r.Comparisons {
		if c.judged {
			out = append(out, c)
		}
	}
	return out
}
