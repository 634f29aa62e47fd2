package recordtest

import (
	"fmt"
	"time"

	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// AddHistogram gives a distribution of n durations to the series with that name in every fork
// that has it: the i-th of fork f, counted from 0 in the order of r.Forks, takes of(f, i).
func AddHistogram(r *record.Run, series, distribution string, n int,
	of func(fork, i int) time.Duration) error {
	found := false
	for f := range r.Forks {
		for s := range r.Forks[f].Series {
			to := &r.Forks[f].Series[s]
			if to.Name() != series {
				continue
			}
			found = true
			h := stats.NewHistogram()
			for i := range n {
				h.Record(of(f, i))
			}
			text, err := h.Encode()
			if err != nil {
				return err
			}
			if to.Histograms == nil {
				to.Histograms = map[string]string{}
			}
			to.Histograms[distribution] = text
		}
	}
	if !found {
		return fmt.Errorf("no fork has a series %q", series)
	}
	return nil
}
