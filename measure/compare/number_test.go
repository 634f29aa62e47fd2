package compare

import (
	"testing"

	"github.com/informerbench/informerbench/measure/record/recordtest"
)

// TestARatioIsThatOfTheReport: what RatioTo gives for a number is what Within says of it, in
// turns and out of turns.
func TestARatioIsThatOfTheReport(t *testing.T) {
	t.Parallel()
	r := recordtest.Run(
		recordtest.Spec{Forks: 12, Impls: []recordtest.Impl{{Name: "reference", NsPerOp: 100},
			{Name: "mine", NsPerOp: 80}}})
	compared := 0
	for _, c := range against(Within(r)) {
		if c.Ratio == nil || c.Name.Impl == "reference@aa" {
			continue
		}
		compared++
		n, err := Lookup(r, c.Name.String())
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := n.RatioTo("reference")
		if err != nil || got.Estimate != c.Ratio.Estimate || got.Lo != c.Ratio.Lo ||
			got.Hi != c.Ratio.Hi {
			t.Errorf("%s: %g [%g, %g], %v; the report has %g [%g, %g]", c.Name, got.Estimate, got.Lo, got.Hi,
				err, c.Ratio.Estimate, c.Ratio.Lo, c.Ratio.Hi)
		}
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}
