package recordtest

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/pprof/profile"

	"github.com/informerbench/informerbench/measure/record"
)

// Stack is a made-up stack of calls.
type Stack struct {
	Functions []string // outermost first
	Samples   int64    // 10 ms of CPU time each, and 1 MiB in two allocations
}

// AddProfiles adds to a run the extra fork of each cell that has no role, and writes its
// cpu.pb.gz and allocs.pb.gz below dir, the run's folder, with the stacks given for the cell.
func AddProfiles(dir string, r *record.Run, stacks func(record.Cell) []Stack) error {
	for _, c := range r.Cells {
		if c.Role != "" {
			continue
		}
		f := record.Fork{Cell: c, Index: record.ProfileIndex, Block: r.Settings.Forks,
			Process: map[string]float64{}}
		folder := filepath.Join(dir, "profiles", c.FileName())
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		for _, p := range []struct {
			name             string
			period           int64
			types            []*profile.ValueType
			counts, perCount int64
		}{
			{"cpu.pb.gz", 10_000_000, []*profile.ValueType{{Type: "samples", Unit: "count"},
				{Type: "cpu", Unit: "nanoseconds"}}, 1, 10_000_000},
			{"allocs.pb.gz", 512 << 10,
				[]*profile.ValueType{{Type: "alloc_objects", Unit: "count"},
					{Type: "alloc_space", Unit: "bytes"}}, 2, 512 << 10},
		} {
			made := &profile.Profile{SampleType: p.types, PeriodType: p.types[1], Period: p.period}
			fill(made, stacks(c), p.counts, p.perCount)
			path := filepath.Join(folder, p.name)
			if err := write(made, path); err != nil {
				return fmt.Errorf("writing %s: %w", path, err)
			}
			f.Profiles = append(f.Profiles, path)
		}
		r.Forks = append(r.Forks, f)
	}
	return nil
}

// fill adds the stacks to a profile, each function at a location of its own.
func fill(p *profile.Profile, stacks []Stack, counts, perCount int64) {
	of := map[string]*profile.Location{}
	for _, s := range stacks {
		sample := &profile.Sample{Value: []int64{s.Samples * counts, s.Samples * counts * perCount}}
		for i := len(s.Functions) - 1; i >= 0; i-- { // innermost first
			name := s.Functions[i]
			if of[name] == nil {
				f := &profile.Function{ID: uint64(len(of) + 1), Name: name}
				of[name] = &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
				p.Function, p.Location = append(p.Function, f), append(p.Location, of[name])
			}
			sample.Location = append(sample.Location, of[name])
		}
		p.Sample = append(p.Sample, sample)
	}
}

func write(p *profile.Profile, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := p.Write(f); err != nil {
		_ = f.Close() // the first error is the one to report
		return err
	}
	return f.Close()
}
