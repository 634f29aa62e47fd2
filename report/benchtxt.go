package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/informerbench/informerbench/measure/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
)

// WriteBench writes the run in the Go benchmark format, which benchstat reads: a line
// per fork and series, with every value of the series. Forks made for profiles are left
// out. Characters that would break a line of the format are replaced: control characters,
// and spaces in names.
func (rep *Report) WriteBench(w io.Writer) error {
	r := rep.Run
	out := benchfmt.NewWriter(w)
	env := r.Environment
	config := []benchfmt.Config{
		{Key: "goos", Value: []byte(env.OS), File: true},
		{Key: "goarch", Value: []byte(env.Arch), File: true},
		{Key: "pkg", Value: []byte("github.com/informerbench/informerbench/bench"), File: true},
		{Key: "cpu", Value: []byte(env.CPU), File: true},
		{Key: "preset", Value: []byte(r.Preset), File: true},
		{Key: "run", Value: []byte(r.Name), File: true},
	}
	// The format ignores lines of any other form, so warnings can be written beside the
	// numbers.
	for _, warning := range compare.RunWarnings(r) {
		if _, err := fmt.Fprintf(w, "# warning: %s\n", oneLine(warning)); err != nil {
			return err
		}
	}
	if err := writeUnits(out, r); err != nil {
		return err
	}
	for _, c := range r.Cells {
		for _, f := range r.Measured(c) {
			for _, s := range f.Series {
				if len(s.Values) == 0 {
					continue // the format has no line without a value
				}
				for _, warning := range slices.Concat(f.Warnings, s.Warnings) {
					if _, err := fmt.Fprintf(w, "# warning, of the next line: %s\n",
						oneLine(warning)); err != nil {
						return err
					}
				}
				res := benchfmt.Result{Config: config,
					Name: benchfmt.Name(oneWord(c.BenchmarkName(s)[len("Benchmark"):])), Iters: iterations(s)}
				for _, metric := range slices.SortedFunc(maps.Keys(s.Values), metrics.Compare) {
					res.Values = append(res.Values, benchfmt.Value{Value: s.Values[metric], Unit: oneWord(metric)})
				}
				if err := out.Write(&res); err != nil {
					return fmt.Errorf("writing benchmark results: %w", err)
				}
			}
		}
	}
	return nil
}

// writeUnits writes a Unit line for each metric of the run of which more or less is better.
func writeUnits(out *benchfmt.Writer, r *record.Run) error {
	used := map[string]bool{}
	for _, f := range r.Forks {
		for _, s := range f.Series {
			for metric := range s.Values {
				used[metric] = true
			}
		}
	}
	for _, metric := range slices.SortedFunc(maps.Keys(used), metrics.Compare) {
		better := map[metrics.Direction]string{metrics.LowerIsBetter: "lower",
			metrics.HigherIsBetter: "higher"}[metrics.Of(metric).Better]
		if better == "" {
			continue
		}
		unit := oneWord(metric)
		if err := out.Write(
			&benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: unit, Key: "better"},
				OrigUnit: unit, Value: better}); err != nil {
			return fmt.Errorf("writing the units of benchmark results: %w", err)
		}
	}
	return nil
}

// iterations is the number that the format requires after the name: the passes or
// operations behind the values.
func iterations(s record.Series) int {
	if n := len(s.Passes); n > 0 {
		return n
	}
	for _, d := range []string{metrics.Delay, metrics.Service} {
		if n := s.Values[metrics.Number(d)]; n >= 1 {
			return int(n)
		}
	}
	n, _ := strconv.Atoi(fmt.Sprintf("%.0f", s.Values[metrics.Achieved]))
	return max(1, n)
}

func oneWord(name string) string { return strings.Join(strings.Fields(name), "_") }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
