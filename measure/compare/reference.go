package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// ErrNoReference says that an implementation cannot be the reference of a component.
var ErrNoReference = errors.New("cannot be the reference")

// AgainstReference returns the run as if another implementation were the reference of a
// component: Within and all that rests on it compare the others with that one. The
// implementation's cells come first in their workloads. The run itself stays as it is. The error
// wraps ErrNoReference and names the implementations and components that can be chosen.
func AgainstReference(r *record.Run, component, impl string) (*record.Run, error) {
	of := ImplementationsOf(r)
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

// ImplementationsOf are the implementations that a run measured, by component, in its order.
// Each can be the reference.
func ImplementationsOf(r *record.Run) map[string][]string {
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

// controlOf is the cell whose code was measured against itself: the one that has an A/A copy,
// or that took turns with itself. It is the reference of the measurement, and reference unless
// another was chosen since.
func controlOf(r *record.Run, cells []record.Cell, reference record.Cell,
	series string) record.Cell {
	partner := ""
	for _, c := range cells {
		if c.Role == record.AARole {
			partner = c.Impl
		}
	}
	for i := 0; i < len(cells) && partner == ""; i++ {
		partner = partnerOf(r, cells[i], series)
	}
	for _, c := range cells {
		if c.Role == "" && c.Impl == partner {
			return c
		}
	}
	return reference
}

// partnerOf is the implementation with which a cell took turns, "" if it took none.
func partnerOf(r *record.Run, c record.Cell, series string) string {
	for _, d := range duetsOf(r, c, series) {
		return d.Against
	}
	return ""
}

// turnsBetween is the ratio of a cell to a reference, computed from their turns with partner.
// The partner is a third implementation, or one of the two. It is errNotPaired if there were no
// such turns.
//
// Both ratios to the partner have their own noise, and the interval has both (Welch's t). The
// partner's own drift cancels within each process. What two subjects of one process do to each
// other does not: twice reports that it may be in the ratio twice.
func turnsBetween(r *record.Run, c, reference record.Cell, series,
	metric string) (ratio stats.Ratio, twice bool, err error) {
	own, others := partnerOf(r, c, series), partnerOf(r, reference, series)
	if own == reference.Impl {
		ratio, err = pairedRatio(r, c, series, metric)
		return ratio, false, err
	}
	base, err := logRatios(r, reference, series, metric)
	if err != nil {
		return stats.Ratio{}, false, err
	}
	if others == c.Impl {
		inverse := make([]float64, len(base))
		for i, log := range base {
			inverse[i] = -log
		}
		ratio, err = stats.PairedRatioOf(inverse)
		return ratio, false, err
	}
	logs, err := logRatios(r, c, series, metric)
	if err != nil || own != others {
		return stats.Ratio{}, false, errNotPaired
	}
	ratio, err = stats.RelativeRatioOf(base, logs)
	return ratio, true, err
}

// twiceFloor is the noise floor of a ratio that contains two ratios with the same floor.
func twiceFloor(floor float64) float64 {
	if floor < 0 {
		return floor
	}
	return min(stats.FromZero, (1+floor)*(1+floor)-1)
}
