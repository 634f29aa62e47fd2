package compare

import (
	"errors"
	"fmt"
	"math"

	"golang.org/x/perf/benchfmt"

	"github.com/informerbench/informerbench/internal/input"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/stats"
)

// Files compares two files in the Go benchmark format, as printed by go test -bench and
// read by benchstat: the values of each benchmark and unit in base against those in head.
// A unit is judged if its name, or a Unit line of a file, says which way it is better; a
// warning names the others, and another each line that cannot be compared. A number that head lacks
// is inconclusive: its benchmark may have failed. Such files have no A/A pair, so the machine's noise
// floor is not known, and the result says so. The error names the file, and the line where there is
// one.
func Files(base, head string, rule stats.Rule) (*Result, error) {
	b, err := readBenchmarks(base)
	if err != nil {
		return nil, err
	}
	h, err := readBenchmarks(head)
	if err != nil {
		return nil, err
	}
	if len(packagesOf(b, h)) < 2 {
		b.dropPackages()
		h.dropPackages()
	}
	out := &Result{Base: base, Head: head, Rule: rule,
		Warnings: []string{
			"no A/A pair: how much this machine's numbers differ by themselves is not known"}}
	for _, key := range []string{"goos", "goarch", "cpu"} {
		if b.config[key] != h.config[key] {
			out.Warnings = append(out.Warnings,
				fmt.Sprintf("%s differs: %q against %q", key, b.config[key], h.config[key]))
		}
	}
	for _, f := range []*benchmarks{b, h} {
		for i, what := range f.left {
			if i == mostLeft {
				out.Warnings = append(out.Warnings, fmt.Sprintf("and %d more lines left out", len(f.left)-i))
				break
			}
			out.Warnings = append(out.Warnings, "left out: "+what)
		}
	}
	for _, name := range b.order {
		other, ok := h.values[name]
		if !ok {
			out.Left = append(out.Left, name.String()+" (only in "+base+")")
			judged := direction(name.Metric, b, h) != metrics.Neither
			out.missing = append(out.missing, &Comparison{Name: name, judged: judged, short: judged})
			continue
		}
		c := newComparison(name, sample{values: b.values[name]}, sample{values: other}, nil)
		c.direction = direction(name.Metric, b, h)
		if c.direction == metrics.Neither && !metrics.Known(name.Metric) {
			out.warnOnce(fmt.Sprintf(
				"%s has no verdict, because its name does not say which way it is better: add a line \"Unit "+
					"%[1]s better=higher\" (or better=lower) to a file, or give a gate", name.Metric))
		}
		c.judged, c.short = true, true
		out.Comparisons = append(out.Comparisons, c)
	}
	for _, name := range h.order {
		if _, ok := b.values[name]; !ok {
			out.Left = append(out.Left, name.String()+" (only in "+head+")")
			c := newComparison(name, sample{}, sample{values: h.values[name]}, nil)
			c.short = true
			out.added = append(out.added, c)
		}
	}
	if len(out.Comparisons) == 0 {
		return nil, fmt.Errorf("%s and %s have no benchmark in common: nothing to compare", base, head)
	}
	return out, nil
}

// mostLeft is how many lines of a file that are left out are named.
const mostLeft = 10

// benchmarks is the contents of a file.
type benchmarks struct {
	config map[string]string
	order  []Name
	values map[Name][]float64
	units  benchfmt.UnitMetadataMap
	left   []string // the lines, and values of lines, that cannot be compared
}

func readBenchmarks(path string) (*benchmarks, error) {
	f, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := &benchmarks{config: map[string]string{}, values: map[Name][]float64{}}
	r := benchfmt.NewReader(f, path)
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError: // such as a benchmark that logs in the middle of its line
			out.left = append(out.left, rec.Error())
		case *benchfmt.Result:
			for _, c := range rec.Config {
				out.config[c.Key] = string(c.Value)
			}
			for _, v := range rec.Values {
				if err := out.add(rec, v); err != nil {
					file, line := rec.Pos()
					out.left = append(out.left, fmt.Sprintf("%s:%d: %s", file, line, err))
				}
			}
		}
	}
	out.units = r.Units()
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(out.order) == 0 {
		why := ""
		if len(out.left) > 0 {
			why = " that can be compared (" + out.left[0] + ")"
		}
		return nil, fmt.Errorf("%s: no benchmark in it%s; give the folder of a run or a file that go "+
			"test -bench printed", path, why)
	}
	return out, nil
}

// packagesOf are the packages that files name. A file that was filtered may name none.
func packagesOf(files ...*benchmarks) map[string]bool {
	out := map[string]bool{}
	for _, f := range files {
		for _, name := range f.order {
			if name.Package != "" {
				out[name.Package] = true
			}
		}
	}
	return out
}

// dropPackages leaves the package out of the names: there is only one.
func (b *benchmarks) dropPackages() {
	order, values := b.order[:0], map[Name][]float64{}
	for _, name := range b.order {
		all := b.values[name]
		name.Package = ""
		if _, seen := values[name]; !seen {
			order = append(order, name)
		}
		values[name] = append(values[name], all...)
	}
	b.order, b.values = order, values
}

var errNoRatio = errors.New("want a number of 0 or more: others have no ratio")

func (b *benchmarks) add(rec *benchfmt.Result, v benchfmt.Value) error {
	// The reader converts ns/op to sec/op; gates name the unit in the file.
	unit, value := v.Unit, v.Value
	if v.OrigUnit != "" {
		unit, value = v.OrigUnit, v.OrigValue
	}
	if !(value >= 0 && value <= math.MaxFloat64) {
		return fmt.Errorf("%s %s: %v: %w", rec.Name, unit, value, errNoRatio)
	}
	name := Name{Package: rec.GetConfig("pkg"), Benchmark: rec.Name.String(), Metric: unit}
	if _, ok := b.values[name]; !ok {
		b.order = append(b.order, name)
	}
	b.values[name] = append(b.values[name], value)
	return nil
}

// direction prefers what a file says, "Unit x better=higher", to the metric's name. The first of
// the files that says it decides.
func direction(unit string, files ...*benchmarks) metrics.Direction {
	for _, f := range files {
		switch f.units.GetBetter(unit) {
		case 1:
			return metrics.HigherIsBetter
		case -1:
			return metrics.LowerIsBetter
		}
	}
	return metrics.Of(unit).Better
}
