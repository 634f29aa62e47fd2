package advise

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/report"
)

// Run is what a run says, and under which loads. The record may come from anybody: of its
// strings only names that the catalog has, and those of its series, come into an advice.
type Run struct {
	// Dir is the folder, for texts and commands.
	Dir      string
	record   *record.Run
	measured []measurement
}

// measurement is a workload at one value of its sweep, with its verdicts.
type measurement struct {
	component contract.Component
	load      Load
	alone     bool // it has operations only, each by itself
	group     compare.Group
}

// OfRun evaluates a run: its verdicts, and the loads of its workloads. It costs what a report
// does, some seconds for the largest runs.
func OfRun(dir string, r *record.Run) *Run {
	out := &Run{Dir: dir, record: r}
	for _, g := range compare.Within(r) {
		text, err := r.Workload(g.Cells[0])
		if err != nil {
			continue
		}
		// A workload that this build cannot read, such as a foreign one, says nothing.
		if w, err := load.ParseWorkload(text.Name, []byte(text.YAML)); err == nil {
			out.measured = append(out.measured, measurement{w.Component, loadOf(w), len(w.Groups) == 0, g})
		}
	}
	return out
}

// of are the measurements of a component.
func (r *Run) of(c contract.Component) (out []measurement) {
	for _, m := range r.measured {
		if m.component == c {
			out = append(out, m)
		}
	}
	return out
}

// loadOf describes a workload's own load.
func loadOf(w load.Workload) Load {
	var l Load
	timed := w.Component == contract.ComponentDelay || w.Component == contract.ComponentQueue
	if timed {
		l = l.With(Delayed, float64(w.Waiting))
		if w.Component == contract.ComponentQueue && w.Ahead == 0 {
			l = l.With(Delayed, 0) // they are ready
		}
	} else {
		l = l.With(Objects, float64(w.Objects.Count))
	}
	if w.Component == contract.ComponentStore || w.Component == contract.ComponentInformer {
		l = l.With(Readers, 0)
	}
	for _, g := range w.Groups {
		op, err := load.LookupOperation(w.Component, g.Op)
		if err != nil || g.Goroutines == 0 {
			continue
		}
		switch {
		case op.Role == load.RoleRead && float64(g.Goroutines) > l.Numbers[Readers]:
			l = l.reading(w, g)
		case op.Role == load.RoleWrite && g.Rate > 0 && !timed: // an Add to a queue writes no object
			l = l.With(Writes, g.Rate)
		case op.Role == load.RoleConsume && w.Component == contract.ComponentQueue:
			l = l.With(Workers, float64(g.Goroutines))
		}
	}
	return l
}

// reading sets the readers of a load to a group of a workload.
func (l Load) reading(w load.Workload, g load.Group) Load {
	l = l.With(Readers, float64(g.Goroutines))
	delete(l.Numbers, Matches)
	switch g.Op {
	case load.OpGet:
		l.Reads = ReadGet
	case load.OpList, load.OpListKeys:
		l.Reads = ReadList
	default:
		l.Reads = ReadIndex
		values := w.Objects.NamespaceCount()
		if g.Index == synthetic.IndexNode {
			values = w.Objects.NodeCount()
		}
		l = l.With(Matches, float64(max(1, w.Objects.Count/max(1, values))))
	}
	return l
}

// Load is the heaviest load of the run: of the workloads of each component, that with the most
// readers, then the most objects.
func (r *Run) Load() Load {
	var out Load
	for _, c := range load.Components() {
		out = out.Over(r.heaviest(c)) // the store's numbers before the informer's
	}
	out.From = []string{r.Dir + ": the heaviest of its workloads"}
	return out
}

// heaviest is the load of one component; the zero Load if the run measured none of it.
func (r *Run) heaviest(c contract.Component) Load {
	of := r.of(c)
	if len(of) == 0 {
		return Load{}
	}
	return slices.MinFunc(of, func(a, b measurement) int { // the first of those that are alike
		for _, d := range []Dimension{Readers, Workers, Objects, Delayed, Writes} {
			if order := cmp.Compare(b.load.Numbers[d], a.load.Numbers[d]); order != 0 {
				return order
			}
		}
		return 0
	}).load
}

// near returns what the run measured of a component nearest to a load: the workloads with the
// same kind of reads of which each number is the load's own, or the next smaller or larger one
// that was measured. Operations alone are near whatever reads, because they have their cost
// beside readers too. There is none if a number of the load does not lie between two that were
// measured, or no workload is at least as heavy in all of them; why says so.
func (r *Run) near(c contract.Component, l Load) (near []measurement, why string) {
	near = r.of(c)
	if len(near) == 0 {
		return nil, ""
	}
	if l.Reads != "" && l.Numbers[Readers] > 0 && slices.ContainsFunc(near, func(m measurement) bool {
		return m.load.Reads != ""
	}) {
		near = slices.DeleteFunc(near, func(m measurement) bool {
			return !m.alone && m.load.Reads != l.Reads
		})
		if !slices.ContainsFunc(near, func(m measurement) bool { return m.load.Reads != "" }) {
			return nil, fmt.Sprintf("readers that %s: the run has none", l.Reads)
		}
	}
	of := near // the next numbers are looked for in all of them, whatever the others leave
	for _, d := range dimensions {
		v, known := l.Numbers[d.Dimension]
		if !known {
			continue
		}
		var measured []float64
		for _, m := range of {
			if n, has := m.number(d.Dimension, v); has {
				measured = append(measured, n)
			}
		}
		if len(measured) == 0 {
			continue // it does not matter to the component, or was as much as it can do
		}
		slices.Sort(measured)
		limits := Range{measured[0], measured[len(measured)-1]}
		if !limits.holds(v) {
			return nil, fmt.Sprintf("%s: the run measured %s", d.counted(v), limits)
		}
		above, exact := slices.BinarySearch(measured, v)
		next := Range{measured[above], measured[above]}
		if !exact {
			next[0] = measured[above-1]
		}
		near = slices.DeleteFunc(slices.Clone(near), func(m measurement) bool {
			n, has := m.number(d.Dimension, v)
			return has && n != next[0] && n != next[1]
		})
	}
	if !slices.ContainsFunc(near, func(m measurement) bool { return m.load.asHeavy(l) }) {
		return nil, "no workload of the run has all of the load at once"
	}
	return near, ""
}

// number is how much of a dimension the measurement has, to be held against v of it. ok is false
// if it has nothing to do with v.
func (m measurement) number(d Dimension, v float64) (n float64, ok bool) {
	n, ok = m.load.Numbers[d]
	return n, ok && !(m.alone && d == Readers && v > 0)
}

// asHeavy reports whether no number of l is above that of own, where own has one.
func (own Load) asHeavy(l Load) bool {
	for d, v := range l.Numbers {
		if n, has := own.Numbers[d]; has && n < v {
			return false
		}
	}
	return true
}

// advise is the run's own advice, by what it measured nearest to the load; nil where that
// proves nothing. notes say why, and run has the commands that measure the load if the run is
// about another one.
func (r *Run) advise(c contract.Component, q Question) (a *Advice, notes, run []string) {
	near, why := r.near(c, q.Asked.Over(r.heaviest(c)))
	if why != "" {
		return nil, []string{fmt.Sprintf("The run did not measure this load (%s).", why)}, commands(c, q)
	}
	var groups []compare.Group
	for _, m := range near {
		groups = append(groups, m.group)
	}
	answer, unsuited, compared := r.answer(c, groups, q.Asked)
	if !compared {
		return nil, nil, nil // nothing was compared
	}
	notes = append(notes, unsuited...)
	for _, w := range compare.Taints(r.record) {
		notes = append(notes, "The run: "+w+".")
	}
	if answer.Rejected != "" && known(c, answer.Rejected) {
		notes = append(notes, fmt.Sprintf("%s gains more in the run and is left out: it %s.",
			answer.Rejected, answer.Why))
	}
	if answer.Use == answer.Reference && answer.Inconclusive > 0 {
		next := "Its command with --budget 10m measures more."
		if !r.record.Complete {
			next = "It was interrupted."
			if !r.record.Settings.Pair {
				next = "It was interrupted; to go on: " + record.ResumeCommand(r.Dir)
			}
		}
		return nil, append(
			notes, fmt.Sprintf("The run proves none better: %d of %d comparisons are inconclusive. %s",
				answer.Inconclusive, answer.Judged, next)), nil
	}
	entry, err := catalog.Lookup(c, answer.Use)
	if err != nil {
		return nil, append(
			notes, "The run recommends an implementation that this benchrun does not have."), nil
	}
	if why := unsuitable(entry, q.Asked); why != "" {
		return nil, append(notes, fmt.Sprintf("The run favours %s, which %s.", entry.Name, why)), nil
	}
	if entry.Study {
		notes = append(notes, entry.Name+
			" is in the catalog for study: docs/stores.md, fifos.md, delays.md and queues.md say what "+
			"its design lacks.")
	}
	if unverified := r.unverified(c, answer.Use); unverified != "" {
		notes = append(notes, unverified)
	}
	return &Advice{
		Component: c, Decision: Use, Use: entry.Name,
		Because: []Reason{{Says: gains(answer), Record: r.Dir}},
		Price:   r.costs(answer),
	}, notes, nil
}

// answer sums groups of a component up; compared is false if nothing in them was. What does not do
// what the load asks for is left out, and unsuited says so. A design that is in the catalog for
// study
// is the answer only if no other implementation gains anything.
func (r *Run) answer(c contract.Component, groups []compare.Group, l Load) (a compare.Answer,
	unsuited []string, compared bool) {
	for {
		answers := compare.Answers(r.record, groups)
		if len(answers) == 0 {
			return a, unsuited, false
		}
		a = answers[0]
		entry, err := catalog.Lookup(c, a.Use)
		if err != nil {
			return a, unsuited, true
		}
		if why := unsuitable(entry, l); why != "" && !entry.Reference {
			unsuited = append(unsuited,
				fmt.Sprintf("%s gains more in the run and is left out: it %s.", entry.Name, why))
			groups = without(c, groups, func(e catalog.Entry) bool { return e.Name == entry.Name })
			continue
		}
		if !entry.Study {
			return a, unsuited, true
		}
		useful := without(c, groups, func(e catalog.Entry) bool { return e.Study })
		if others := compare.Answers(r.record, useful); len(others) > 0 &&
			others[0].Use != others[0].Reference {
			return others[0], unsuited, true
		}
		return a, unsuited, true
	}
}

// unsuitable says why an implementation does not do what a load asks for, "" if it does.
func unsuitable(e catalog.Entry, l Load) string {
	switch {
	case e.Component == contract.ComponentQueue && l.Priorities && !hasPriorities(e):
		return "has no priorities"
	case e.Component == contract.ComponentFIFO && l.Events == EventsEvery &&
		e.FIFOClass == contract.Coalescing:
		return "merges the events of an object that wait"
	}
	return ""
}

func hasPriorities(e catalog.Entry) bool {
	q := e.NewQueue(clock.RealClock{})
	defer q.ShutDown()
	_, ok := q.(contract.PriorityQueue[string])
	return ok
}

// without returns groups without some of the catalog's implementations.
func without(c contract.Component, groups []compare.Group,
	drop func(catalog.Entry) bool) []compare.Group {
	groups = slices.Clone(groups)
	for i := range groups {
		groups[i].Rows = slices.Clone(groups[i].Rows)
		for j, row := range groups[i].Rows {
			groups[i].Rows[j].Values = slices.DeleteFunc(slices.Clone(row.Values),
				func(v compare.Value) bool {
					entry, err := catalog.Lookup(c, v.Impl)
					return err == nil && drop(entry)
				})
		}
	}
	return groups
}

func known(c contract.Component, name string) bool {
	_, err := catalog.Lookup(c, name)
	return err == nil
}

func (r *Run) unverified(c contract.Component, name string) string {
	for _, im := range r.record.Impls {
		if im.Component == string(c) && im.Name == name && im.Verified != record.VerifyPassed {
			return fmt.Sprintf(
				"Its conformance suite did not pass in the run (%s): benchrun verify --component %s --impl %s",
				im.Verified, c, name)
		}
	}
	return ""
}

// gains says what the implementation gains in the run's comparisons.
func gains(a compare.Answer) string {
	if a.Use == a.Reference {
		if a.Rejected != "" {
			return fmt.Sprintf("%s gains more, and %s.", a.Rejected, a.Why)
		}
		return fmt.Sprintf("None of the others gains more than it loses, by what is proved in %s.",
			counted(a.Judged, "comparison", "comparisons"))
	}
	var parts []string
	for _, w := range a.Concerns {
		parts = append(parts, report.WeighedText(w))
	}
	return fmt.Sprintf("Of the reference's, on average: %s; %d of %d comparisons are inconclusive.",
		strings.Join(parts, ", "), a.Inconclusive, a.Judged)
}

// mostCosts is how many metrics a price names.
const mostCosts = 3

// costs are what is proved worse, by metric and series: the worst comparison of each, and how
// many there are.
func (r *Run) costs(a compare.Answer) (out []Reason) {
	type kind struct{ metric, series string }
	var kinds []kind
	of := map[kind][]*compare.Comparison{}
	for _, c := range a.Worse { // the worst first
		k := kind{c.Name.Metric, c.Name.Series}
		kinds, of[k] = unique(append(kinds, k)), append(of[k], c)
	}
	for i, k := range kinds {
		if i == mostCosts {
			return append(out, Reason{
				Says: counted(len(kinds)-i, "more metric is worse.", "more metrics are worse."), Record: r.Dir})
		}
		c := of[k][0]
		where := k.series + " "
		if k.series == compare.ProcessSeries {
			where = ""
		}
		says := fmt.Sprintf("%s%s is %s of the reference's in %s", where, k.metric,
			report.RatioText(*c.Ratio), c.Name.Workload)
		if more := len(of[k]) - 1; more > 0 {
			says += fmt.Sprintf(", and worse in %d more", more)
		}
		out = append(out, Reason{Says: says + ".", Record: r.Dir})
	}
	return out
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
