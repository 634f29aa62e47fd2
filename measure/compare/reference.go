package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/measure/record"
)

// ErrNoReference says that an implementation cannot be the reference of a component.
var ErrNoReference = errors.New("cannot be the reference")

// AgainstReference returns the run as if another implementation were the reference of a
// component: Within and all that rests on it compare the others with that one. The
// implementation's cells come first in their workloads. The run itself stays as it is. The error
// wraps ErrNoReference and names the implementations and components that can be chosen.
func AgainstReference(r *record.Run, component, impl string) (*record.Run, error) {
	of := implementationsOf(r)
	if len(of[component]) == 0 {
		return nil, fmt.Errorf("%s=%s %w: the run measured no component of this name; it has %s",
			component, impl, ErrNoReference, strings.Join(measuredComponents(r), ", "))
	}
	if !slices.Contains(of[component], impl) {
		return nil, fmt.Errorf("%s=%s %w: the run did not measure it; choose one of %s", component, impl,
			ErrNoReference, strings.Join(of[component], ", "))
	}
	out := *r
	out.Impls = slices.Clone(r.Impls)
	for i := range out.Impls {
		if im := &out.Impls[i]; im.Component == component {
			im.Reference = im.Name == impl
		}
	}
	out.Cells = slices.Clone(r.Cells)
	for first := 0; first < len(out.Cells); first++ {
		c := out.Cells[first]
		if string(c.Component) != component || slices.ContainsFunc(out.Cells[:first], c.SameExceptImpl) {
			continue
		}
		chosen := slices.IndexFunc(out.Cells, func(o record.Cell) bool {
			return o.SameExceptImpl(c) && o.Impl == impl && o.Role == ""
		})
		if chosen > first {
			cell := out.Cells[chosen]
			copy(out.Cells[first+1:chosen+1], out.Cells[first:chosen])
			out.Cells[first] = cell
		}
	}
	return &out, nil
}

// WithinAgainst evaluates a component against another reference: its groups, in the order of
// Within's. own are Within's of the run. The verdicts are one family with those of the other
// components, which keep their references, so they are those of Within of AgainstReference's
// run, at the cost of one component. Errors are AgainstReference's.
func WithinAgainst(r *record.Run, own []Group, component, impl string) ([]Group, error) {
	chosen, err := AgainstReference(r, component, impl)
	if err != nil {
		return nil, err
	}
	groups := groupsOf(chosen, func(c record.Cell) bool { return string(c.Component) == component })
	family := against(groups)
	for _, c := range against(own) {
		if c.Name.Component == component {
			continue
		}
		other := *c // judge writes to it
		if c.Ratio != nil {
			ratio := *c.Ratio
			other.Ratio = &ratio
		}
		family = append(family, &other)
	}
	judge(r.Settings.Rule, family)
	return groups, nil
}

// implementationsOf are the implementations that a run measured, by component, in its order.
// Each can be the reference.
func implementationsOf(r *record.Run) map[string][]string {
	out := map[string][]string{}
	for _, c := range r.Cells {
		component := string(c.Component)
		if c.Role == "" && !slices.Contains(out[component], c.Impl) {
			out[component] = append(out[component], c.Impl)
		}
	}
	return out
}

func measuredComponents(r *record.Run) (out []string) {
	for _, c := range r.Cells {
		if !slices.Contains(out, string(c.Component)) {
			out = append(out, string(c.Component))
		}
	}
	return out
}
