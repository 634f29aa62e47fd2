package compare

import (
	"fmt"
	"maps"
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
	// Left names the cells and the key metrics that only one of the two has. They were left out,
	// with the reason where it is known.
	Left []string
	// Gates are the outcomes of the gates (see Judge).
	Gates []GateResult

	// BaseFrom and HeadFrom say where the numbers come from.
	BaseFrom, HeadFrom Side
	// Pair says that benchrun pair measured both in turns: they are the halves of one pair.
	Pair bool
	// References are the reference implementations of head by component; nil for files.
	References map[string]string

	// missing are the metrics that base has and head lacks although it has the cell, or would
	// have it if the implementation kept its contract: a fork crashed or hung, or an operation
	// was left out. Whether they became worse is unknown.
	missing []*Comparison
	// added are the numbers of head that base lacks. A gate on a value bounds them too.
	added []*Comparison
	// broken is what head's run found to be broken. It is a regression, whatever the numbers say.
	broken []GateResult
}

// Runs compares the numbers of two runs that have the same name: base against head. The
// error says why the two may not be compared; with force it is a warning of the result
// instead. A gate may add metrics to the judged key metrics (see Judge).
//
// The machine may have changed between the two runs. If the catalog's reference implementation
// is in both, its code is the same as long as its module's version is. Its change between the
// runs is therefore part of the noise floor of every row, and it gets no verdict itself (see
// control).
//
// Head may have ratios to the base of its pair. They count if that is this base
// (record.Halves). Otherwise a warning says that the values are compared instead.
func Runs(base, head *record.Run, force bool) (*Result, error) {
	out := &Result{
		Base: base.Name, Head: head.Name, Rule: head.Settings.Rule,
		BaseFrom: sideOf(base), HeadFrom: sideOf(head), Pair: record.Halves(base, head),
		References: referencesOf(head),
		broken:     brokenIn(head),
	}
	if reasons := incomparable(base, head); len(reasons) > 0 {
		if !force {
			return nil, fmt.Errorf("%s and %s cannot be compared: %s; --force compares them all the same",
				base.Name, head.Name, strings.Join(reasons, "; "))
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
		out.Warnings = append(out.Warnings,
			fmt.Sprintf("base was measured on %d machines, head on %d, and not on the same ones: where "+
				"operations took no turns, the difference between the machines is in the numbers", len(a),
				len(b)))
	}
	if !out.Pair && tookTurns(head) {
		out.Warnings = append(out.Warnings,
			"head took turns with the base of its pair, which this base is not, or an older benchrun did "+
				"not record it: the values of the two runs are compared, not the ratios of the turns; "+
				"compare the folders base and head of one pair")
	}
	for _, c := range base.Cells {
		if c.Role != "" {
			continue
		}
		failed := !has(head, c) && failedIn(head, c)
		if !has(head, c) && !failed {
			out.Left = append(out.Left, c.ID()+" (only in "+base.Name+")")
			continue
		}
		constant, err := control(base, head, c)
		if err != nil {
			out.warnOnce(err.Error())
		}
		both, missing := runsCell(base, head, c, constant)
		out.Comparisons, out.missing = append(out.Comparisons, both...), append(out.missing, missing...)
		if failed {
			out.Left = append(out.Left,
				c.ID()+" (only in "+base.Name+": it does not keep the contract in "+head.Name+")")
			continue
		}
		for _, m := range missing {
			if m.judged && !m.replaced {
				out.Left = append(out.Left, m.Name.String()+" (only in "+base.Name+")")
			}
		}
	}
	for _, c := range head.Cells {
		if c.Role != "" {
			continue
		}
		added := addedIn(base, head, c)
		out.added = append(out.added, added...)
		if !has(base, c) {
			out.Left = append(out.Left, c.ID()+" (only in "+head.Name+")")
			continue
		}
		for _, a := range added {
			if a.short {
				out.Left = append(out.Left, a.Name.String()+" (only in "+head.Name+")")
			}
		}
	}
	if len(out.Comparisons)+len(out.missing) == 0 {
		return nil, fmt.Errorf("%s and %s have no cell in common: nothing to compare", base.Name,
			head.Name)
	}
	return out, nil
}

func (r *Result) warnOnce(text string) {
	if !slices.Contains(r.Warnings, text) {
		r.Warnings = append(r.Warnings, text)
	}
}

func has(r *record.Run, c record.Cell) bool {
	return slices.ContainsFunc(r.Cells, func(o record.Cell) bool { return o.ID() == c.ID() })
}

// groupOf are the cells of a run that differ from c in implementation and role only.
func groupOf(r *record.Run, c record.Cell) (out []record.Cell) {
	for _, o := range r.Cells {
		if o.SameExceptImpl(c) {
			out = append(out, o)
		}
	}
	return out
}

// failedIn reports whether the implementation of a cell failed its suite in a run.
func failedIn(r *record.Run, c record.Cell) bool {
	return implementationOf(r, string(c.Component), c.Impl).Verified == record.VerifyFailed
}

// brokenIn is what is broken in a run, as regressions: each implementation that fails its suite,
// each cell in which a process crashed or hung, and each check that fails.
func brokenIn(r *record.Run) (out []GateResult) {
	found := func(gate, name, detail string) {
		out = append(out, GateResult{Gate: gate, Name: name, Outcome: Regression, Detail: detail})
	}
	for _, im := range r.Impls {
		if im.Verified == record.VerifyFailed {
			found("each implementation keeps its contract", im.Component+"/"+im.Name,
				slices.Concat(im.Failures, []string{"it does not"})[0])
		}
	}
	given := givenUp(r)
	for _, c := range r.Cells {
		if n := given[c.ID()]; n > 0 {
			detail := fmt.Sprintf("missing processes: %d, since one crashed or hung", n)
			if r.Settings.Pair {
				detail += ", in base or in head"
			}
			name := strings.Join([]string{string(c.Component), workloadOf(r, c), c.Label()}, "/")
			found("each process ends", name, detail)
		}
	}
	checks := r.Checks
	if !r.Complete { // those of the whole run come at its end
		for _, f := range r.Forks {
			checks = append(slices.Clip(checks), f.Checks...)
		}
	}
	for _, c := range checks {
		if !c.Passed {
			found("each check passes", c.Name, c.Detail)
		}
	}
	return out
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
		out = append(out, fmt.Sprintf("their rules differ: %+v against %+v", base.Settings.Rule,
			head.Settings.Rule))
	}
	for _, w := range base.Workloads {
		for _, o := range head.Workloads {
			if w.Key == o.Key && w.YAML != o.YAML {
				out = append(out, "workload "+w.Key+" is another in each")
			}
		}
	}
	return append(out, otherPartners(base, head)...)
}

// otherPartners says where operations took turns with one implementation in base and with
// another in head. Their ratios to it are then of different things, and so are their times,
// which the neighbour in the process changes.
func otherPartners(base, head *record.Run) (out []string) {
	for _, c := range base.Cells {
		b, h := anyPartner(base, c), anyPartner(head, c)
		if b == "" || h == "" || b == h {
			continue
		}
		reason := fmt.Sprintf(
			"their references differ: %s took turns with %s in base and with %s in head, so measure both "+
				"with the same reference in --impl", c.Component, b, h)
		if !slices.Contains(out, reason) {
			out = append(out, reason)
		}
	}
	return out
}

// control is the cell, in the workload of c, whose change between two runs is the machine's:
// that of the catalog's reference. Its code is client-go's or the standard library's, and
// catalog.Extend refuses another. Both runs must have it: the implementation that stands in for
// it within a run (record.Run.ReferenceOf) may be the one that changed. The error says why there
// is none.
func control(base, head *record.Run, c record.Cell) (*record.Cell, error) {
	reference := referenceOf(base, string(c.Component))
	if base.Planted(c.Component, reference.Name) || head.Planted(c.Component, reference.Name) {
		return nil, fmt.Errorf("no control: the reference %s is slowed down on purpose", reference.Name)
	}
	for _, module := range slices.Sorted(maps.Keys(base.Environment.Modules)) {
		if v, o := base.Environment.Modules[module], head.Environment.Modules[module]; o != v &&
			runsCodeOf(reference.Module, module) {
			return nil, fmt.Errorf(
				"no control: %s is %s in base and %s in head, so the reference of %s cannot tell how the "+
					"machine changed between the runs", module, v, o, c.Component)
		}
	}
	if reference.Name == referenceOf(head, string(c.Component)).Name {
		for _, o := range groupOf(base, c) {
			if o.Role == "" && o.Impl == reference.Name && len(base.Measured(o)) > 0 &&
				len(head.Measured(o)) > 0 {
				return &o, nil
			}
		}
	}
	return nil, fmt.Errorf(
		"no control: the reference of %s, which benchrun list marks, was not measured in both runs, "+
			"so nothing shows what the machine changed between them; add it to --impl", c.Component)
}

// runsCodeOf reports whether an implementation of one module runs code of another: its own, or
// one of those that Kubernetes releases together.
func runsCodeOf(impl, module string) bool {
	const kubernetes = "k8s.io/"
	return impl == module || strings.HasPrefix(impl, kubernetes) &&
		strings.HasPrefix(module, kubernetes)
}

// runsCell compares every metric of one cell, and returns those that head lacks. The drift of
// constant, if there is one (see control), is part of the noise floor.
func runsCell(base, head *record.Run, c record.Cell, constant *record.Cell) (out,
	missing []*Comparison) {
	group := groupOf(base, c)
	// It shows what the machine did, unless there is nothing else to judge.
	controls := constant != nil && c.ID() == constant.ID() &&
		slices.ContainsFunc(group, func(o record.Cell) bool {
			return o.Role == "" && o.ID() != c.ID()
		})
	var others []record.Cell // beside c, with the same code in base and head
	if constant != nil {
		others = slices.DeleteFunc(group, func(o record.Cell) bool {
			return o.Impl != constant.Impl || o.ID() == c.ID()
		})
	}
	halves, look := record.Halves(base, head), max(base.LookAt(c), head.LookAt(c))
	for _, series := range SeriesOf(base, []record.Cell{c}) {
		cell := []record.Cell{c}
		forks := slices.Concat(ValuesOf(base, cell, series), ValuesOf(head, cell, series))
		for _, metric := range MetricsOf(base, cell, series) {
			inHead := number{head, c, series, metric}
			own := inHead.in(base)
			b, h := own.sample(), inHead.sample()
			inBase, inBoth := metrics.JudgedIn(metric, ValuesOf(base, cell, series)),
				metrics.JudgedIn(metric, forks)
			if len(h.values) == 0 {
				missing = append(missing, &Comparison{Name: own.name(), judged: inBase, short: inBase})
				continue
			}
			if inBase && !inBoth {
				missing = append(missing,
					&Comparison{Name: own.name(), judged: true, short: true, replaced: true})
			}
			floor, drifts := -1.0, []string(nil)
			widen := func(f float64, w []string) { floor, drifts = max(floor, f), append(drifts, w...) }
			var turns *stats.Ratio
			if ratio, err := inHead.turnsWithBase(); err == nil && halves {
				turns = &ratio
				for _, same := range others {
					if again, err := inHead.of(same).turnsWithBase(); err == nil {
						widen(floorOfRatio(head.Settings.Rule, again))
					}
				}
			} else {
				widen(own.repeatedFloor())
				widen(inHead.repeatedFloor())
				if constant != nil && c.ID() != constant.ID() {
					// It was measured with each, or tells how the machine drifted.
					if ratio, err := inHead.relativeTo(own, constant.Impl); err == nil {
						turns = &ratio
					} else {
						widen(floorOf(base.Settings.Rule, own.of(*constant).sample(),
							inHead.of(*constant).sample()))
					}
				}
			}
			n := newComparison(own.name(), b, h, turns)
			n.Cell, n.Floor, n.look, n.Warnings = c, floor, look, slices.Compact(drifts)
			n.controls, n.short, n.judged = controls, inBoth, inBoth && !controls
			out = append(out, n)
		}
	}
	return out, missing
}

// addedIn are the numbers of a cell of head that base lacks.
func addedIn(base, head *record.Run, c record.Cell) (out []*Comparison) {
	cell := []record.Cell{c}
	for _, series := range SeriesOf(head, cell) {
		forks := ValuesOf(head, cell, series)
		for _, metric := range MetricsOf(head, cell, series) {
			inHead := number{head, c, series, metric}
			b, h := inHead.in(base).sample(), inHead.sample()
			if len(b.values) > 0 || len(h.values) == 0 {
				continue
			}
			n := newComparison(inHead.name(), b, h, nil)
			n.Cell, n.short = c, metrics.JudgedIn(metric, forks)
			out = append(out, n)
		}
	}
	return out
}

// tookTurns reports whether any operation of a run took turns with that of another run.
func tookTurns(head *record.Run) bool {
	return slices.ContainsFunc(head.Forks, func(f record.Fork) bool {
		return slices.ContainsFunc(f.Series, func(s record.Series) bool { return len(s.Base) > 0 })
	})
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
