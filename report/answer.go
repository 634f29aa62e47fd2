package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/stats"
)

// mostConcerns is how many things an answer in a terminal names.
const mostConcerns = 3

// writeAnswer writes what a run says for each component: which implementation, what it gains
// and loses in what differs most, at what price, what is open, and which others are not told apart.
// It takes two lines for a component, and two more.
func writeAnswer(w *writer, answers []compare.Answer, to Terminal) {
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
		head := fmt.Sprintf("%-9s keep %s: %s", a.Component, a.Reference, kept(a))
		if to.Wide || utf8.RuneCountInString(head+"; "+open) <= to.width() {
			return head + "; " + open
		}
		return to.wrapped(head) + "\n   " + open
	}
	head := fmt.Sprintf("%-9s %s", a.Component, to.painted(stats.Better, a.Use))
	rest := utf8.RuneCountInString(fmt.Sprintf("%-9s %s; price: ; %s", a.Component, a.Use, open))
	texts := prices(a)
	for i, text := range texts { // the longest that fits, else the shortest
		if to.Wide || i == len(texts)-1 || rest+utf8.RuneCountInString(text) <= to.width() {
			head += "; price: " + to.painted(stats.Worse, text)
			break
		}
	}
	return fmt.Sprintf("%s; %s\n   %s", head, open, to.gains(a))
}

// gains names what differs most, and then what is not told apart. Where that does not fit the
// terminal, fewer concerns are named, at least one.
func (to Terminal) gains(a compare.Answer) string {
	level := levelWith(a)
	if level != "" {
		level = "; " + level
	}
	for n := min(mostConcerns, len(a.Concerns)); ; n-- {
		var plain, painted []string
		for _, c := range a.Concerns[:n] {
			text := WeighedText(c)
			plain, painted = append(plain, text), append(painted, to.painted(c.Verdict(), text))
		}
		if n <= 1 || to.Wide || utf8.RuneCountInString(
			"   "+strings.Join(plain, ", ")+level) <= to.width() {
			return strings.Join(painted, ", ") + level
		}
	}
}

// levelWith names the others that the run does not tell apart, "" if there are none.
func levelWith(a compare.Answer) string {
	if len(a.Level) == 0 {
		return ""
	}
	return "not told apart from it: " + strings.Join(a.Level, ", ")
}

// kept says why the reference stays, "" if it does not.
func kept(a compare.Answer) string {
	switch {
	case a.Use != a.Reference:
		return ""
	case a.Rejected == "":
		return "none gains more than it loses, by what is proved"
	}
	return fmt.Sprintf("%s gains more, and %s", a.Rejected, a.Why)
}

// prices say what an implementation does worst, the longest text first; none if nothing is
// proved worse.
func prices(a compare.Answer) []string {
	if len(a.Worse) == 0 {
		return nil
	}
	c, more := a.Worse[0], ""
	if n := len(a.Worse); n > 1 {
		more = fmt.Sprintf(" and %d more", n-1)
		ofOthers := a.Worse[1].Name.Metric
		switch alike := !slices.ContainsFunc(a.Worse[2:], func(o *compare.Comparison) bool {
			return o.Name.Metric != ofOthers
		}); {
		case alike && ofOthers == c.Name.Metric:
			more = fmt.Sprintf(" (worst of %d)", n)
		case alike:
			more = fmt.Sprintf(" and %d of %s", n-1, ofOthers)
		}
	}
	// A concern alone would read as the mean over its rows, which stands in the line below.
	row := "a row of " + string(metrics.Of(c.Name.Metric).Concern)
	return []string{
		numberName(c) + " " + RatioText(*c.Ratio) + more,
		numberName(c) + " " + FactorText(c.Ratio.Estimate) + more,
		row + " " + FactorText(c.Ratio.Estimate) + more,
	}
}

// WeighedText is a concern with its ratio, and its verdict where that is not better: the colour
// alone would not tell. "delay 0.50x [0.45, 0.55]", "memory 1.30x [1.20, 1.40] (worse)". Where
// single
// gains are bounded there is no interval: "delay 1/900 or less".
func WeighedText(w compare.Weighed) string {
	text := string(w.Concern) + " " + weighedRatio(w)
	if v := w.Verdict(); v != stats.Better {
		text += " (" + string(v) + ")"
	}
	return text
}

func weighedRatio(w compare.Weighed) string {
	switch {
	case !w.Bounded:
		return RatioText(w.Ratio)
	case w.Ratio.Estimate < 1:
		return FactorText(w.Ratio.Estimate) + " or less"
	}
	return FactorText(w.Ratio.Estimate) + " or more"
}

// RatioText formats a ratio with its interval, to two or three digits: "0.80x [0.78, 0.82]". Below
// a
// tenth all three are fractions: "1/13 [1/24, 1/7.1]".
func RatioText(r stats.Ratio) string {
	text := FactorText(r.Estimate)
	if r.Estimate == stats.FromZero {
		return text
	}
	form := decimal
	if r.Estimate > 0 && r.Estimate < leastDecimal {
		form = fraction
	}
	return fmt.Sprintf("%s [%s, %s]", text, form(r.Lo), form(r.Hi))
}

// FactorText formats a ratio as RatioText does, without an interval: "0.80x".
func FactorText(v float64) string {
	switch {
	case v == stats.FromZero:
		return "from 0"
	case v < leastDecimal:
		return fraction(v)
	}
	return decimal(v) + "x"
}

// leastDecimal is the least ratio that is written as a decimal: 1/2300 says more than 0.00043.
const leastDecimal = 0.1

// fraction formats a ratio as one, unless it is 0, or 1 and above.
func fraction(v float64) string {
	if v <= 0 || v >= 1 {
		return decimal(v)
	}
	return "1/" + decimal(1/v)
}

// decimal formats a ratio with two digits, or with three beyond 100 and below a tenth.
func decimal(v float64) string {
	decimals := 0
	switch {
	case v == stats.FromZero:
		return "..." // of an interval
	case v < leastDecimal || v >= 100:
		return digits(v)
	case v < 2:
		decimals = 2
	case v < 10:
		decimals = 1
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
