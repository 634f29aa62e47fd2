package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"go.yaml.in/yaml/v3"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// loaded is what a card says of a workload; package load has all of it.
type loaded struct {
	Component string
	Objects   struct{ Count int }
	Waiting   int
	Ops       []string
	Groups    []struct {
		Name, Op   string
		Goroutines int
		Rate       float64
	}
}

// span counts something in several workloads.
type span struct {
	what   string
	lo, hi float64
}

// loadOf says under which load a component was measured: "for 10,000 objects, 4 listers, 5,000
// writes a second". Where workloads differ it says from how many to how many. It is "" if the record
// does not say.
func loadOf(r *record.Run, component string) string {
	var spans []span
	add := func(what string, n float64) {
		i := slices.IndexFunc(spans, func(s span) bool { return s.what == what })
		if i < 0 {
			i, spans = len(spans), append(spans, span{what, n, n})
		}
		spans[i].lo, spans[i].hi = min(spans[i].lo, n), max(spans[i].hi, n)
	}
	alone, beside := false, false
	for _, text := range r.Workloads {
		var w loaded
		if yaml.Unmarshal([]byte(text.YAML), &w) != nil || w.Component != component {
			continue
		}
		if w.Objects.Count > 0 {
			add("objects", float64(w.Objects.Count))
		}
		if w.Waiting > 0 {
			add("waiting", float64(w.Waiting))
		}
		alone, beside = alone || len(w.Ops) > 0, beside || len(w.Groups) > 0
		for _, g := range w.Groups {
			if g.Goroutines != 1 || g.Rate == 0 {
				add(g.Name, float64(g.Goroutines))
			}
			if g.Rate > 0 {
				add(rateOf(g.Op), g.Rate)
			}
		}
	}
	var parts []string
	for _, s := range spans {
		number := humanize.Comma(int64(s.lo))
		if s.lo != s.hi {
			number += " to " + humanize.Comma(int64(s.hi))
		}
		what := strings.TrimSuffix(s.what, "s")
		if s.hi != 1 && what != "waiting" && !strings.HasSuffix(what, " a second") {
			what += "s"
		}
		parts = append(parts, number+" "+what)
	}
	switch {
	case alone && beside:
		parts = append(parts, "and each operation alone")
	case alone:
		parts = append(parts, "each operation alone")
	}
	if len(parts) == 0 {
		return ""
	}
	return "for " + strings.Join(parts, ", ")
}

// rateOf is what a group does at a rate.
func rateOf(op string) string {
	switch {
	case strings.HasPrefix(op, "update"):
		return "writes a second"
	case strings.HasPrefix(op, "add"):
		return "adds a second"
	}
	return "reads a second"
}

// concernText is a concern in plain words. Those of one group of goroutines name it.
func concernText(w compare.Weighed) string {
	only, rest := "", false
	for _, series := range w.Series {
		group, _, _ := strings.Cut(series, ":")
		rest = rest || only != "" && group != only
		only = group
	}
	switch w.Concern {
	case metrics.ConcernDelay:
		if only == "writer" && !rest {
			return "how late the writer is"
		}
		return "time of an operation under load"
	case metrics.ConcernStaleness:
		return "how late consumers get events"
	case metrics.ConcernTime:
		return "time of an operation"
	case metrics.ConcernDone:
		return noun(w.Series...) + " done"
	}
	return string(w.Concern)
}

// noun is what series do.
func noun(series ...string) string {
	if slices.ContainsFunc(series, func(s string) bool { return !strings.HasSuffix(s, ":update") }) {
		return "operations"
	}
	return "writes"
}

// sentence says an answer in short: "informerbench delivers 46 times as many writes as clientgo".
// It is of the writes, or of what gains most; "" if the reference stays.
func sentence(a compare.Answer) string {
	of := a.Concerns
	if a.Writes != nil {
		of = append([]compare.Weighed{*a.Writes}, of...)
	}
	i := slices.IndexFunc(of, func(w compare.Weighed) bool { return w.Verdict() == stats.Better })
	if i < 0 {
		return ""
	}
	w, least := of[i], ""
	if w.Bounded {
		least = "at least "
	}
	times := least + decimal(1/w.Ratio.Estimate) + " times"
	switch w.Concern {
	case metrics.ConcernDone:
		does := "does"
		if a.Component == "informer" {
			does = "delivers"
		}
		return fmt.Sprintf("%s %s %s%s times as many %s as %s", a.Use, does, least,
			decimal(w.Ratio.Estimate), noun(w.Series...), a.Reference)
	case metrics.ConcernMemory:
		return fmt.Sprintf("%s takes %s of %s's memory", a.Use,
			strings.TrimSuffix(FactorText(w.Ratio.Estimate), "x"), a.Reference)
	case metrics.ConcernStaleness:
		return fmt.Sprintf("consumers get events %s as fast from %s as from %s", times, a.Use,
			a.Reference)
	case metrics.ConcernDelay:
		return fmt.Sprintf("%s is %s as fast as %s under load", a.Use, times, a.Reference)
	}
	return fmt.Sprintf("%s is %s as fast as %s", a.Use, times, a.Reference)
}

// pageAnswer is what the run says of a component.
type pageAnswer struct {
	compare.Answer
	ID       string
	Load     string // under which they were compared
	Sentence string // that says it in short
	Concerns []mark // of the implementation to use
	Prices   []mark // what it does worst
	// MorePrices counts the other comparisons that are worse.
	MorePrices int
	Axis       axis
}

// answerOn takes the ids of the rows of all comparisons.
func answerOn(a compare.Answer, ids anchors, rows map[*compare.Comparison]string) pageAnswer {
	out := pageAnswer{Answer: a, ID: ids.of("answer " + a.Component), Sentence: sentence(a)}
	ratios := []stats.Ratio{}
	for _, c := range a.Concerns {
		ratios = append(ratios, c.Ratio)
	}
	worst := a.Worse[:min(mostConcerns, len(a.Worse))]
	out.MorePrices = len(a.Worse) - len(worst)
	named := map[string]int{}
	for _, c := range worst {
		ratios = append(ratios, *c.Ratio)
		named[numberName(c)]++
	}
	out.Axis = axisFor(ratios)
	for _, c := range a.Concerns {
		m := out.Axis.mark(concernText(c), c.Ratio, c.Verdict())
		m.Text = weighedRatio(c)
		out.Concerns = append(out.Concerns, m)
	}
	for _, c := range worst {
		name := numberName(c)
		if named[name] > 1 {
			name += " of " + c.Name.Workload
		}
		price := out.Axis.mark(name, *c.Ratio, c.Verdict)
		price.To = rows[c]
		out.Prices = append(out.Prices, price)
	}
	return out
}

// numberName is the name of a number within its workload: "get: ns/op", "memory per object".
func numberName(c *compare.Comparison) string {
	return strings.TrimPrefix(c.Name.Series+": ", compare.ProcessSeries+": ") +
		plainHeading(c.Name.Metric)
}

// plainHeading is Heading in the words of a card.
func plainHeading(metric string) string {
	switch metric {
	case metrics.HeapPerObject:
		return "memory per object"
	case metrics.PeakHeap:
		return "memory at its peak"
	}
	return Heading(metric)
}
