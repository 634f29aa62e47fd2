package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/bench/internal/profile"
	"github.com/informerbench/informerbench/bench/internal/replay"
	"github.com/informerbench/informerbench/bench/internal/subject"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// Request asks for one fork. It is data, so that it can be handed to another process.
type Request struct {
	Cell     record.Cell `json:"cell"`
	Index    int         `json:"index"`
	Block    int         `json:"block"`
	Workload string      `json:"workload"` // as YAML, its sweep resolved
	// Trace is a file whose events replace the workload's writes.
	Trace string `json:"trace,omitempty"`
	// Times is how many copies of the trace are replayed; 0 means 1.
	Times int `json:"times,omitempty"`
	// ProfileDir is the folder for profiles; "" takes none.
	ProfileDir string `json:"profileDir,omitempty"`
	// Against is the implementation with which the cell's takes turns, if any.
	Against string `json:"against,omitempty"`
	// Plant, if not nil, slows the store down by that share of what its operations take. 0
	// reads the clock as often and adds no slowdown. AgainstPlant does so with the store
	// that it takes turns with.
	Plant        *float64 `json:"plant,omitempty"`
	AgainstPlant *float64 `json:"againstPlant,omitempty"`
}

// Run measures one fork of a cell in this process, at the process's GOMAXPROCS. An
// operation that the implementation lacks is left out with a warning. Every other failure
// is an error.
func Run(ctx context.Context, req Request) (f record.Fork, err error) {
	f, w, candidate, err := begin(req)
	if err != nil {
		return f, err
	}
	var against *subject.Side
	if req.Against != "" {
		if against, err = side(req.Cell.Component, req.Against, req.AgainstPlant); err != nil {
			return f, err
		}
	}
	profiler, err := profile.New(req.ProfileDir)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, profiler.End(&f)) }()
	if req.Trace != "" {
		err = replay.Run(ctx, candidate.Entry, w, req.Trace, max(1, req.Times), &f, profiler)
	} else {
		err = subject.Perform(ctx, *candidate, against, w, &f, profiler)
	}
	end(&f)
	return f, err
}

// begin makes the record of a fork, and finds its workload and the implementation.
func begin(req Request) (f record.Fork, w load.Workload, candidate *subject.Side, err error) {
	if w, err = load.ParseWorkload(req.Cell.Workload, []byte(req.Workload)); err != nil {
		return f, w, nil, err
	}
	if candidate, err = side(req.Cell.Component, req.Cell.Impl, req.Plant); err != nil {
		return f, w, nil, err
	}
	if n := runtime.GOMAXPROCS(0); n != req.Cell.Procs {
		return f, w, nil, fmt.Errorf("GOMAXPROCS is %d, the cell wants %d", n, req.Cell.Procs)
	}
	f = record.Fork{Cell: req.Cell, Index: req.Index, Block: req.Block, Seed: w.Seed,
		Started: time.Now(), Process: map[string]float64{}}
	return f, w, candidate, nil
}

// end completes the record of a fork.
func end(f *record.Fork) {
	if peak := sysinfo.PeakRSSBytes(); peak > 0 {
		f.Process[metrics.PeakRSS] = peak
	}
	f.Seconds = time.Since(f.Started).Seconds()
}

func side(c contract.Component, impl string, plant *float64) (*subject.Side, error) {
	entry, err := catalog.Lookup(c, impl)
	if err != nil {
		return nil, err
	}
	if plant != nil && c != contract.ComponentStore {
		return nil, fmt.Errorf("a slowdown can be planted in a store only, not in %s", entry.ID())
	}
	return &subject.Side{Entry: entry, Plant: plant}, nil
}

// AllInTurns reports whether everything that a workload measures is measured in turns with
// the reference: operations alone, of a component whose subjects can take turns.
func AllInTurns(w load.Workload) bool {
	return len(w.Groups) == 0 && subject.TakesTurns(w.Component)
}
