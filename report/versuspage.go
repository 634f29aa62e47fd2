package report

import (
	"cmp"
	_ "embed" // the template
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/stats"
)

// VersusFile is the comparison of two runs as one page that opens offline.
const VersusFile = "versus.html"

var (
	//go:embed versus.gotmpl
	versusText string

	// versusTemplate has the parts of report.html: its head, pictures and links.
	versusTemplate = template.Must(
		template.Must(pageTemplate.Clone()).New(VersusFile).Parse(versusText))
)

// The first screen shows mostChanges numbers that became worse, as many that became better, and
// mostFailed regressions of each gate. The tables below have them all.
const (
	mostChanges = 12
	mostFailed  = 5
)

// versusPage is what the template shows of a comparison.
type versusPage struct {
	frame                 // its command measured both
	BaseFrom, HeadFrom    pageSide
	Pair                  bool
	Outcome               stats.Verdict // its colour
	Summary               string
	Gates                 []pageGate
	Axis                  axis
	Worse, Better         []change
	MoreWorse, MoreBetter int
	Groups                []pageGroup
	ProfileHint           string // how to have profiles
}

// change is a number that became worse or better.
type change struct {
	mark
	Impl, Workload string
}

// pageSide is where the numbers of a side come from.
type pageSide struct {
	Name, Command, Revision, Started string
	Forks                            int
}

// pageGate is a gate with its outcome for every number that it matches.
type pageGate struct {
	Gate    string
	Outcome compare.Outcome // the worst
	Verdict stats.Verdict   // its colour
	Counts  []gateCount
	First   []gateNumber // of those that fail, in view
	Rest    []gateNumber
}

type gateCount struct {
	N       int
	Outcome compare.Outcome
}

type gateNumber struct {
	Name, Detail string
	Outcome      compare.Outcome
	Verdict      stats.Verdict
	To           string // the id of the number's row, "" if it has none
}

// WriteVersusPage writes a comparison of two runs or files as one page that opens offline:
// the outcome and what changed, then every number of base and head side by side, then their
// latencies and profiles over each other. base and head are the runs that were compared; they
// are nil for files. The comparison must have been judged (compare.Result.Judge). Its strings
// are shown as text, whoever wrote them. The error is w's, or names a histogram of base or head
// that cannot be read.
func WriteVersusPage(w io.Writer, result *compare.Result, base, head *Measured) error {
	p, err := versusOn(clean(result), base.cleaned(), head.cleaned())
	if err != nil {
		return err
	}
	return execute(w, versusTemplate, p)
}

func versusOn(r *compare.Result, base, head *Measured) (p versusPage, err error) {
	p = versusPage{frame: newFrame(r.Head+" against "+r.Base, "", versusLegend(r)), Pair: r.Pair,
		BaseFrom: sideOn(r.Base, r.BaseFrom), HeadFrom: sideOn(r.Head, r.HeadFrom),
		Outcome: verdictOfGate[r.Outcome()], Summary: summary(r, mostNamed)}
	p.Warnings, p.Left = r.Warnings, r.Left
	if p.BaseFrom.Command == p.HeadFrom.Command {
		p.Command, p.BaseFrom.Command, p.HeadFrom.Command = p.HeadFrom.Command, "", "" // that of a pair
	}
	ids := ownIDs("outcome", "outcome-title", "gates", "changes")
	rowOf := map[*compare.Comparison]string{}
	changed := changedFirst(r.Judged())
	details, err := detailsOf(slices.Concat(changed, r.Comparisons), base, head, ids)
	if err != nil {
		return p, err
	}
	p.Latencies, p.Flames = details.latencies, details.flames
	if p.Flames == nil && r.Pair {
		p.ProfileHint = "benchrun pair takes profiles of both with --profile"
	}
	for _, of := range inGroups(r.Comparisons, func(c *compare.Comparison) string {
		return c.Name.Component
	}) {
		p.Groups = append(p.Groups, versusGroupOn(r, of, changed, &details, ids, rowOf))
	}
	var floors []float64
	for _, c := range changed {
		p.name(c.Name.Component, c.Name.Impl)
		floors = append(floors, c.Floor)
	}
	p.tallied = tally(changed, versusOrder, floors)
	for _, c := range p.Counts {
		p.Verdicts = append(p.Verdicts, c.Verdict)
	}
	p.changes(changed, rowOf)
	p.gates(r, rowOf)
	return p, nil
}

func sideOn(name string, s compare.Side) pageSide {
	out := pageSide{Name: name, Command: commandLine(s.Command), Revision: s.Revision, Forks: s.Forks}
	if !s.Started.IsZero() {
		out.Started = s.Started.UTC().Format(time.DateTime) + " UTC"
	}
	return out
}

// changes fills in the plot of what became worse and better, on one axis.
func (p *versusPage) changes(judged []*compare.Comparison, rowOf map[*compare.Comparison]string) {
	worse, better := farthestFirst(judged, stats.Worse), farthestFirst(judged, stats.Better)
	p.MoreWorse, p.MoreBetter = max(0, len(worse)-mostChanges), max(0, len(better)-mostChanges)
	worse, better = worse[:len(worse)-p.MoreWorse], better[:len(better)-p.MoreBetter]
	var ratios []stats.Ratio
	for _, c := range slices.Concat(worse, better) {
		ratios = append(ratios, *c.Ratio)
	}
	p.Axis = axisFor(ratios)
	changes := func(of []*compare.Comparison) (out []change) {
		for _, c := range of {
			m := p.Axis.mark(operationOf(c.Name)+": "+c.Name.Metric, *c.Ratio, c.Verdict)
			m.To = rowOf[c]
			out = append(out, change{m, c.Name.Impl, c.Name.Workload})
		}
		return out
	}
	p.Worse, p.Better = changes(worse), changes(better)
}

// farthestFirst are the comparisons with a verdict, those whose ratio is farthest from 1 first.
func farthestFirst(judged []*compare.Comparison, v stats.Verdict) (out []*compare.Comparison) {
	for _, c := range judged {
		if c.Verdict == v && c.Ratio != nil {
			out = append(out, c)
		}
	}
	far := func(c *compare.Comparison) float64 {
		log := logWithin(c.Ratio.Estimate)
		return max(log, -log)
	}
	slices.SortStableFunc(out, func(a, b *compare.Comparison) int {
		return cmp.Compare(far(b), far(a))
	})
	return out
}

// outcomesOfGates are in the order of what a reader asks first.
var outcomesOfGates = []compare.Outcome{compare.Regression, compare.Undetermined, compare.Pass}

// gates fills in the outcomes of the gates that were given. Gates that fail come first, and
// within a gate the numbers that fail.
func (p *versusPage) gates(r *compare.Result, rowOf map[*compare.Comparison]string) {
	to := map[string]string{}
	for c, id := range rowOf {
		to[c.Name.String()] = id
	}
	for _, o := range outcomesOfGates {
		for _, g := range r.Gates {
			if g.Outcome != o || g.Gate == "" {
				continue
			}
			i := slices.IndexFunc(p.Gates, func(have pageGate) bool { return have.Gate == g.Gate })
			if i < 0 {
				i = len(p.Gates)
				p.Gates = append(p.Gates, pageGate{Gate: g.Gate, Outcome: o, Verdict: verdictOfGate[o]})
			}
			p.Gates[i].add(gateNumber{g.Name, g.Detail, o, verdictOfGate[o], to[g.Name]})
		}
	}
}

// add adds a number, of which those that fail come first.
func (g *pageGate) add(n gateNumber) {
	last := len(g.Counts) - 1
	if last < 0 || g.Counts[last].Outcome != n.Outcome {
		g.Counts = append(g.Counts, gateCount{Outcome: n.Outcome})
		last++
	}
	g.Counts[last].N++
	if n.Outcome == compare.Regression && len(g.First) < mostFailed {
		g.First = append(g.First, n)
	} else {
		g.Rest = append(g.Rest, n)
	}
}

func versusGroupOn(r *compare.Result, of, changed []*compare.Comparison, details *versusDetails,
	ids anchors, rowOf map[*compare.Comparison]string) pageGroup {
	component := of[0].Name.Component
	g := pageGroup{Component: component, Title: cmp.Or(component, "benchmarks"),
		Numbers: numbers{Header: []string{"what", "metric", "base", "head", "head to base"}}}
	g.ID = ids.of("all " + g.Title)
	var own []*compare.Comparison
	var ratios []stats.Ratio
	for _, c := range changed {
		if c.Name.Component == component {
			own = append(own, c)
			if c.Ratio != nil {
				ratios = append(ratios, *c.Ratio)
			}
		}
	}
	g.Axis = axisFor(ratios)
	notes := &footnotes{}
	for _, c := range own {
		row := versusRowOn(r, c, g.Axis, notes)
		row.ID = ids.of(c.Name.String())
		details.links(&row, c)
		rowOf[c] = row.ID
		g.Rows = append(g.Rows, row)
	}
	g.Notes = notes.list()
	for _, c := range of {
		if _, judged := rowOf[c]; !judged {
			metric := c.Name.Metric
			g.Numbers.Cells = append(g.Numbers.Cells,
				[]string{withoutMetric(c.Name), metric, interval(metric, c.Base), interval(metric, c.Head),
					effect(c)})
		}
	}
	return g
}

func versusRowOn(r *compare.Result, c *compare.Comparison, on axis, notes *footnotes) pageRow {
	metric := c.Name.Metric
	l := pageLine{Impl: c.Name.Impl,
		Base:   interval(metric, c.Base) + notes.mark(c.Base.Warnings),
		Median: interval(metric, c.Head) + notes.mark(c.Head.Warnings),
		Effect: effect(c) + notes.mark(c.Warnings), Verdict: c.Verdict, Text: verdict(c), Order: 1}
	row := pageRow{Workload: c.Name.Workload, Operation: operationOf(c.Name), Metric: metric,
		Help: metrics.Of(metric).Help, Noise: percent(c.Floor), Finds: factor(c.Detectable)}
	if c.Ratio != nil {
		m := on.mark(c.Name.String(), *c.Ratio, c.Verdict)
		l.Mark, l.Order, row.Q = &m, c.Ratio.Estimate, fmt.Sprintf("%.2g", c.Ratio.Q)
	}
	dot := "process"
	if c.Name.Benchmark != "" {
		dot = "line of the file"
	}
	row.strips = stripsOf(dot, metric, []string{"base", "head"},
		[][]float64{c.BaseValues, c.HeadValues})
	if r.Pair {
		l.Again = pairAgain(r.HeadFrom.Command, c.Name, r.References[c.Name.Component])
	}
	row.Lines = []pageLine{l}
	return row
}

// pairAgain is the command that measures one implementation of both builds again, beside the
// reference, which is the control. The gates are left out: they may match nothing of it.
func pairAgain(command []string, n compare.Name, reference string) string {
	impls := reference
	if n.Impl != reference {
		impls = strings.TrimPrefix(reference+","+n.Impl, ",")
	}
	return narrowed(command, "pair", []string{"--gate", "--gates", "--html"}, n.Component, impls)
}

func operationOf(n compare.Name) string { return cmp.Or(n.Series, n.Benchmark) }

// withoutMetric is a name's text up to its metric.
func withoutMetric(n compare.Name) string {
	return strings.TrimSuffix(n.String(), "/"+n.Metric)
}
