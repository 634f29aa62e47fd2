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

// Source is the runs of a folder, a run of each preset. One goroutine may use it.
type Source struct {
	results string
	runs    map[string]*record.Run
	logs    map[number][]float64 // of inTurns; nil until they are read
}

// NewSource returns the runs of the folder. Each is read when its first number is asked for.
func NewSource(results string) *Source {
	return &Source{results: results, runs: map[string]*record.Run{}}
}

func (s *Source) run(preset string) (*record.Run, error) {
	r, known := s.runs[preset]
	if known {
		return r, nil
	}
	r, err := record.ReadRun(filepath.Join(s.results, preset))
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

// text formats the number, with its interval if asked to and if it is more than the number.
func (s *Source) text(n number, interval bool) (string, error) {
	if n.preset == inTurns {
		ratio, err := s.turns(n)
		return ratioText(ratio, interval), err
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
	e := found.Estimate()
	text := report.NumberText(found.Metric, e.Median)
	lo, hi := report.NumberText(found.Metric, e.Lo), report.NumberText(found.Metric, e.Hi)
	if interval && (lo != text || hi != text) {
		text = fmt.Sprintf("%s [%s, %s]", text, lo, hi)
	}
	return text, nil
}

func ratioText(r stats.Ratio, interval bool) string {
	if interval {
		return report.RatioText(r)
	}
	return report.FactorText(r.Estimate)
}
