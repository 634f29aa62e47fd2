package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/informerbench/informerbench/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// mostConcerns is how many things an answer in a terminal names.
const mostConcerns = 3

// writeAnswer writes what a run says for each component: which implementation, what it gains
// and loses in what differs most, at what price, and what is open. It takes two lines for a
// component, and two more.
func writeAnswer(w *writer, r *record.Run, groups []compare.Group, to Terminal) {
	answers := compare.Answers(r, groups)
	if len(answers) == 0 {
		return
	}
	w.printf("\nWhat to use instead of the reference (0.5x: half of its numbers, on average)\n")
	for _, a := range answers {
		w.printf("%s\n", to.answer(a))
	}
}

func (to Terminal) answer(a compare.Answer) string {
	open := fmt.Sprintf("%d of %d inconclusive", a.Inconclusive, a.Judged)
	if a.Use == a.Reference {
		return fmt.Sprintf("%-9s nothing: none is proved better; %s", a.Component, open)
	}
	head := fmt.Sprintf("%-9s %s", a.Component, to.painted(stats.Better, a.Use))
	if price := price(a); price != "" {
		head += "; price: " + to.painted(stats.Worse, price)
	}
	var things []string
	for _, c := range a.Concerns[:min(mostConcerns, len(a.Concerns))] {
		things = append(things, to.painted(verdictOf(c), string(c.Concern)+" "+RatioText(c.Ratio)))
	}
	return fmt.Sprintf("%s; %s\n   %s", head, open, strings.Join(things, ", "))
}

// price is what an implementation does worst, "" if nothing is proved worse.
func price(a compare.Answer) string {
	if len(a.Worse) == 0 {
		return ""
	}
	c := a.Worse[0]
	what := c.Name.Series
	if what == compare.ProcessSeries {
		what = string(metrics.Of(c.Name.Metric).Concern)
	}
	text := fmt.Sprintf("%s %s", what, FactorText(c.Ratio.Estimate))
	if more := len(a.Worse) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// verdictOf says what the whole interval of a concern shows.
func verdictOf(c compare.Weighed) stats.Verdict {
	switch lower := c.Better == metrics.LowerIsBetter; {
	case c.Ratio.Hi < 1 && lower, c.Ratio.Lo > 1 && !lower:
		return stats.Better
	case c.Ratio.Lo > 1 && lower, c.Ratio.Hi < 1 && !lower:
		return stats.Worse
	case c.Verdicts[stats.Same] == c.Ratio.N:
		return stats.Same
	}
	return stats.Inconclusive
}

// RatioText formats a ratio with its interval, to two digits, or as a fraction where it is
// below a tenth: "0.80x [0.78, 0.82]".
func RatioText(r stats.Ratio) string {
	if r.Estimate == stats.FromZero {
		return FactorText(r.Estimate)
	}
	return fmt.Sprintf("%s [%s, %s]", FactorText(r.Estimate), short(r.Lo), short(r.Hi))
}

// FactorText formats a ratio as RatioText does, without an interval: "0.80x".
func FactorText(v float64) string {
	if v == stats.FromZero {
		return "from 0"
	}
	if v < leastDecimal {
		return short(v)
	}
	return short(v) + "x"
}

// leastDecimal is the least ratio that is written as a decimal: 1/2300 says more than 0.00043.
const leastDecimal = 0.1

// short formats a ratio with two digits, or as a fraction.
func short(v float64) string {
	switch {
	case v == stats.FromZero:
		return "..." // of an interval
	case v >= 10:
		return fmt.Sprintf("%.0f", v)
	case v >= 2:
		return fmt.Sprintf("%.1f", v)
	case v >= leastDecimal:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("1/%.0f", 1/max(v, 1.0/math.MaxInt32))
}
