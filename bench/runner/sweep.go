package runner

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
)

// sweep replaces the sweeps of the workloads by the requested one. Workloads that cannot
// vary that parameter are left out, with a note; if none can, sweep returns an error.
func (p *Plan) sweep(workloads []load.Workload) ([]load.Workload, error) {
	if len(p.options.Sweep) > 1 {
		return nil, errors.New("--sweep: a run sweeps one number: give it once, with all its values")
	}
	if len(p.options.Sweep) == 0 || len(workloads) == 0 {
		return workloads, p.checkProcs(workloads)
	}
	text := p.options.Sweep[0]
	sweep, err := load.ParseSweep(text)
	if err != nil {
		return nil, fmt.Errorf("--sweep %w", err)
	}
	if sweep.Vary == load.VaryProcs {
		for _, n := range sweep.Values {
			if most := p.options.processors(); n > most {
				return nil, fmt.Errorf("--sweep %s: procs %d: there are %d processors: want 1 to %d", text, n,
					most, most)
			}
		}
	}
	if p.options.Trace != "" {
		var allowed []string
		for _, w := range workloads {
			allowed = append(allowed, ofTraces(w)...)
		}
		if !slices.Contains(allowed, sweep.Vary) {
			slices.Sort(allowed)
			return nil, fmt.Errorf("--sweep %s: a trace says itself what is written: use one of %s", text,
				strings.Join(slices.Compact(allowed), ", "))
		}
	}
	var swept []load.Workload
	var without, allowed []string
	for _, w := range workloads {
		if !slices.Contains(w.Sweepable(), sweep.Vary) {
			without = append(without, w.Name)
			allowed = append(allowed, w.Sweepable()...)
			continue
		}
		w.Sweep = sweep
		if err := w.Validate(); err != nil {
			return nil, fmt.Errorf("--sweep %s: workload %s: %w", text, w.Name, err)
		}
		swept = append(swept, w)
	}
	if len(swept) == 0 {
		slices.Sort(allowed)
		return nil, fmt.Errorf("--sweep %s: nothing that is measured can vary %q: use one of %s", text,
			sweep.Vary, strings.Join(slices.Compact(allowed), ", "))
	}
	if len(without) > 0 {
		p.notes = append(p.notes, fmt.Sprintf("left out, for they have no %s to vary: %s", sweep.Vary,
			strings.Join(without, ", ")))
	}
	return swept, p.checkProcs(swept)
}

// ofTraces returns the parameters that can vary where a trace is replayed: those of the
// readers.
func ofTraces(w load.Workload) []string {
	return slices.DeleteFunc(w.Sweepable(), func(vary string) bool {
		group, _, ofGroup := strings.Cut(vary, ".")
		return !ofGroup && vary != load.VaryProcs || group == traceFeeder
	})
}

// checkProcs refuses two settings of GOMAXPROCS.
func (p *Plan) checkProcs(workloads []load.Workload) error {
	for _, w := range workloads {
		if w.Sweep.Vary == load.VaryProcs && p.options.Procs != 0 {
			return fmt.Errorf("--procs %d: workload %s is swept over procs: leave out one of the two",
				p.options.Procs, w.Name)
		}
	}
	return nil
}

// mostProcs is the largest GOMAXPROCS of the forks of some cells.
func mostProcs(cells []record.Cell) (most int) {
	for _, c := range cells {
		most = max(most, c.Procs)
	}
	return most
}

// overcommitted warns of cells with more running goroutines than cores.
func overcommitted(cells []record.Cell, cores int) []string {
	most := mostProcs(cells)
	if most <= cores {
		return nil
	}
	return []string{fmt.Sprintf(
		"GOMAXPROCS is up to %d on %d cores: beyond %d the operating system's scheduler is measured too",
		most, cores, cores)}
}
