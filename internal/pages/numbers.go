package pages

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/informerbench/informerbench/compare"
	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
	"github.com/informerbench/informerbench/report"
)

// Source is what was measured: the runs of the presets and the benchmarks, in results/, and the
// benchmarks of client-go, in upstream/results. One goroutine may use it.
type Source struct {
	root       string // of the repository
	runs       map[string]*record.Run
	benchmarks map[string]map[string]*benchmarked        // by folder, then by name and unit
	kit        map[string]map[string]*compare.Comparison // the same
}

// NewSource returns what was measured, as it lies in a repository. Each file is read when its
// first number is asked for.
func NewSource(root string) *Source {
	return &Source{root: root, runs: map[string]*record.Run{}, benchmarks: map[string]map[string]*benchmarked{}, kit: map[string]map[string]*compare.Comparison{}}
}

func (s *Source) run(preset string) (*record.Run, error) {
	r, known := s.runs[preset]
	if known {
		return r, nil
	}
	r, err := record.ReadRun(filepath.Join(s.root, "results", preset))
	if err != nil {
		return nil, err
	}
	s.runs[preset] = r
	return r, nil
}

// number is a number of a run, or its ratio to that of another implementation.
type number struct {
	preset, name, to string
}

// parseNumber reads "stores/store/.../ns/op to clientgo".
func parseNumber(text string) (number, error) {
	path, to, ratio := strings.Cut(text, " to ")
	preset, name, ok := strings.Cut(path, "/")
	if !ok || ratio && to == "" {
		return number{}, fmt.Errorf("%q: want PRESET/NAME, or PRESET/NAME to IMPLEMENTATION", text)
	}
	return number{preset, name, to}, nil
}

// figure is a number as a page shows it.
type figure struct {
	alone        string // the median, or the ratio
	withInterval string
	lo, hi       float64 // the interval's ends, in nanoseconds of a duration
	timed        bool    // it is a duration
}

// like is the number as it stood on the page: with its interval where that had one.
func (f figure) like(former string) string {
	if strings.Contains(former, "[") {
		return f.withInterval
	}
	return f.alone
}

// named is the figure of a name that parseNumber reads.
func (s *Source) named(name string) (figure, error) {
	n, err := parseNumber(name)
	if err != nil {
		return figure{}, err
	}
	return s.figure(n)
}

// figure is that of a number.
func (s *Source) figure(n number) (figure, error) {
	switch n.preset {
	case inTurns, instruments:
		return s.benchmark(n)
	case kit:
		return s.gates(n)
	}
	r, err := s.run(n.preset)
	if err != nil {
		return figure{}, err
	}
	found, err := compare.Lookup(r, n.name)
	if err != nil {
		return figure{}, fmt.Errorf("%s: %w", n.preset, err)
	}
	if n.to != "" {
		ratio, err := found.RatioTo(n.to)
		if err != nil {
			return figure{}, fmt.Errorf("%s: %s to %s: %w", n.preset, n.name, n.to, err)
		}
		return ratioFigure(ratio), nil
	}
	return estimateFigure(found.Estimate(), found.Metric), nil
}

// estimateFigure is the figure of values of a metric. The interval stands beside the median if it
// is more than the median.
func estimateFigure(e stats.Estimate, metric string) figure {
	text := func(v float64) string { return report.NumberText(metric, v) }
	f := figure{alone: text(e.Median), lo: e.Lo, hi: e.Hi, timed: metrics.Of(metric).Unit == metrics.Nanoseconds}
	f.withInterval = f.alone
	if lo, hi := text(e.Lo), text(e.Hi); lo != f.alone || hi != f.alone {
		f.withInterval = fmt.Sprintf("%s [%s, %s]", f.alone, lo, hi)
	}
	return f
}

func ratioFigure(r stats.Ratio) figure {
	return figure{alone: report.FactorText(r.Estimate), withInterval: report.RatioText(r), lo: r.Lo, hi: r.Hi}
}
