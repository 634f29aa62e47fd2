package report

import (
	"testing"

	"github.com/informerbench/informerbench/measure/stats"
)

// An interval has one form: that of its estimate.
func TestRatioText(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]stats.Ratio{
		"0.80x [0.78, 0.82]":        {Estimate: 0.8, Lo: 0.78, Hi: 0.82},
		"2.3x [1.95, 12]":           {Estimate: 2.3, Lo: 1.95, Hi: 12.4},
		"153x [100, 1230]":          {Estimate: 153.2, Lo: 100.1, Hi: 1234},
		"1/13 [1/24, 1/7.1]":        {Estimate: 1 / 13., Lo: 1 / 24., Hi: 0.14},
		"1/13,000 [1/14,800, 1.20]": {Estimate: 1 / 13011., Lo: 1 / 14808., Hi: 1.2},
		"1/2300 [0, ...]":           {Estimate: 1 / 2300., Hi: stats.FromZero},
		"0.12x [0.0714, 0.16]":      {Estimate: 0.12, Lo: 1 / 14., Hi: 0.16},
		"from 0":                    {Estimate: stats.FromZero},
	} {
		if got := RatioText(r); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
