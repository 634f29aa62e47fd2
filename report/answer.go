package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/stats"
)

// mostConcerns is how many things an answer in a terminal names.
const mostConcerns = 3

// answer is what a run says of a component: which implementation to use under which load, what it
// gains and loses in what differs most, at what price, what is open, and which others are not told
// apart. The last line says it in short.
func (to Terminal) answer(a compare.Answer, load string) string {
	if load != "" {
		load = ", " + load
	}
	open := fmt.Sprintf("%d of %d inconclusive", a.Inconclusive, a.Judged)
	if a.Use == a.Reference {
		return to.indent(fmt.Sprintf("%s: %s%s", a.Component, a.Stays(), load), kept(a)+"; "+open)
	}
	var gains []string
	for _, c := range a.Concerns[:min(mostConcerns, len(a.Concerns))] {
		gains = append(gains, to.painted(c.Verdict(), WeighedText(c)))
	}
	head := fmt.Sprintf("%s: %s instead of %s%s", a.Component, to.painted(stats.Better, a.Use),
		a.Reference, load)
	rest := []string{open}
	if price := price(a); price != "" {
		rest = []string{"price: " + to.painted(stats.Worse, price), open}
	}
	if len(a.Level) > 0 {
		rest = append(rest, "not told apart from it: "+strings.Join(a.Level, ", "))
	}
	return to.indent(head, strings.Join(gains, ", "), strings.Join(rest, "; "), sentence(a))
}

// indent breaks lines, each with all lines but the first of the first one indented.
func (to Terminal) indent(lines ...string) string {
	const by = 3
	for i, line := range lines {
		if !to.Wide {
			lines[i] = wrapNames(line, max(1, to.width()-by))
		}
		lines[i] = strings.ReplaceAll(lines[i], "\n", "\n"+strings.Repeat(" ", by))
	}
	return strings.Join(lines, "\n"+strings.Repeat(" ", by))
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

// price says what an implementation does worst, "" if nothing is proved worse.
func price(a compare.Answer) string {
	if len(a.Worse) == 0 {
		return ""
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
			more = fmt.Sprintf(" and %d of %s", n-1, plainHeading(ofOthers))
		}
	}
	return numberName(c) + " " + RatioText(*c.Ratio) + more
}

// WeighedText is a concern with its ratio, and its verdict where that is not better: the colour
// alone would not tell: "memory 1.30x [1.20, 1.40] (worse)". Where single gains are bounded there
// is no interval: "memory 1/900 or less".
func WeighedText(w compare.Weighed) string {
	text := concernText(w) + " " + weighedRatio(w)
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
	case v >= 10_000:
		return humanize.Comma(int64(rounded(v)))
	case v < leastDecimal || v >= 100:
		return digits(v)
	case v < 2:
		decimals = 2
	case v < 10:
		decimals = 1
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
