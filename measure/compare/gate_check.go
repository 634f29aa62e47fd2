package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// GateError is the error of a gate that does not suit what is compared: it matches nothing, bounds
// a change on the side on which it is an improvement, or bounds by a duration what is none.
type GateError struct{ Gate, Why string }

func (e *GateError) Error() string { return fmt.Sprintf("gate %q: %s", e.Gate, e.Why) }

// wrongSide is the error of a gate that bounds a change on the side on which it is an
// improvement.
func (g Gate) wrongSide(name string, better metrics.Direction) error {
	worse := better == metrics.HigherIsBetter
	if !g.relative || better == metrics.Neither || worse == g.above {
		return nil
	}
	op := map[bool]string{false: "<= +5%", true: ">= -5%"}[worse]
	return &GateError{g.Text, fmt.Sprintf("for %s the regression lies on the other side; write %s",
		name, op)}
}

// wrongUnit is the error of a gate that bounds by a duration what is not in nanoseconds.
func (g Gate) wrongUnit(metric string) error {
	if !g.timed || metrics.Of(metric).Unit == metrics.Nanoseconds {
		return nil
	}
	return &GateError{g.Text, fmt.Sprintf(
		"%s is not in nanoseconds, so a duration does not bound it; write the bound as a number in "+
			"its own unit, without one", metric)}
}

// CheckGates finds mistakes in gates before a run: a gate that can match nothing of its cells,
// or only changes that it bounds on the side on which they are improvements. Which series there
// will be is not known, so Judge may still find that a gate matches nothing. The error is a
// *GateError. It costs a comparison of patterns for each gate, cell and metric.
func CheckGates(planned *record.Run, gates []Gate) error {
	for _, g := range gates {
		if err := g.check(planned); err != nil {
			return err
		}
	}
	return nil
}

func (g Gate) check(planned *record.Run) (wrong error) {
	var planning []string
	for _, c := range planned.Cells {
		if c.Role != "" {
			continue
		}
		name := number{planned, c, "*", "*"}.name() // of any series
		planning = append(planning, name.String())
		for _, m := range metrics.All() {
			name.Metric = m.Name
			may := anySpelling(name, m.Judged, func(text string) bool { return overlap(g.glob, text) })
			if !may || g.relative && m.Better == metrics.Neither {
				continue
			}
			if wrong = cmp.Or(g.wrongSide(name.String(), m.Better), g.wrongUnit(m.Name)); wrong == nil {
				return nil
			}
		}
	}
	if wrong != nil {
		return wrong
	}
	return &GateError{g.Text, "it matches nothing of what is to be measured; there are " +
		listed(planning)}
}

// someNames lists names that a gate could have matched: one of each metric.
func someNames(all []*Comparison) string {
	var out, metrics []string
	for _, c := range all {
		if m := c.Name.Metric; !slices.Contains(metrics, m) && (c.judged || len(all) <= mostListed) {
			metrics = append(metrics, m)
			out = append(out, c.Name.String())
		}
	}
	return listed(out)
}

// mostListed is how many names an error lists.
const mostListed = 12

func listed(names []string) string {
	if len(names) > mostListed {
		names = append(names[:mostListed:mostListed], "...")
	}
	return strings.Join(names, ", ")
}

// overlap reports whether a text matches both patterns. It costs O(len(a) len(b)).
func overlap(a, b string) bool {
	below := make([]bool, len(b)+1) // below[j]: a text matches both a[i+1:] and b[j:]
	for i := len(a); i >= 0; i-- {
		row := make([]bool, len(b)+1) // row[j]: likewise of a[i:]
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a) && j == len(b):
				row[j] = true
			case i < len(a) && a[i] == '*': // it ends here, or takes one more of b
				row[j] = below[j] || j < len(b) && row[j+1]
			case j < len(b) && b[j] == '*':
				row[j] = row[j+1] || i < len(a) && below[j]
			default:
				row[j] = i < len(a) && j < len(b) && a[i] == b[j] && below[j+1]
			}
		}
		below = row
	}
	return below[0]
}
