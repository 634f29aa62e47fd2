package compare

import (
	"fmt"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/stats"
)

// apply applies the gate to one comparison. A regression needs as much as a verdict: the
// interval beyond the bound and beyond the noise, and a significant test. A pass needs the
// whole interval within the bound. Either needs as many values as a verdict.
func (g Gate) apply(c *Comparison, rule stats.Rule) GateResult {
	out := GateResult{Gate: g.Text, Name: c.Name.String(), of: c}
	out.Outcome, out.Detail = g.outcome(c, rule)
	if out.Outcome == Undetermined {
		out.MoreForks = g.moreForks(c)
	}
	return out
}

func (g Gate) outcome(c *Comparison, rule stats.Rule) (out Outcome, detail string) {
	out = Undetermined
	if !g.relative {
		switch lo, hi := c.Head.Lo, c.Head.Hi; {
		case c.Head.N < stats.FewestForks: // the interval is only the range
		case g.inside(lo) && g.inside(hi):
			out = Pass
		case !g.inside(lo) && !g.inside(hi):
			out = Regression
		}
		return out, fmt.Sprintf("head is %.4g [%.4g, %.4g]", c.Head.Median, c.Head.Lo, c.Head.Hi)
	}
	if c.Ratio == nil {
		return out, "there is no ratio"
	}
	ratio := *c.Ratio
	proven := ratio.Q <= rule.AtLook(c.look).Alpha && ratio.Enough()
	// A difference within the machine's noise is no regression. A gate that demands an
	// improvement is also missed by a number that did not change. There is no test for
	// that, so the interval decides.
	noise := 1 + max(0, c.Floor)
	limit := max(g.bound, noise)
	if g.above {
		limit = min(g.bound, 1/noise)
	}
	if g.improves() {
		limit, proven = g.bound, ratio.Enough()
	}
	equal := ratio.Lo == 1 && ratio.Hi == 1 && ratio.N > 1 // as for a verdict: equal counts
	switch {
	case g.inside(ratio.Lo) && g.inside(ratio.Hi) && (ratio.Enough() || equal):
		out = Pass
	case proven && (g.above && ratio.Hi < limit || !g.above && ratio.Lo > limit):
		out = Regression
	}
	return out, fmt.Sprintf("%.3gx [%.3g, %.3g], q=%.2g", ratio.Estimate, ratio.Lo, ratio.Hi, ratio.Q)
}

// improves reports whether the gate demands an improvement.
func (g Gate) improves() bool {
	if g.above {
		return g.bound > 1
	}
	return g.bound < 1
}

// better is the direction of a number, as the side says that the gate bounds.
func (g Gate) better() metrics.Direction {
	if g.above {
		return metrics.HigherIsBetter
	}
	return metrics.LowerIsBetter
}

// moreForks is how many more forks of either side would decide the gate, as it stands: with
// them the whole interval would lie on one side of the bound. A regression is also beyond the
// noise, and significant.
func (g Gate) moreForks(c *Comparison) int {
	var rule stats.Rule // without a margin: the bound is the only one
	if !g.relative {
		value := stats.Ratio{Estimate: c.Head.Median, Lo: c.Head.Lo, Hi: c.Head.Hi, N: c.Head.N}
		return rule.Prospect(relativeTo(value, g.bound), 0, 1).MoreForks
	}
	if c.Ratio == nil {
		return 0
	}
	past := rule.Prospect(relativeTo(*c.Ratio, g.bound), 0, 1).MoreForks
	if g.inside(c.Ratio.Estimate) || g.improves() {
		return past
	}
	proven := rule.Prospect(*c.Ratio, max(0, c.Floor), c.critical).MoreForks
	if past == 0 || proven == 0 {
		return 0
	}
	return max(past, proven)
}

// relativeTo is a ratio to a bound in place of 1. What is beyond all bounds stays there.
func relativeTo(r stats.Ratio, bound float64) stats.Ratio {
	r.Estimate, r.Lo = r.Estimate/bound, r.Lo/bound
	if r.Hi < stats.FromZero {
		r.Hi /= bound
	}
	return r
}

func (g Gate) inside(v float64) bool {
	if g.above {
		return v >= g.bound
	}
	return v <= g.bound
}
