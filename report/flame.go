package report

import (
	_ "embed" // the template, style sheet and script of the flame graphs
	"fmt"
	"path"

	"github.com/dustin/go-humanize"

	"github.com/informerbench/informerbench/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

var (
	//go:embed flame.gotmpl
	flameText string
	//go:embed flame.css
	flameStyle string
	//go:embed flame.js
	flameScript string
)

// topFunctions is how many functions the tables list that stand beside the graphs.
const topFunctions = 8

// flames is the page's section on where the time goes.
type flames struct {
	Groups   []flameGroup
	Smallest string     // share of a profile that is drawn
	Data     *flameData // nil: too many cells to draw
	links    map[string]flameLink
}

// flameGroup holds the cells of one workload.
type flameGroup struct {
	Title, Component string
	Cells            []flameView
}

// flameView is a cell: the graphs are drawn by the script, the rest stands in the page.
type flameView struct {
	ID, Label, Title string
	Place            int // in flameData.Cells
	Taken            string
	Against          string // "" for the reference itself
	AgainstID        string
	Tops             []flameTop
	Commands         []flameCommand
}

// flameTop lists the functions that took most of something by themselves.
type flameTop struct {
	Of   string
	Rows []flameRow
}

type flameRow struct{ Name, Self, Total string }

// flameCommand opens a profile in pprof's own page.
type flameCommand struct{ What, Command string }

// flameLink leads from a row of the results to a cell's graphs.
type flameLink struct{ ID, Label string }

// flamesOf lists the cells that have a profile, by group. It returns nil if none has. r is
// the cleaned copy of the run that the profiles were read for.
func flamesOf(r *record.Run, groups []compare.Group, profiles *Profiles, ids anchors) (*flames, error) {
	if profiles == nil {
		return nil, nil
	}
	of := map[string]cellProfiles{}
	for i, f := range r.Forks {
		if p, ok := profiles.byFork[i]; ok && (p.cpu != nil || p.allocs != nil) {
			of[f.Cell.ID()] = p
		}
	}
	out := &flames{links: map[string]flameLink{}}
	var all []cellCalls
	for _, g := range groups {
		reference := r.ReferenceOf(g.Cells)
		place := -1 // of the reference
		group := flameGroup{Title: g.Title, Component: string(g.Cells[0].Component)}
		// The reference comes first, so that the others can refer to it.
		for _, c := range append([]record.Cell{reference}, g.Cells...) {
			p, ok := of[c.ID()]
			if _, had := out.links[c.ID()]; !ok || had {
				continue
			}
			v := flameView{ID: ids.of("profile " + c.ID()), Label: c.Label(), Title: g.Title, Place: len(all), Taken: taken(p), Commands: profileCommands(c, nil)}
			if against, ok := out.links[reference.ID()]; ok {
				v.Against, v.AgainstID, v.Commands = against.Label, against.ID, profileCommands(c, &reference)
			}
			v.Tops = topsOf(p)
			out.links[c.ID()] = flameLink{v.ID, v.Label}
			all = append(all, cellCalls{v.Label, place, p})
			if c.ID() == reference.ID() {
				place = v.Place
			}
			group.Cells = append(group.Cells, v)
		}
		if len(group.Cells) > 0 {
			out.Groups = append(out.Groups, group)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	data, share, err := encodeFlames(all, flameBudget)
	out.Data, out.Smallest = data, fmt.Sprintf("%.3g%%", 100*share)
	return out, err
}

// of lists the links to the cells' graphs.
func (f *flames) of(cells []record.Cell) (out []flameLink) {
	if f == nil {
		return nil
	}
	for _, c := range cells {
		if l, ok := f.links[c.ID()]; ok {
			out = append(out, l)
		}
	}
	return out
}

// taken says how much a cell's profiles rest on.
func taken(p cellProfiles) string {
	text := "no CPU sample"
	if p.cpu != nil {
		text = fmt.Sprintf("%s CPU in %.0f samples", duration(float64(p.cpu.root.value)), p.cpu.samples())
	}
	if p.allocs != nil {
		text += ", " + humanize.IBytes(uint64(p.allocs.root.value)) + " allocated"
	}
	return text
}

func topsOf(p cellProfiles) (out []flameTop) {
	for _, x := range []struct {
		of     string
		calls  *calls
		metric string
	}{{"CPU time", p.cpu, metrics.NsPerOp}, {"allocated bytes", p.allocs, metrics.BytesPerOp}} {
		if x.calls == nil {
			continue
		}
		t := flameTop{Of: x.of}
		value := func(v int64) string {
			return fmt.Sprintf("%.1f%% (%s)", 100*float64(v)/float64(x.calls.root.value), NumberText(x.metric, float64(v)))
		}
		for _, s := range x.calls.top(topFunctions) {
			t.Rows = append(t.Rows, flameRow{shortName(s.name), value(s.self), value(s.total)})
		}
		out = append(out, t)
	}
	return out
}

// profileCommands are the commands that show a cell's profiles, in the run's folder. With a
// reference the last one shows the difference against it, by shares.
func profileCommands(c record.Cell, reference *record.Cell) []flameCommand {
	pprof := []string{"go", "tool", "pprof", "-http=:"}
	show := func(what string, args ...string) flameCommand {
		return flameCommand{what, commandLine(append(pprof[:len(pprof):len(pprof)], args...))}
	}
	cpu := profilePath(c, cpuSource)
	out := []flameCommand{
		show("CPU time", cpu),
		show("allocated bytes", "-sample_index=alloc_space", profilePath(c, allocsSource)),
		show("contended mutexes", path.Join(path.Dir(cpu), "mutex.pb.gz")),
	}
	if reference != nil {
		out = append(out, show("CPU time against "+reference.Label(), "-normalize", "-diff_base="+profilePath(*reference, cpuSource), cpu))
	}
	return out
}
