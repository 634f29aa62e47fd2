package report

import (
	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
)

// Brief is what a run says of one component in a few words, for a list of runs. Its strings
// have no control characters; they may hold markup.
type Brief struct {
	Component string
	Reference string
	// Use is the implementation to use; the reference where none gains more than it loses.
	Use string
	// Kept says why Use is the reference, "" if it is not.
	Kept string
	// Gains are the concerns in which Use differs most from the reference, each with the
	// ratio of its numbers to the reference's, and its verdict if that is not better:
	// "delay 0.50x [0.45, 0.55]", "memory 1.30x [1.20, 1.40] (worse)".
	Gains []string
	// Level names the others that the run does not tell apart from Use (see compare.Answer), "" if
	// there are none: "not told apart from it: sharded".
	Level string
	// Price is what Use does worst, "" if nothing is proved worse: "heap-B/object 1.3x [1.2, 1.4]".
	Price string
	// Inconclusive of Judged comparisons have no verdict (see compare.Answer).
	Inconclusive, Judged int
}

// Briefs sums a run up as the terminal's last lines do, a Brief for each component of which
// several implementations were measured. It takes about a second for a run of a thousand
// comparisons.
func Briefs(run *record.Run) []Brief {
	r := clean(run)
	var out []Brief
	for _, a := range compare.Answers(r, compare.Within(r)) {
		b := Brief{Component: a.Component, Reference: a.Reference, Use: a.Use,
			Inconclusive: a.Inconclusive, Judged: a.Judged, Kept: kept(a), Level: levelWith(a)}
		if texts := prices(a); len(texts) > 0 {
			b.Price = texts[0]
		}
		for _, c := range a.Concerns[:min(mostConcerns, len(a.Concerns))] {
			b.Gains = append(b.Gains, WeighedText(c))
		}
		out = append(out, b)
	}
	return out
}
