package pages

import (
	"fmt"
	"math"
	"path/filepath"

	"golang.org/x/perf/benchfmt"

	"github.com/informerbench/informerbench/compare"
	"github.com/informerbench/informerbench/measure/stats"
)

// Folders of results/ with the output of Go benchmarks, each line from a process of its own.
const (
	// inTurns has those of make turns, in which implementations take turns within a process.
	inTurns = "in-turns"
	// instruments has those of make instruments: of the test API server, and of the search for
	// changes.
	instruments = "instruments"
)

// targets of the Makefile write the folders.
var targets = map[string]string{inTurns: "turns", instruments: "instruments"}

// fewestProcesses keeps what was interrupted off the pages.
const fewestProcesses = 6

// benchmarked is what the processes reported of a benchmark in one unit.
type benchmarked struct {
	unit   string
	values []float64
}

// benchmark is a number of a benchmark. In turns it is the geometric mean of a ratio, named
// as in "StoreInTurns/pods=1000/op=get/bare to clientgo"; of an instrument it is a median, named
// as in "Watch/watchers=1/events/s".
func (s *Source) benchmark(n number) (figure, error) {
	name := n.name
	switch {
	case n.preset == inTurns && n.to == "":
		return figure{}, fmt.Errorf("%s/%s: want NAME/IMPLEMENTATION to REFERENCE, as in its file", n.preset, n.name)
	case n.preset == inTurns:
		name += "/" + n.to
	case n.to != "":
		return figure{}, fmt.Errorf("%s/%s to %s: want NAME/UNIT, as in its file", n.preset, n.name, n.to)
	}
	all, read := s.benchmarks[n.preset]
	if !read {
		var err error
		if all, err = readBenchmarks(filepath.Join(s.root, "results", n.preset)); err != nil {
			return figure{}, err
		}
		s.benchmarks[n.preset] = all
	}
	found, ok := all[name]
	if !ok {
		return figure{}, fmt.Errorf("%s: %s: %w", n.preset, name, compare.ErrNoNumber)
	}
	if len(found.values) < fewestProcesses {
		return figure{}, fmt.Errorf("%s/%s: %d processes, want %d: run make %s to its end", n.preset, n.name, len(found.values), fewestProcesses, targets[n.preset])
	}
	if n.to == "" {
		return estimateFigure(stats.EstimateOf(found.values), found.unit), nil
	}
	logs := make([]float64, len(found.values))
	for i, v := range found.values {
		logs[i] = math.Log(v)
	}
	ratio, err := stats.PairedRatioOf(logs)
	return ratioFigure(ratio), err
}

// readBenchmarks reads the files of a folder, by NAME/UNIT. A benchmark that two files have is an
// error.
func readBenchmarks(dir string) (map[string]*benchmarked, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	out, fileOf := map[string]*benchmarked{}, map[string]string{}
	files := benchfmt.Files{Paths: paths}
	for files.Scan() {
		rec, ok := files.Result().(*benchfmt.Result)
		if !ok {
			if wrong, ok := files.Result().(*benchfmt.SyntaxError); ok {
				return nil, wrong
			}
			continue
		}
		name := benchmarkName(rec.Name)
		file, _ := rec.Pos()
		if other, ok := fileOf[name]; ok && other != file {
			return nil, fmt.Errorf("%s and %s: both have %s", other, file, name)
		}
		fileOf[name] = file
		for _, v := range rec.Values {
			unit, value := v.Unit, v.Value
			if v.OrigUnit != "" { // the reader makes ns/op to sec/op
				unit, value = v.OrigUnit, v.OrigValue
			}
			b := out[name+"/"+unit]
			if b == nil {
				b = &benchmarked{unit: unit}
				out[name+"/"+unit] = b
			}
			b.values = append(b.values, value)
		}
	}
	return out, files.Err()
}
