package recordtest

import (
	"fmt"
	"time"

	"github.com/informerbench/informerbench/measure/record"
)

// HistorySpec describes made-up runs of one machine, a day apart from each other.
type HistorySpec struct {
	Runs  int
	Forks int // of each run; default 6
	Seed  uint64
	// Impls are those of run i, as in Spec.
	Impls func(i int) []Impl
	// Noise is the standard deviation of a fork's ratio to the reference in a process, relative;
	// default 0.01. The times of "get" vary ten times as much.
	Noise float64
	// Change alters run i before it is returned; nil alters nothing.
	Change func(i int, r *record.Run)
}

// History makes the runs. Each has what Run makes with Duets, and a commit of its own.
func History(s HistorySpec) (out []*record.Run) {
	if s.Forks == 0 {
		s.Forks = 6
	}
	if s.Noise == 0 {
		s.Noise = 0.01
	}
	for i := range s.Runs {
		r := Run(Spec{Name: fmt.Sprintf("run%03d", i), Forks: s.Forks, Seed: s.Seed*1000 + uint64(i), Impls: s.Impls(i), Noise: 10 * s.Noise, Duets: true})
		r.Started = time.Date(2026, 1, 1, 6, 0, 0, 0, time.UTC).AddDate(0, 0, i)
		r.Finished = r.Started.Add(time.Minute)
		r.Environment.Revision = fmt.Sprintf("%08x%032x", i+1, i+1)
		if s.Change != nil {
			s.Change(i, r)
		}
		out = append(out, r)
	}
	return out
}
