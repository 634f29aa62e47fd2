package history

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// seriesKey is what the points of a series have in common.
type seriesKey struct {
	component, workload, series, impl, metric string
	procs                                     int
	against                                   string
	machine, numbers, yaml                    int // positions in the collector's lists
}

// collector takes runs one after the other and keeps their points alone.
type collector struct {
	o        Options
	h        *History
	runs     []*found
	machines []sysinfo.Environment
	schemas  []int // the first schema of each meaning of the numbers
	yaml     map[string][]string
	series   map[seriesKey]*Series
	matched  []bool   // by pattern of Options.Match
	some     []string // names that a pattern could match
}

// found is a run with its points.
type found struct {
	Run
	points map[*Series]Point
}

func newCollector(folder string, o Options) (*collector, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	return &collector{
		o: o, h: &History{Folder: folder, Order: "time", Alpha: o.Alpha, Least: o.Least},
		yaml: map[string][]string{}, series: map[seriesKey]*Series{}, matched: make([]bool, len(o.match)),
	}, nil
}

// place returns the position of the first element that is like v, after adding v if there is
// none.
func place[T any](list *[]T, v T, like func(T) bool) int {
	i := slices.IndexFunc(*list, like)
	if i < 0 {
		*list = append(*list, v)
		i = len(*list) - 1
	}
	return i
}

// add takes a run's points.
func (c *collector) add(path string, r *record.Run) {
	f := &found{points: map[*Series]Point{}, Run: Run{
		Path: path, Name: r.Name, Preset: r.Preset, Started: r.Started.UTC(), Revision: r.Environment.Revision,
		Schema: r.Schema, Go: r.Environment.GoVersion, Modules: r.Environment.Modules,
	}}
	if f.Started.Year() > 9999 { // JSON has no such time
		f.Started = r.Started
	}
	if i := slices.IndexFunc(c.runs, func(o *found) bool { return o.Name == f.Name && o.Started.Equal(f.Started) && o.Revision == f.Revision }); i >= 0 {
		c.h.Left = append(c.h.Left, fmt.Sprintf("%s: a copy of %s", path, c.runs[i].Path))
		return
	}
	if s := r.Settings.Shard; s != nil {
		c.h.Left = append(c.h.Left, fmt.Sprintf("%s: shard %s of a run; benchrun merge makes one run of all shards", path, s))
		return
	}
	if !r.Complete {
		f.Interrupted = fmt.Sprintf("interrupted after %d of %d processes", len(r.Forks), len(r.Schedule()))
	}
	if p := r.Settings.Plant; p != nil && p.Share > 0 {
		f.Plant = fmt.Sprintf("the store %s is %g%% slower than it is, on purpose (--plant)", p.Impl, 100*p.Share)
	}
	// Go may change within a series, which is then one of the reasons for a change.
	env := r.Environment
	env.GoVersion = ""
	f.Machine = place(&c.machines, env, func(o sysinfo.Environment) bool { return o.SameMachine(&env) == nil })
	if f.Machine == len(c.h.Machines) {
		c.h.Machines = append(c.h.Machines, Machine{Text: machineText(&env)})
	}
	numbers := place(&c.schemas, r.Schema, func(o int) bool { return record.SameNumbers(o, r.Schema) })
	forks := map[string][]record.Fork{}
	for _, fork := range r.Forks {
		if len(fork.Profiles) == 0 {
			forks[fork.Cell.ID()] = append(forks[fork.Cell.ID()], fork)
		}
	}
	for _, cell := range r.Cells {
		if cell.Role != "" {
			continue
		}
		key := seriesKey{component: string(cell.Component), workload: workloadOf(cell), impl: cell.Impl, procs: cell.Procs, machine: f.Machine, numbers: numbers}
		if w, err := r.Workload(cell); err == nil {
			texts := c.yaml[w.Key]
			key.yaml = place(&texts, w.YAML, func(o string) bool { return o == w.YAML })
			c.yaml[w.Key] = texts
		}
		samples := samplesOf(forks[cell.ID()])
		for _, series := range slices.Sorted(maps.Keys(samples)) {
			key.series = series
			c.points(f, key, samples[series], cell.ID() == r.ReferenceOf(sameWorkload(r, cell)).ID())
		}
	}
	c.runs = append(c.runs, f)
}

func sameWorkload(r *record.Run, cell record.Cell) (out []record.Cell) {
	for _, o := range r.Cells {
		if o.SameExceptImpl(cell) {
			out = append(out, o)
		}
	}
	return out
}

// points adds the metrics of one series of a cell that are followed. The reference is followed
// by its values: its ratio to itself is noise.
func (c *collector) points(f *found, key seriesKey, s *sample, reference bool) {
	for _, metric := range slices.SortedFunc(maps.Keys(s.values), metrics.Compare) {
		key.metric, key.against = metric, ""
		name := compare.Name{Component: key.component, Workload: key.workload, Procs: key.procs, Series: key.series, Impl: key.impl, Metric: metric}
		if !c.follows(name, s.forks) {
			continue
		}
		values, logs := s.values[metric], s.logs[metric]
		p := Point{N: len(values)}
		if len(logs) == len(values) && s.against != "" && !reference {
			key.against = s.against
			ratio, err := stats.PairedRatioOf(logs)
			if err != nil {
				continue // not finite
			}
			p.Value, p.Lo, p.Hi = ratio.Estimate, ratio.Lo, ratio.Hi
			if p.N == 1 {
				p.Lo, p.Hi = p.Value, p.Value
			}
		} else {
			e := stats.EstimateOf(values)
			p.Value, p.Lo, p.Hi = e.Median, e.Lo, e.Hi
		}
		series := c.series[key]
		if series == nil {
			series = &Series{Name: name, Machine: key.machine, Against: key.against, P: 1, Q: 1, key: key}
			c.series[key] = series
			c.h.Series = append(c.h.Series, series)
		}
		f.points[series] = p
	}
}

func (c *collector) follows(name compare.Name, forks []map[string]float64) bool {
	judged := metrics.JudgedIn(name.Metric, forks)
	if len(c.o.match) == 0 {
		return judged
	}
	follows := false
	for i, m := range c.o.match {
		if compare.AnySpelling(name, judged, m.MatchString) {
			c.matched[i], follows = true, true
		}
	}
	if judged && len(c.some) < mostNamed && !slices.Contains(c.some, name.String()) {
		c.some = append(c.some, name.String())
	}
	return follows
}

// mostNamed is how many names the error of a pattern that matches nothing gives.
const mostNamed = 6

// unmatched is the error of a pattern that has matched nothing.
func (c *collector) unmatched() error {
	for i, matched := range c.matched {
		if !matched {
			return fmt.Errorf("pattern %q matches nothing in these runs; among others there are %s", c.o.Match[i], strings.Join(c.some, ", "))
		}
	}
	return nil
}

// sample is what the forks of a cell say of one series, a value for each fork.
type sample struct {
	values, logs map[string][]float64
	forks        []map[string]float64 // the values of each fork
	against      string               // the reference of all logs; "" if they have several
}

func samplesOf(forks []record.Fork) map[string]*sample {
	out := map[string]*sample{}
	of := func(series string) *sample {
		if out[series] == nil {
			out[series] = &sample{values: map[string][]float64{}, logs: map[string][]float64{}}
		}
		return out[series]
	}
	for _, f := range forks {
		if len(f.Process) > 0 {
			s := of(compare.ProcessSeries)
			s.forks = append(s.forks, f.Process)
			for metric, v := range f.Process {
				s.values[metric] = append(s.values[metric], v)
			}
		}
		for _, series := range f.Series {
			s := of(series.Name())
			s.forks = append(s.forks, series.Values)
			for metric, v := range series.Values {
				s.values[metric] = append(s.values[metric], v)
			}
			if series.Duet == nil {
				continue
			}
			if len(s.logs) == 0 {
				s.against = series.Duet.Against
			} else if s.against != series.Duet.Against {
				s.against = ""
			}
			for metric, ratio := range series.Duet.Ratios {
				if _, ok := series.Values[metric]; ok && !math.IsInf(ratio.Log, 0) {
					s.logs[metric] = append(s.logs[metric], ratio.Log)
				}
			}
		}
	}
	return out
}

func workloadOf(c record.Cell) string {
	parts := []string{c.Workload}
	for _, p := range c.Params {
		parts = append(parts, p.Key+"="+p.Value)
	}
	return strings.Join(parts, "/")
}

func machineText(e *sysinfo.Environment) string {
	text := fmt.Sprintf("%s, %d cores, %s/%s", cmp.Or(e.CPU, "unknown CPU"), e.Cores, e.OS, e.Arch)
	if e.Race {
		text += ", -race"
	}
	for _, s := range []struct{ name, value string }{{"GOGC", e.GOGC}, {"GOMEMLIMIT", e.GOMEMLIMIT}} {
		if s.value != "" {
			text += ", " + s.name + "=" + s.value
		}
	}
	return text
}

// label names each series by what tells it from the others of its name.
func (c *collector) label() {
	of := map[compare.Name][]*Series{}
	for _, s := range c.h.Series {
		plain := s.Name
		plain.Procs = 0
		of[plain] = append(of[plain], s)
	}
	for _, group := range of {
		differ := func(part func(*Series) string) bool {
			return slices.ContainsFunc(group, func(s *Series) bool { return part(s) != part(group[0]) })
		}
		parts := []func(*Series) string{
			func(s *Series) string { return fmt.Sprintf("procs=%d", s.key.procs) },
			func(s *Series) string { return fmt.Sprintf("machine %d", s.key.machine+1) },
			func(s *Series) string { return fmt.Sprintf("numbers of schema %d", c.schemas[s.key.numbers]) },
			func(s *Series) string { return fmt.Sprintf("definition %d of the workload", s.key.yaml+1) },
			func(s *Series) string {
				if s.Against == "" {
					return "values"
				}
				return "ratio to " + s.Against
			},
		}
		parts = slices.DeleteFunc(parts, func(part func(*Series) string) bool { return !differ(part) })
		for _, s := range group {
			s.Label = s.Name.String()
			var more []string
			for _, part := range parts {
				more = append(more, part(s))
			}
			if len(more) > 0 {
				s.Label += " (" + strings.Join(more, ", ") + ")"
			}
		}
	}
}
