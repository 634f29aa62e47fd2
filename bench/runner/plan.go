package runner

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/presets"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// Options are the flags of benchrun run. The zero value is the default preset over all
// implementations.
type Options struct {
	// or several, separated by commas; "" means presets.Default, unless File or Trace is given
	Preset string
	File   string // a workload file
	Trace  string // a trace file; Preset or File then define the readers during its replay
	// Workloads are measured instead of a preset or a file, as benchrun advise does.
	Workloads  []load.Workload
	Times      int     // copies of the trace, side by side; 0 means 1
	Compress   float64 // divides the times of the trace; 0 means 1
	Components []string
	Impls      []string // names or globs
	Forks      int      // 0 means DefaultForks, and more in the preset's budget
	Duration   time.Duration
	Profile    bool
	Seed       uint64
	Procs      int // 0 means GOMAXPROCS of this process, or the values of a sweep over procs
	Processors int // of the machines that will measure; 0 means this one's
	// Sweep replaces the sweep of each workload, as WHAT=N,N,...; at most one.
	Sweep      []string
	Out        string // folder of the results; "" makes one under results/
	SkipVerify bool
	// time for additional forks of inconclusive workloads; 0 means the preset's, or none if Forks is
	// given
	Budget   time.Duration
	NoBudget bool          // 0 means none
	Plant    *record.Plant // a deliberate slowdown
	Command  []string      // as typed, for the record
	WorkTree string        // a folder in the git work tree of this program, for the record
	// Shard is the part to measure; the zero value is the whole run. The budget is then 0.
	Shard Shard
	// Machine names this machine in the record; "" means the host's name.
	Machine string
	// Continue goes on with the run in Out if one was begun there with the same options.
	Continue bool
}

// DefaultForks is how many processes measure each cell.
const DefaultForks = stats.FewestForks

// Plan is a checked run that has not begun.
type Plan struct {
	options  Options
	preset   string
	budget   time.Duration // as load.Preset
	variants []load.Variant
	entries  []catalog.Entry
	notes    []string       // printed when the run begins
	shards   []record.Shard // all, if the options ask for one
	shard    *record.Shard
	begun    bool // in the folder: go on with it
	traceSum string
}

// NewPlan checks names, files and folders: everything that can be checked before anything
// is written. Every error names the mistake and the allowed values.
func NewPlan(o Options) (*Plan, error) {
	settled := o.Forks != 0
	o.Forks = cmp.Or(o.Forks, DefaultForks)
	o.Seed = cmp.Or(o.Seed, 1)
	p := &Plan{options: o}
	workloads, err := p.workloads()
	if err != nil {
		return nil, err
	}
	if !settled && o.Budget == 0 && !o.NoBudget && !o.Shard.isSet() {
		p.options.Budget = p.budget
	}
	if p.entries, err = catalog.Select(o.Components, o.Impls); err != nil {
		return nil, err
	}
	if chosen := o.File != "" || o.Preset == "" && o.Trace != ""; !chosen && len(o.Impls) == 0 {
		p.leaveOutStudies()
	}
	p.noteFewForks()
	for _, step := range []func() error{
		p.checkRanges, p.checkPlant, func() error { return p.vary(workloads) }, p.divide,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if p.options.Out == "" {
		p.options.Out = filepath.Join("results",
			record.Stamp(time.Now())+"-"+p.preset+p.options.Shard.suffix())
	}
	if p.begun = o.Continue && begunIn(p.options.Out); p.begun {
		return p, nil
	}
	return p, record.EmptyDir(p.options.Out)
}

// checkPlant returns an error unless the store that is to be slowed down is measured.
func (p *Plan) checkPlant() error {
	plant := p.options.Plant
	if plant == nil || slices.ContainsFunc(p.entries, func(e catalog.Entry) bool {
		return e.Component == contract.ComponentStore && e.Name == plant.Impl
	}) {
		return nil
	}
	why := "benchrun list --component store shows them"
	if e, err := catalog.Lookup(contract.ComponentStore, plant.Impl); err == nil {
		why = fmt.Sprintf("name %s in --impl, beside the store that it is compared with", e.Name)
	}
	return fmt.Errorf("--plant %s: no such store is measured; %s", plant.Impl, why)
}

// vary makes the plan's variants of those workloads that an entry can run, and leaves out the
// entries that run none.
func (p *Plan) vary(workloads []load.Workload) error {
	chosen, err := p.sweep(slices.DeleteFunc(slices.Clone(workloads), func(w load.Workload) bool {
		return !slices.ContainsFunc(p.entries, func(e catalog.Entry) bool {
			return e.Component == w.Component
		})
	}))
	if err != nil {
		return err
	}
	for _, w := range chosen {
		w.Duration = cmp.Or(p.options.Duration, w.Duration)
		w.Seed = p.options.Seed
		for _, v := range w.Variants() {
			if err := v.Workload.Validate(); err != nil {
				return fmt.Errorf("workload %s %s: %w", w.Name, segment(v), err)
			}
			if o := v.Workload.Objects; p.options.Processors == 0 { // else others measure it
				each := o.BytesEach()
				if w.Component == contract.ComponentObjects {
					each *= 2 // two that take turns have objects of their own
				}
				if err := sysinfo.CheckMemory("objects.count", o.Count, each); err != nil {
					return fmt.Errorf("workload %s %s: %w", w.Name, segment(v), err)
				}
			}
			p.variants = append(p.variants, v)
		}
	}
	if len(p.variants) == 0 {
		return fmt.Errorf(
			"%s has work for %s, and what --component and --impl choose is none of these: choose others, "+
				"or another preset (benchrun list shows both)", p.preset,
			strings.Join(componentsOf(workloads), ", "))
	}
	p.entries = slices.DeleteFunc(p.entries, func(e catalog.Entry) bool {
		return !slices.ContainsFunc(p.variants, func(v load.Variant) bool {
			return v.Workload.Component == e.Component
		})
	})
	if err := record.CheckPlanned(p.options.Forks, len(p.cells(p.entries))); err != nil {
		return fmt.Errorf("--forks %d: %w", p.options.Forks, err)
	}
	return nil
}

// leaveOutStudies removes the implementations that are there for study, and notes it.
func (p *Plan) leaveOutStudies() {
	var out []string
	p.entries = slices.DeleteFunc(p.entries, func(e catalog.Entry) bool {
		if e.Study {
			out = append(out, e.ID())
		}
		return e.Study
	})
	if len(out) > 0 {
		p.notes = append(p.notes, fmt.Sprintf(
			"left out, for they are there for study (--impl '*' takes all): %s", strings.Join(out, ", ")))
	}
}

// noteFewForks says before the run what it cannot prove.
func (p *Plan) noteFewForks() {
	switch forks := p.options.Forks; {
	case forks >= stats.FewestForks || p.options.Budget > 0:
	case forks < stats.FewestDuets:
		p.notes = append(p.notes, fmt.Sprintf("--forks %d proves nothing: every comparison will be "+
			"inconclusive; give %d or more", forks, stats.FewestForks))
	default:
		p.notes = append(p.notes, fmt.Sprintf("--forks %d proves nothing about operations under load: "+
			"those comparisons will be inconclusive; give %d or more", forks, stats.FewestForks))
	}
}

func (o *Options) processors() int { return cmp.Or(o.Processors, runtime.NumCPU()) }

func (p *Plan) checkRanges() error {
	o := p.options
	switch {
	case o.Forks < 1 || o.Forks > record.MaxForks:
		return fmt.Errorf("--forks %d: want 1 to %d", o.Forks, record.MaxForks)
	case o.Duration < 0:
		return fmt.Errorf("--duration %s: want more than 0", o.Duration)
	case o.Duration > 0 && o.Trace != "":
		return errors.New("--duration: a trace has a duration of its own; use --compress")
	case o.Plant != nil && o.Trace != "":
		return errors.New("--plant: a replay is not slowed down: leave out --plant or --trace")
	case o.Continue && o.Out == "":
		return errors.New("--continue: name the folder of the run to go on with by -o FOLDER")
	case o.Compress != 0 && o.Trace == "":
		return errors.New("--compress: it is for traces: give one with --trace FILE")
	case o.Budget > 0 && o.Shard.isSet():
		return errors.New(
			"--budget: a shard cannot see what is inconclusive in the whole run: ask for more --forks " +
				"instead")
	case o.Times < 0:
		return fmt.Errorf("--times %d: want 1 or more", o.Times)
	case o.Times != 0 && o.Trace == "":
		return errors.New("--times: it is for traces: give one with --trace FILE")
	case o.Budget < 0:
		return fmt.Errorf("--budget %s: want 0 or more", o.Budget)
	case o.Procs < 0 || o.Procs > o.processors():
		return fmt.Errorf("--procs %d: there are %d processors: want 1 to %d", o.Procs, o.processors(),
			o.processors())
	}
	return nil
}

// workloads resolves the preset or the file, and the trace.
func (p *Plan) workloads() ([]load.Workload, error) {
	o := &p.options
	if o.Preset != "" && o.File != "" {
		return nil, errors.New("--preset and -f exclude each other: give one")
	}
	given, err := p.given()
	if err != nil || o.Trace == "" {
		return given, err
	}
	if o.Trace, err = filepath.Abs(o.Trace); err != nil {
		return nil, err
	}
	workloads, err := p.traceWorkloads(o.Trace, given)
	if err != nil {
		return nil, err
	}
	if p.traceSum, err = traceSum(o.Trace); err != nil {
		return nil, err
	}
	over := "trace-" + nameOf(o.Trace)
	if len(given) > 0 {
		over = p.preset + "-over-" + over
	}
	p.preset = over
	return workloads, nil
}

// given returns the workloads of the file or the preset; none where a trace stands alone.
func (p *Plan) given() ([]load.Workload, error) {
	o := &p.options
	switch {
	case len(o.Workloads) > 0:
		p.preset = "advised"
		return o.Workloads, nil
	case o.File != "":
		w, err := load.ReadWorkload(o.File)
		if err != nil {
			return nil, err
		}
		p.preset = w.Name
		return []load.Workload{w}, nil
	case o.Preset == "" && o.Trace != "":
		return nil, nil
	case o.Preset == "":
		o.Preset = presets.Default
	}
	return p.presets(strings.Split(o.Preset, ","))
}

// presets returns the workloads of the named presets, which run as one.
func (p *Plan) presets(names []string) ([]load.Workload, error) {
	var workloads []load.Workload
	for i, name := range names {
		preset, err := presets.Lookup(name)
		if err != nil {
			return nil, err
		}
		if slices.Index(names, name) < i {
			return nil, fmt.Errorf("--preset: %s stands there twice", name)
		}
		workloads = append(workloads, preset.Workloads...)
		if len(names) == 1 {
			p.budget = preset.Budget
		}
	}
	p.preset = strings.Join(names, "+")
	return workloads, nil
}

func componentsOf(workloads []load.Workload) []string {
	var out []string
	for _, w := range workloads {
		if !slices.Contains(out, string(w.Component)) {
			out = append(out, string(w.Component))
		}
	}
	return out
}

// cells are the combinations of variants and entries. Each variant also gets a second copy
// of its reference, for the noise floor, unless the reference takes turns with itself in all
// that is measured.
func (p *Plan) cells(entries []catalog.Entry) []record.Cell {
	var cells []record.Cell
	for _, v := range p.variants {
		var own []record.Cell
		reference := 0
		for _, e := range entries {
			if e.Component != v.Workload.Component {
				continue
			}
			if e.Reference {
				reference = len(own)
			}
			own = append(own, p.cell(e, v))
		}
		if len(own) > 0 && !inTurns(v.Workload, p.options.Trace) {
			aa := own[reference]
			aa.Role = record.AARole
			own = append(own, aa)
		}
		cells = append(cells, own...)
	}
	return cells
}

// inTurns reports whether all that a fork measures takes turns with the reference. The replay
// of a trace does not.
func inTurns(w load.Workload, trace string) bool { return trace == "" && bench.AllInTurns(w) }

func (p *Plan) cell(e catalog.Entry, v load.Variant) record.Cell {
	return record.Cell{Component: e.Component, Impl: e.Name, Workload: v.Workload.Name,
		Procs: cmp.Or(v.Procs, p.options.Procs, runtime.GOMAXPROCS(0)), Params: params(v)}
}

// segment names a variant's own parameter, for messages.
func segment(v load.Variant) string {
	ps := params(v)
	return ps[len(ps)-1].Key + "=" + ps[len(ps)-1].Value
}

// params are the segments of a benchmark's name that a variant has.
func params(v load.Variant) []record.Param {
	ps := []record.Param{{Key: "objects", Value: strconv.Itoa(v.Workload.Objects.Count)}}
	if v.Key != "" && v.Key != "objects" {
		ps = append(ps, record.Param{Key: v.Key, Value: strconv.Itoa(v.Value)})
	}
	return ps
}

// record verifies the implementations that the run, or its shard, measures, and makes the
// record of a run that has not begun. It writes no file.
func (p *Plan) record(ctx context.Context, out io.Writer) (*record.Run, error) {
	run, err := p.draft()
	if err != nil {
		return nil, err
	}
	var failed []catalog.Entry
	if run.Impls, failed, err = verifyAll(ctx, p.own(run), p.options.SkipVerify, out); err != nil {
		return nil, err
	}
	run.Cells = p.cells(slices.DeleteFunc(slices.Clone(p.entries), func(e catalog.Entry) bool {
		return slices.ContainsFunc(failed, func(f catalog.Entry) bool { return f.ID() == e.ID() })
	}))
	// Without its source at hand, a run has no hashes of it.
	run.Sources, _ = p.Sources()
	run.Environment.Procs = mostProcs(run.Cells)
	run.Warnings = overcommitted(run.Cells, run.Environment.Cores)
	for _, note := range p.notes {
		fmt.Fprintln(out, note)
	}
	return run, nil
}

// draft is the record of the plan, as if every implementation passed its suite.
func (p *Plan) draft() (*record.Run, error) {
	o := p.options
	run := &record.Run{
		Schema: record.Schema, Name: filepath.Base(o.Out), Preset: p.preset, Command: o.Command,
		Started: time.Now(),
		Settings: record.Settings{
			Forks: o.Forks, Seed: o.Seed, Profile: o.Profile, SkipVerify: o.SkipVerify, Trace: o.Trace,
			TraceSum: p.traceSum, Times: o.Times, Rule: stats.DefaultRule,
			Budget: o.Budget, Plant: o.Plant, Shard: p.shard,
		},
		Environment: sysinfo.ReadEnvironment(o.WorkTree),
	}
	for _, v := range p.variants {
		text, err := p.text(v)
		if err != nil {
			return nil, err
		}
		run.Workloads = append(run.Workloads, text)
	}
	run.Cells = p.cells(p.entries)
	return run, nil
}

func (p *Plan) text(v load.Variant) (record.WorkloadText, error) {
	var b bytes.Buffer
	if err := load.WriteWorkload(&b, v.Workload); err != nil {
		return record.WorkloadText{}, err
	}
	c := p.cell(catalog.Entry{Component: v.Workload.Component}, v)
	return record.WorkloadText{Key: c.WorkloadKey(), Name: v.Workload.Name, Source: v.Workload.Source,
		YAML: b.String()}, nil
}
