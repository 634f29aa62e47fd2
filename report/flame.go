package report

import (
	_ "embed" // the template, style sheet and script of the flame graphs
	"fmt"
	"path"

	"github.com/dustin/go-humanize"

	"github.com/informerbench/informerbench/measure/compare"
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

// profiledGroup is what flameGroup shows, before it has ids.
type profiledGroup struct {
	title, component string
	cells            []profiledCell // the reference of the others first
}

// profiledCell is a cell with its profiles.
type profiledCell struct {
	cell      record.Cell
	label     string
	reference bool
	cellProfiles
}

// path is that of a profile, as commands name it.
func (c *profiledCell) path(file string) string {
	return path.Join(profileFolder(c.cell), file)
}

// flamesOf lists the cells that have a profile, by group. It returns nil if none has. r is
// the cleaned copy of the run that the profiles were read for.
func flamesOf(r *record.Run, groups []compare.Group, profiles *Profiles, ids anchors) (*flames,
	error) {
	of := profiles.byCell(r)
	var all []profiledGroup
	for _, g := range groups {
		reference := r.ReferenceOf(g.Cells)
		group := profiledGroup{title: g.Title, component: string(g.Cells[0].Component)}
		// The reference comes first, so that the others can refer to it.
		for _, c := range append([]record.Cell{reference}, g.Cells...) {
			if p, ok := of[c.ID()]; ok {
				group.cells = append(group.cells,
					profiledCell{cell: c, label: c.Label(), reference: c.ID() == reference.ID(), cellProfiles: p})
			}
		}
		all = append(all, group)
	}
	return drawFlames(all, ids)
}

// drawFlames encodes the graphs of all groups. A cell is drawn once, in its first group.
// It returns nil if no cell has a profile.
func drawFlames(groups []profiledGroup, ids anchors) (*flames, error) {
	out := &flames{links: map[string]flameLink{}}
	var all []cellCalls
	for _, g := range groups {
		group, place := flameGroup{Title: g.title, Component: g.component}, -1 // of the reference
		var reference *profiledCell
		for _, c := range g.cells {
			if _, had := out.links[c.cell.ID()]; had {
				continue
			}
			v := flameView{ID: ids.of("profile " + c.cell.ID()), Label: c.label, Title: g.title,
				Place: len(all),
				Taken: taken(c.cellProfiles), Commands: profileCommands(&c, reference),
				Tops: topsOf(c.cellProfiles)}
			if reference != nil {
				v.Against, v.AgainstID = reference.label, out.links[reference.cell.ID()].ID
			}
			out.links[c.cell.ID()] = flameLink{v.ID, v.Label}
			all = append(all, cellCalls{v.Label, place, c.cellProfiles})
			if c.reference {
				reference, place = &c, v.Place
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

// of lists the links to the graphs of cells, by their keys.
func (f *flames) of(keys ...string) (out []flameLink) {
	if f == nil {
		return nil
	}
	for _, key := range keys {
		if l, ok := f.links[key]; ok {
			out = append(out, l)
		}
	}
	return out
}

// fewestSamples is the number from which on a share of a half is off by 10% of a profile at most,
// in 95 of 100 profiles.
const fewestSamples = 100

// taken says how much a cell's profiles rest on.
func taken(p cellProfiles) string {
	text := "no CPU sample"
	if p.cpu != nil {
		text = fmt.Sprintf("%s CPU in %.0f samples", duration(float64(p.cpu.root.value)), p.cpu.samples())
		if p.cpu.samples() < fewestSamples {
			text += ": too few, its shares are rough"
		}
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
			return fmt.Sprintf("%.1f%% (%s)", 100*float64(v)/float64(x.calls.root.value),
				NumberText(x.metric, float64(v)))
		}
		for _, s := range x.calls.top(topFunctions) {
			t.Rows = append(t.Rows, flameRow{shortName(s.name), value(s.self), value(s.total)})
		}
		out = append(out, t)
	}
	return out
}

// profileCommands are the commands that show a cell's profiles. With a reference the last one
// shows the difference against it, by shares.
func profileCommands(c, reference *profiledCell) []flameCommand {
	pprof := []string{"go", "tool", "pprof", "-http=:"}
	show := func(what string, args ...string) flameCommand {
		return flameCommand{what, commandLine(append(pprof[:len(pprof):len(pprof)], args...))}
	}
	out := []flameCommand{
		show("CPU time", c.path(cpuSource.file)),
		show("allocated bytes", "-sample_index=alloc_space", c.path(allocsSource.file)),
		show("contended mutexes", c.path("mutex.pb.gz")),
	}
	if reference != nil {
		out = append(out, show("CPU time against "+reference.label, "-normalize",
			"-diff_base="+reference.path(cpuSource.file), c.path(cpuSource.file)))
	}
	return out
}
