package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// Reference is the implementation with which a report compares the others of a component.
type Reference struct {
	Component, Impl string
}

// ParseReference reads "store=lockfree". The error says what is wrong with the text.
func ParseReference(text string) (Reference, error) {
	component, impl, ok := strings.Cut(text, "=")
	if !ok || component == "" || impl == "" {
		return Reference{}, fmt.Errorf(
			"%q is no reference: want COMPONENT=IMPLEMENTATION, such as store=lockfree", text)
	}
	return Reference{component, impl}, nil
}

// against returns the run with other references, and with a warning that says so. The error
// wraps compare.ErrNoReference and names what can be chosen. A component may be given once.
func against(r *record.Run, references ...Reference) (*record.Run, error) {
	for i, ref := range references {
		if slices.ContainsFunc(references[:i], func(o Reference) bool {
			return o.Component == ref.Component
		}) {
			return nil, fmt.Errorf("%s=%s %w: %s has been given one already; choose one", ref.Component,
				ref.Impl, compare.ErrNoReference, ref.Component)
		}
		chosen, err := compare.AgainstReference(r, ref.Component, ref.Impl)
		if err != nil {
			return nil, err
		}
		chosen.Warnings = append(slices.Clone(r.Warnings),
			fmt.Sprintf("%s is compared with %s, which was chosen for this report and not for the run",
				ref.Component, ref.Impl))
		r = chosen
	}
	return r, nil
}

// axisOfGroup has the ratios of all judged comparisons of a group.
func axisOfGroup(g compare.Group) axis {
	var ratios []stats.Ratio
	for _, c := range compare.Judged([]compare.Group{g}) {
		if c.Ratio != nil {
			ratios = append(ratios, *c.Ratio)
		}
	}
	return axisFor(ratios)
}
