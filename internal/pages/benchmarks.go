package pages

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/informerbench/informerbench/compare"
	"github.com/informerbench/informerbench/measure/stats"
)

// inTurns is the folder of results/ with the output of make turns: benchmarks in which
// implementations take turns within a process, each line from a process of its own.
const inTurns = "in-turns"

// fewestProcesses keeps an interrupted make turns off the pages.
const fewestProcesses = 6

// turns returns the ratio of a name such as "StoreInTurns/pods=1000/op=get/bare to clientgo":
// the geometric mean over the processes.
func (s *Source) turns(n number) (stats.Ratio, error) {
	if n.to == "" {
		return stats.Ratio{}, fmt.Errorf("%s/%s: want NAME/IMPLEMENTATION to REFERENCE, as in its file", n.preset, n.name)
	}
	if s.logs == nil {
		logs, err := readTurns(filepath.Join(s.root, "results", inTurns))
		if err != nil {
			return stats.Ratio{}, err
		}
		s.logs = logs
	}
	logs, ok := s.logs[n]
	if !ok {
		return stats.Ratio{}, fmt.Errorf("%s: %s to %s: %w", n.preset, n.name, n.to, compare.ErrNoNumber)
	}
	if len(logs) < fewestProcesses {
		return stats.Ratio{}, fmt.Errorf("%s/%s: %d processes, want %d: run make turns to its end", n.preset, n.name, len(logs), fewestProcesses)
	}
	return stats.PairedRatioOf(logs)
}

// readTurns reads the logarithms of the ratios in each file of the folder. Only units such as
// bare/clientgo are ratios; ns/op and the like are left out. A benchmark that two files have
// is an error.
func readTurns(dir string) (map[number][]float64, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	logs, fileOf := map[number][]float64{}, map[string]string{}
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
			if implementation, reference, ok := strings.Cut(v.Unit, "/"); ok && reference != "op" {
				n := number{inTurns, name + "/" + implementation, reference}
				logs[n] = append(logs[n], math.Log(v.Value))
			}
		}
	}
	return logs, files.Err()
}
