package pages

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/informerbench/informerbench/compare"
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

// named formats the number of a name that parseNumber reads.
func (s *Source) named(name string, interval bool) (string, error) {
	n, err := parseNumber(name)
	if err != nil {
		return "", err
	}
	return s.text(n, interval)
}

// text formats the number.
func (s *Source) text(n number, interval bool) (string, error) {
	switch n.preset {
	case inTurns, instruments:
		return s.benchmark(n, interval)
	case kit:
		return s.gates(n, interval)
	}
	r, err := s.run(n.preset)
	if err != nil {
		return "", err
	}
	found, err := compare.Lookup(r, n.name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", n.preset, err)
	}
	if n.to != "" {
		ratio, err := found.RatioTo(n.to)
		if err != nil {
			return "", fmt.Errorf("%s: %s to %s: %w", n.preset, n.name, n.to, err)
		}
		return ratioText(ratio, interval), nil
	}
	return estimateText(found.Estimate(), func(v float64) string { return report.NumberText(found.Metric, v) }, interval), nil
}

// estimateText formats a median, with its interval if asked to and if it is more than the median.
func estimateText(e stats.Estimate, text func(float64) string, interval bool) string {
	median, lo, hi := text(e.Median), text(e.Lo), text(e.Hi)
	if interval && (lo != median || hi != median) {
		return fmt.Sprintf("%s [%s, %s]", median, lo, hi)
	}
	return median
}

func ratioText(r stats.Ratio, interval bool) string {
	if interval {
		return report.RatioText(r)
	}
	return report.FactorText(r.Estimate)
}
