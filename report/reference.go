package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
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

// mostReferences bounds the comparisons that a page holds for references to choose from: some
// 80 bytes each, so that the page of the default run stays below 1 MB.
const mostReferences = 4000

// choices are what the page's script needs to show the tables of a component against another
// reference, by component. JSON within the page.
type choices map[string]*choice

// choice is a component whose reference can be chosen.
type choice struct {
	// Impls are the implementations, the run's reference among them.
	Impls []string `json:"impls"`
	// Reference is the run's.
	Reference string `json:"reference"`
	// Groups are the component's tables, in the order of the page, against each of Impls. A
	// table without rows lacks the implementation.
	Groups [][]choiceTable `json:"groups"`
}

// choiceTable is a table against one reference.
type choiceTable struct {
	Ticks [][2]any `json:"ticks"` // of its axis: place, text
	// Rows have a line for each implementation, in the order of the page; nil for one that has
	// no ratio.
	Rows [][]*choiceLine `json:"rows"`
}

// choiceLine is a ratio: verdict, lower end, estimate, upper end on the axis, its text, the
// verdict's text, and the ratio for sorting.
type choiceLine [7]any

// choicesOf computes the comparisons with every reference that a reader can choose. groups and
// shown are the run's own, on the page. The components with the fewest comparisons come first
// until mostReferences is reached; the second result names those that were left out.
func choicesOf(r *record.Run, groups []compare.Group, shown []pageGroup) (choices, []string,
	error) {
	cost := map[string]int{}
	var components []string
	impls := compare.ImplementationsOf(r)
	for i, g := range groups {
		component := shown[i].Component
		if !slices.Contains(components, component) {
			components = append(components, component)
		}
		cost[component] += len(shown[i].Rows) * len(impls[component]) * len(g.Cells)
	}
	slices.SortStableFunc(components, func(a, b string) int { return cost[a] - cost[b] })
	out, left, total := choices{}, []string(nil), 0
	for _, component := range components {
		if len(impls[component]) < 2 || cost[component] == 0 {
			continue
		}
		if total += cost[component]; total > mostReferences {
			left = append(left, component)
			continue
		}
		c, err := choiceOf(r, groups, shown, component, impls[component])
		if err != nil {
			return nil, nil, err
		}
		out[component] = c
	}
	return out, left, nil
}

func choiceOf(r *record.Run, groups []compare.Group, shown []pageGroup, component string,
	impls []string) (*choice, error) {
	out := &choice{Impls: impls}
	var tables []pageGroup // of the component
	for i := range groups {
		if shown[i].Component != component {
			continue
		}
		if len(out.Groups) == 0 {
			out.Reference = r.ReferenceOf(groups[i].Cells).Impl
		}
		tables = append(tables, shown[i])
		out.Groups = append(out.Groups, make([]choiceTable, len(impls)))
	}
	for k, impl := range impls {
		chosen, err := compare.WithinAgainst(r, groups, component, impl)
		if err != nil {
			return nil, err
		}
		for at, g := range chosen {
			if slices.ContainsFunc(g.Cells, func(c record.Cell) bool { return c.Impl == impl }) {
				out.Groups[at][k] = tableAgainst(g, tables[at])
			}
		}
	}
	return out, nil
}

// tableAgainst lays a group out in the rows and lines of the page.
func tableAgainst(g compare.Group, shown pageGroup) choiceTable {
	a := axisOfGroup(g)
	out := choiceTable{}
	for _, t := range a.Ticks {
		out.Ticks = append(out.Ticks, [2]any{t.X, t.Text})
	}
	rows := keyRows(g)
	for _, onPage := range shown.Rows {
		i := slices.IndexFunc(rows, func(row compare.Row) bool {
			return cmp.Or(row.Series, compare.ProcessSeries) == onPage.Operation && row.Metric == onPage.Metric
		})
		lines := make([]*choiceLine, len(onPage.Lines))
		for k, l := range onPage.Lines {
			for _, v := range rows[i].Values {
				if c := v.Against; v.Impl == l.Impl && c != nil && c.Ratio != nil {
					m := a.mark("", *c.Ratio, c.Verdict)
					lines[k] = &choiceLine{c.Verdict, m.Lo, m.At, m.Hi, effect(c) + shown.notes.mark(c.Warnings),
						verdict(c), forSorting(c.Ratio.Estimate)}
				}
			}
		}
		out.Rows = append(out.Rows, lines)
	}
	return out
}

// forSorting is a ratio with four digits.
func forSorting(ratio float64) float64 {
	const most = 1e9
	v, err := strconv.ParseFloat(strconv.FormatFloat(min(ratio, most), 'g', 4, 64), 64)
	if err != nil || math.IsNaN(v) {
		return 1
	}
	return v
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
