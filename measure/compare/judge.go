package compare

import (
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/stats"
)

// judge gives verdicts to the comparisons marked for it. They are one family: their
// p-values are corrected for their number (stats.Adjust).
func judge(rule stats.Rule, all []*Comparison) {
	var family []*Comparison
	var ratios []*stats.Ratio
	for _, c := range all {
		if c.judged && c.Ratio != nil && c.direction != metrics.Neither {
			family = append(family, c)
			ratios = append(ratios, c.Ratio)
		}
	}
	stats.Adjust(ratios)
	for _, c := range family {
		at := rule.AtLook(c.look).For(metrics.Of(c.Name.Metric))
		floor := max(0, c.Floor)
		c.Verdict = at.Judge(c.direction, *c.Ratio, floor)
		c.critical = critical(at, ratios)
		c.Prospect = at.Prospect(*c.Ratio, floor, c.critical)
		if c.Verdict != stats.Inconclusive {
			c.MoreForks = 0
		}
	}
}

// critical is the largest p-value with which one more comparison of the family would be
// significant.
func critical(rule stats.Rule, family []*stats.Ratio) float64 {
	passed := 0
	for _, r := range family {
		if r.Q <= rule.Alpha {
			passed++
		}
	}
	return rule.Alpha * float64(min(passed+1, len(family))) / float64(len(family))
}
