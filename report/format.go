package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/stats"
)

// Heading is the name of a metric beside values that have units: "response-p99".
func Heading(metric string) string { return strings.TrimSuffix(metric, "-ns") }

// NumberText formats a value in the unit of its metric, to three digits, or three decimals of
// a count: "133ns".
func NumberText(metric string, v float64) string {
	unit := metrics.Of(metric).Unit
	switch {
	case math.IsNaN(v):
		return "?"
	case unit == metrics.Nanoseconds:
		return duration(v)
	case unit == metrics.Percent:
		return digits(v) + "%"
	case unit == metrics.Bytes:
		return size(v)
	case v >= 1000:
		return humanize.CommafWithDigits(math.Round(v), 0)
	case strings.HasSuffix(metric, "/s"): // a rate, which is no count
		return digits(v)
	case v >= 0.001:
		return humanize.FtoaWithDigits(math.Round(v*1000)/1000, 3) // counts: 4.001 is not 4
	}
	return fmt.Sprintf("%.3g", v)
}

// rounded is v with three significant digits.
func rounded(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64) // it reads what it wrote
	return r
}

// digits formats v with three significant digits, and never as 1e+03.
func digits(v float64) string {
	if math.Abs(v) < 0.001 && v != 0 {
		return fmt.Sprintf("%.3g", v)
	}
	return strconv.FormatFloat(rounded(v), 'f', -1, 64)
}

func duration(ns float64) string {
	switch r := rounded(ns); {
	case r < 1e3:
		return digits(ns) + "ns"
	case r < 1e6:
		return digits(ns/1e3) + "µs"
	case r < 1e9:
		return digits(ns/1e6) + "ms"
	}
	return digits(ns/1e9) + "s"
}

// size formats a size in units of 1,024.
func size(v float64) string {
	for _, unit := range []string{"B", "KiB", "MiB", "GiB"} {
		switch {
		case v < 1000:
			return digits(v) + " " + unit
		case v < 1023.5:
			return fmt.Sprintf("%.0f %s", v, unit)
		}
		v /= 1024
	}
	return digits(v) + " TiB"
}

// interval formats an estimate with its interval, "45.2ns [44.9ns, 46ns]". It adds the
// number of values where they are too few for a valid interval.
func interval(metric string, e stats.Estimate) string {
	s := NumberText(metric, e.Median)
	if e.Lo != e.Hi {
		s = fmt.Sprintf("%s [%s, %s]", s, NumberText(metric, e.Lo), NumberText(metric, e.Hi))
	}
	if e.N < stats.FewestForks {
		s += fmt.Sprintf(" (n=%d)", e.N)
	}
	return s
}

// effect formats a ratio with its interval: "0.98x [0.95, 1.01]".
func effect(c *compare.Comparison) string {
	switch r := c.Ratio; {
	case r == nil:
		return ""
	case r.Estimate == stats.FromZero:
		return "from 0"
	case r.Hi == stats.FromZero:
		return fmt.Sprintf("%sx [%s, ...]", digits(r.Estimate), digits(r.Lo))
	default:
		return fmt.Sprintf("%sx [%s, %s]", digits(r.Estimate), digits(r.Lo), digits(r.Hi))
	}
}

// verdict formats a verdict. One of same gets the metric's own margin, an inconclusive one
// the number of forks that would settle it.
func verdict(c *compare.Comparison) string {
	within := metrics.Of(c.Name.Metric).SameWithin
	switch {
	case c.Verdict == stats.Same && within > 0:
		return fmt.Sprintf("%s within %s", c.Verdict, factor(within))
	case c.Verdict == stats.Inconclusive && c.MoreForks > 0:
		return fmt.Sprintf("%s (%d more)", c.Verdict, c.MoreForks)
	}
	return string(c.Verdict)
}
