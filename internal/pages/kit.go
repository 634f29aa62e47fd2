package pages

import (
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/informerbench/informerbench/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/stats"
)

// kit begins the names of the numbers that upstream/run.sh measured: Go benchmarks of client-go,
// with client-go's store (off) and with ours (on). upstream/results has a folder of each
// measurement, with the samples of both in gateOff and gateOn.
const (
	kit     = "upstream"
	gateOff = "gate-off.txt"
	gateOn  = "gate-on.txt"
)

// gates is a number of a name such as "contention/Contention/loop=closed/ns/op/on", or its
// ratio to "off".
func (s *Source) gates(n number) (figure, error) {
	folder, rest, _ := strings.Cut(n.name, "/")
	end := max(0, strings.LastIndexByte(rest, '/'))
	benchmark, side := rest[:end], strings.TrimPrefix(rest[end:], "/")
	switch [2]string{side, n.to} {
	case [2]string{"off"}, [2]string{"on"}, [2]string{"on", "off"}:
	default:
		return figure{}, fmt.Errorf("%s/%s: want FOLDER/BENCHMARK/UNIT/off, .../on, or .../on to off", n.preset, n.name)
	}
	samples, err := s.samples(folder)
	if err != nil {
		return figure{}, err
	}
	c, ok := samples[benchmark]
	if !ok {
		return figure{}, fmt.Errorf("%s/%s: %s: %w", kit, folder, benchmark, compare.ErrNoNumber)
	}
	if fewest := min(c.Base.N, c.Head.N); fewest < fewestProcesses {
		return figure{}, fmt.Errorf("%s/%s: %s: %d samples, want %d", kit, folder, benchmark, fewest, fewestProcesses)
	}
	switch {
	case n.to == "":
		e := map[string]stats.Estimate{"off": c.Base, "on": c.Head}[side]
		return sampleFigure(e, c.Name.Metric), nil
	case c.Ratio == nil:
		return figure{}, fmt.Errorf("%s/%s: %s: %w to off", kit, folder, benchmark, compare.ErrNoNumber)
	}
	return ratioFigure(*c.Ratio), nil
}

// sampleFigure is the figure of samples of a unit of the benchmarks. Beside the units of the runs
// they have milliseconds, such as p99-ms.
func sampleFigure(e stats.Estimate, unit string) figure {
	if strings.HasSuffix(unit, "-ms") {
		unit = metrics.NsPerOp
		e.Median, e.Lo, e.Hi = 1e6*e.Median, 1e6*e.Lo, 1e6*e.Hi
	}
	return estimateFigure(e, unit)
}

// samples reads a folder of upstream/results, by BENCHMARK/UNIT.
func (s *Source) samples(folder string) (map[string]*compare.Comparison, error) {
	if known, ok := s.kit[folder]; ok {
		return known, nil
	}
	dir := filepath.Join(s.root, kit, "results", folder)
	r, err := compare.Files(filepath.Join(dir, gateOff), filepath.Join(dir, gateOn), stats.DefaultRule)
	if err != nil {
		return nil, err
	}
	out := map[string]*compare.Comparison{}
	for _, c := range r.Comparisons {
		out[benchmarkName(benchfmt.Name(c.Name.Benchmark))+"/"+c.Name.Metric] = c
	}
	s.kit[folder] = out
	return out, nil
}

// benchmarkName is the name of a benchmark without the processors at its end.
func benchmarkName(n benchfmt.Name) string {
	base, parts := n.Parts()
	name := string(base)
	for _, part := range parts {
		if part[0] == '/' { // and not the -8 of GOMAXPROCS
			name += string(part)
		}
	}
	return name
}
