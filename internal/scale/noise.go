package scale

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// kind is a kind of numbers, whose noise is alike.
type kind string

const (
	turns  kind = "operations in turns (ns/op)"
	share  kind = "share done of what was offered"
	rate   kind = "operations a second, closed loop"
	tail   kind = "p99 of delay, service and staleness"
	alone  kind = "operations of informers (ns/op)"
	memory kind = "memory kept"
)

var kinds = []kind{turns, memory, share, rate, alone, tail}

// kindOf is the kind of a judged metric that is not measured in turns, "" for another.
func kindOf(c contract.Component, metric string) kind {
	switch metric {
	case metrics.AchievedPct:
		return share
	case metrics.Achieved:
		return rate
	case metrics.HeapPerObject, metrics.PeakHeap:
		return memory
	case metrics.NsPerOp:
		if c == contract.ComponentInformer {
			return alone
		}
		return ""
	}
	for _, d := range []string{metrics.Delay, metrics.Stale, metrics.Service} {
		if metric == metrics.Percentile(d, metrics.JudgedPercentile) || metric == metrics.Usual(d) {
			return tail
		}
	}
	return ""
}

// inTurns is the standard deviation of a process's ratio to the reference for operations of a
// store in turns: the table under "Operations take turns" in docs/log/decisions.md, for the default
// preset and for 0.2 s an operation.
var inTurns = map[load.Op]struct{ short, long float64 }{
	load.OpGet: {0.018, 0.005}, load.OpList: {0.019, 0.007}, load.OpByIndex: {0.020, 0.008}, load.OpUpdate: {0.029, 0.007},
	load.OpUpdateIndex: {0.045, 0.012}, load.OpAddDelete: {0.029, 0.006}, load.OpReplace: {0.069, 0.024},
}

// turnsNoise is the standard deviation of an operation that is measured for w.Duration. The
// operations of the other components, which were not measured that way, are given the middle one.
func turnsNoise(w load.Workload, op load.Op) float64 {
	pick := func(n struct{ short, long float64 }) float64 {
		if w.Duration < shortOperation {
			return n.short
		}
		return n.long
	}
	if n, ok := inTurns[op]; ok && w.Component == contract.ComponentStore {
		return pick(n)
	}
	var all []float64
	for _, n := range inTurns {
		all = append(all, pick(n))
	}
	return stats.MedianOf(all)
}

// noise is what the records say of the differences between processes of one machine.
type noise struct {
	runs int
	// spreads are standard deviations of the logarithm of a value between the forks of a cell,
	// one for each cell and metric; of any component under "".
	spreads map[kind]map[contract.Component][]float64
	// shapes are the differences to the median of their cell, in standard deviations.
	shapes map[kind][]float64
	// seconds are the times of forks by workload.
	seconds map[string][]float64
}

// fewestForks is how many forks a cell needs to count.
const fewestForks = 3

// unfinished is the folder of runs that make evidence has not finished.
const unfinished = "next"

// keptRuns returns the folders of the runs below dir. It leaves out what is not finished, and
// runs of whoever works here, whose folders have the names that benchrun gives them: the page
// is about the runs of the repository.
func keptRuns(dir string) (runs []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == unfinished || record.Stamped(d.Name())):
			return fs.SkipDir
		case d.Name() == record.RunFile:
			runs = append(runs, filepath.Dir(path))
		}
		return nil
	})
	return runs, err
}

// readNoise reads the kept runs below dir.
func readNoise(dir string) (*noise, error) {
	runs, err := keptRuns(dir)
	if err != nil {
		return nil, err
	}
	n := &noise{runs: len(runs), spreads: map[kind]map[contract.Component][]float64{}, shapes: map[kind][]float64{}, seconds: map[string][]float64{}}
	for _, run := range runs {
		r, err := record.ReadRun(run)
		if err != nil {
			return nil, err
		}
		for _, c := range r.Cells {
			n.add(r, c)
		}
	}
	for _, k := range kinds {
		if k != turns && len(n.spreads[k][""]) < 3 {
			return nil, fmt.Errorf("%s: its runs have %d cells with %s, want 3 or more", dir, len(n.spreads[k][""]), k)
		}
	}
	return n, nil
}

// add adds the metrics of a cell.
func (n *noise) add(r *record.Run, c record.Cell) {
	values := map[string][]float64{}
	for _, f := range r.Measured(c) {
		n.seconds[c.WorkloadKey()] = append(n.seconds[c.WorkloadKey()], f.Seconds)
		for metric, v := range f.Process {
			values["\n"+metric] = append(values["\n"+metric], v)
		}
		for _, s := range f.Series {
			for metric, v := range s.Values {
				key := s.Name() + "\n" + metric
				values[key] = append(values[key], v)
			}
		}
	}
	for key, of := range values {
		k := kindOf(c.Component, key[slices.Index([]byte(key), '\n')+1:])
		if k == "" || len(of) < fewestForks || slices.Min(of) <= 0 {
			continue
		}
		logs := make([]float64, len(of))
		for i, v := range of {
			logs[i] = math.Log(v)
		}
		middle, squares := stats.MedianOf(logs), 0.0
		for _, l := range logs {
			squares += (l - middle) * (l - middle)
		}
		// Over n-1: the middle is estimated from the same values.
		spread := math.Sqrt(squares / float64(len(logs)-1))
		if n.spreads[k] == nil {
			n.spreads[k] = map[contract.Component][]float64{}
		}
		for _, component := range []contract.Component{"", c.Component} {
			n.spreads[k][component] = append(n.spreads[k][component], spread)
		}
		for _, l := range logs {
			if spread > 0 {
				n.shapes[k] = append(n.shapes[k], (l-middle)/spread)
			}
		}
	}
	for _, k := range kinds { // the order of maps is not that of the next run
		slices.Sort(n.shapes[k])
		for component := range n.spreads[k] {
			slices.Sort(n.spreads[k][component])
		}
	}
}

// of are the spreads of a kind for a component, or for all where it has none.
func (n *noise) of(k kind, c contract.Component) []float64 {
	if own := n.spreads[k][c]; len(own) >= fewestForks {
		return own
	}
	return n.spreads[k][""]
}

// exists reports a clear error for a folder that is not there.
func exists(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("the folder of the runs: %w", err)
	}
	return nil
}
