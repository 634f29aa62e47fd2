package report

import (
	"slices"
	"strings"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/record"
)

// Measured is a run with what its folder has beside the record.
type Measured struct {
	Run      *record.Run
	Profiles *Profiles // what ReadProfiles has read for Run; nil for none
	Dir      string    // the run's folder, as the page's commands shall name it
}

// cleaned is a copy whose strings are fit to show. m may be nil.
func (m *Measured) cleaned() *Measured {
	if m == nil {
		return nil
	}
	return &Measured{clean(m.Run), m.Profiles, VisibleLine(m.Dir)}
}

// versusDetails are the pictures of both runs, each over the other, to which the rows lead.
// Without runs there are none.
type versusDetails struct {
	latencies []latency              // all pictures
	pictures  map[seriesOf][]latency // of each series; empty if it has no distribution
	flames    *flames
}

type seriesOf struct{ cell, series string }

// detailsOf draws every series and cell of the comparisons, in their order.
func detailsOf(comparisons []*compare.Comparison, base, head *Measured,
	ids anchors) (d versusDetails, err error) {
	if base == nil || head == nil {
		return d, nil
	}
	d.pictures = map[seriesOf][]latency{}
	sides := []struct {
		name string
		*Measured
		profiles map[string]cellProfiles
	}{{"base", base, base.Profiles.byCell(base.Run)}, {"head", head, head.Profiles.byCell(head.Run)}}
	var groups []profiledGroup
	for _, c := range comparisons {
		id, title := c.Cell.ID(), c.Name.Impl+", "+c.Name.Workload
		group := profiledGroup{title: title, component: c.Name.Component}
		var sources []source
		for _, s := range sides {
			sources = append(sources, source{s.Run, c.Cell, s.name})
			if of, ok := s.profiles[id]; ok {
				group.cells = append(group.cells,
					profiledCell{run: s.name, dir: s.Dir, cell: c.Cell, label: s.name,
						reference: s.Measured == base, cellProfiles: of})
			}
		}
		groups = append(groups, group)
		drawn := seriesOf{id, c.Name.Series}
		if _, had := d.pictures[drawn]; had {
			continue
		}
		latencies, err := curvesOf(sources, c.Name.Series, title, "run", "base", ids)
		if err != nil {
			return d, err
		}
		d.pictures[drawn] = latencies
		d.latencies = append(d.latencies, latencies...)
	}
	d.flames, err = drawFlames(groups, "the folder where benchrun was started", ids)
	return d, err
}

// links fills in where a row leads to: to the picture of its own distribution, or else to the
// first of its series.
func (d *versusDetails) links(row *pageRow, c *compare.Comparison) {
	id := c.Cell.ID()
	if pictures := d.pictures[seriesOf{id, c.Name.Series}]; len(pictures) > 0 {
		own := slices.IndexFunc(pictures, func(l latency) bool {
			return strings.HasPrefix(c.Name.Metric, l.distribution+"-")
		})
		row.Latency = pictures[max(0, own)].ID
	}
	row.Profiles = d.flames.of("base "+id, "head "+id)
}
