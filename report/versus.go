package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/stats"
)

// VersusSchema is the version of the JSON that WriteVersusJSON writes. It grows when a
// reader of the former version would misread the JSON.
const VersusSchema = 1

// WriteVersusText writes a comparison of two runs for a terminal: what changed first, and
// the outcome last.
func WriteVersusText(out io.Writer, result *compare.Result, to Terminal) error {
	r := clean(result)
	w := &writer{w: out}
	notes := &footnotes{}
	t := to.versus(r, notes)
	forTerminal(t, fmt.Sprintf("%s against %s", r.Head, r.Base))
	w.printf("%s\n%s\n", t.Render(), to.wrapped(notes.text()))
	for _, g := range r.Gates {
		if g.Gate != "" {
			w.printf("%s: %s\n%s\n", g.Gate, to.painted(verdictOfGate[g.Outcome], string(g.Outcome)),
				to.wrapped("   "+g.Name+": "+g.Detail))
		}
	}
	for _, warning := range r.Warnings {
		w.printf("%s\n", to.wrapped("warning: "+indented(warning)))
	}
	for _, left := range r.Left {
		w.printf("%s\n", to.wrapped("left out: "+left))
	}
	legend := "0.5x is half of base, with the 95% interval; --wide shows all columns."
	if to.columns() == everyColumn {
		legend = versusLegend(r)
	}
	w.printf("%s\n\n%s\n", to.wrapped(legend), to.wrapped(Summary(r)))
	return w.err
}

// WriteVersusMarkdown writes a comparison of two runs for the description of a pull
// request.
func WriteVersusMarkdown(w io.Writer, result *compare.Result) error {
	out := &writer{w: w}
	r, code := forMarkdown(result), clean(result)
	out.printf("### %s\n\n%s against %s\n\n", Summary(r), codeSpan(code.Head), codeSpan(code.Base))
	for _, warning := range r.Warnings {
		out.printf("> warning: %s  \n", warning)
	}
	notes := &footnotes{}
	out.printf("\n%s\n\n%s\n", everything.versus(r, notes).RenderMarkdown(),
		markdownLines(notes.text()))
	writeGates(out, r)
	for _, left := range r.Left {
		out.printf("- left out: %s\n", left)
	}
	out.printf("\n<details><summary>how to read this</summary>\n\n%s\n</details>\n",
		markdownLines(versusLegend(r)))
	return out.err
}

// WriteVersusJSON writes every comparison, including those without a verdict.
func WriteVersusJSON(w io.Writer, result *compare.Result) error {
	r := clean(result)
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(struct {
		Schema      int                   `json:"schema"`
		Base        string                `json:"base"`
		Head        string                `json:"head"`
		Rule        stats.Rule            `json:"rule"`
		Outcome     compare.Outcome       `json:"outcome"`
		Warnings    []string              `json:"warnings,omitempty"`
		Left        []string              `json:"left,omitempty"`
		Gates       []compare.GateResult  `json:"gates"`
		Comparisons []*compare.Comparison `json:"comparisons"`
	}{VersusSchema, r.Base, r.Head, r.Rule, r.Outcome(), r.Warnings, r.Left, r.Gates, r.Comparisons})
}

// allOf is every warning once.
func allOf(warnings ...[]string) (all []string) {
	for _, w := range slices.Concat(warnings...) {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// versus is a line per judged comparison, in the columns that fit.
func (to Terminal) versus(r *compare.Result, notes *footnotes) *fitted {
	t := to.table(map[columns]table.Row{
		fewColumns: {"what", "metric", "head against base", "verdict"},
		withMedian: {"what", "metric", "head [interval]", "head against base", "verdict"},
		everyColumn: {"what", "metric", "base [interval]", "head [interval]", "head against base",
			"verdict", "noise", "finds"},
	})
	for _, c := range changedFirst(r.Judged()) {
		what, metric := withoutMetric(c.Name), c.Name.Metric
		base, head := interval(metric, c.Base), interval(metric, c.Head)
		if to.columns() == everyColumn {
			t.AppendRow(table.Row{what, metric, base + notes.mark(c.Base.Warnings),
				head + notes.mark(c.Head.Warnings), effect(c) + notes.mark(c.Warnings), verdict(c),
				percent(c.Floor), factor(c.Detectable)})
			continue
		}
		ratio := effect(c) + notes.mark(allOf(c.Base.Warnings, c.Head.Warnings, c.Warnings))
		row := table.Row{what, metric, ratio, to.painted(c.Verdict, string(c.Verdict))}
		if to.columns() == withMedian {
			row = table.Row{what, metric, head, ratio, to.painted(c.Verdict, verdict(c))}
		}
		t.AppendRow(row)
	}
	return t
}

// changedFirst orders comparisons by what a reader of a change asks first: worse, better,
// what could not be told, the rest. Each of them stays in the order of the run.
func changedFirst(all []*compare.Comparison) []*compare.Comparison {
	return slices.SortedStableFunc(slices.Values(all), func(a, b *compare.Comparison) int {
		return cmp.Compare(slices.Index(versusOrder, a.Verdict), slices.Index(versusOrder, b.Verdict))
	})
}

var versusOrder = []stats.Verdict{stats.Worse, stats.Better, stats.Inconclusive, stats.Same,
	stats.NotComparable}

// verdictOfGate has the colours of outcomes.
var verdictOfGate = map[compare.Outcome]stats.Verdict{compare.Pass: stats.Better,
	compare.Regression: stats.Worse, compare.Undetermined: stats.Inconclusive}

// writeGates lists the outcome of each gate. Without gates the verdicts are enough.
func writeGates(w *writer, r *compare.Result) {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"gate", "what", "outcome", "because"})
	for _, g := range r.Gates {
		if g.Gate != "" {
			t.AppendRow(table.Row{g.Gate, g.Name, g.Outcome, g.Detail})
		}
	}
	if t.Length() > 0 {
		w.printf("%s\n\n", t.RenderMarkdown())
	}
}

func versusLegend(r *compare.Result) string {
	return "Medians over forks, each a process of its own (or over the lines of a file), with " +
		"their 95% interval; 0.90x is 0.90 of base, with the interval of the ratio.\n" +
		ruleText(r.Rule) +
		"\nnoise: how far the same code lay apart in either run, or from one run to the other."
}

// Summary is the outcome of a comparison in one line, with the names of the regressions.
func Summary(r *compare.Result) string {
	if len(r.Gates) == 0 {
		return "inconclusive: no number has a verdict, so nothing was judged; the warnings say how to " +
			"give one"
	}
	var regressed, open []string
	for _, g := range r.Gates {
		switch g.Outcome {
		case compare.Regression:
			regressed = append(regressed, g.Name)
		case compare.Undetermined:
			open = append(open, g.Name)
		}
	}
	count := fmt.Sprintf("%d of %d", len(r.Gates)-len(regressed)-len(open), len(r.Gates))
	switch r.Outcome() {
	case compare.Regression:
		return fmt.Sprintf("regression: %s; %s hold, %d are inconclusive", strings.Join(regressed, ", "),
			count, len(open))
	case compare.Undetermined:
		return fmt.Sprintf("inconclusive: %s hold, nothing regressed beyond doubt, %d could not be told",
			count, len(open))
	}
	return fmt.Sprintf("pass: %s hold", count)
}

// withoutMetric is a name's text up to its metric.
func withoutMetric(n compare.Name) string {
	return strings.TrimSuffix(n.String(), "/"+n.Metric)
}
