package history

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/stats"
)

// judge looks for changes in all series as one family. The clearest change or trend of each
// series is corrected for the number of series (Benjamini and Hochberg 1995). The steps of
// those that pass must each be as clear as the correction asked for.
func (h *History) judge() {
	var family []*stats.Ratio
	ratios := map[*Series]*stats.Ratio{}
	for _, s := range h.Series {
		if len(s.Points) < stats.FewestRuns {
			continue
		}
		scaled, _ := s.scaled()
		// A drift is a poor step, so both are looked for, and the smaller p counts double.
		s.P = min(1, 2*stats.ClearestChange(scaled), 2*stats.TrendP(scaled))
		ratios[s] = &stats.Ratio{P: s.P}
		family = append(family, ratios[s])
	}
	h.Tested = len(family)
	stats.Adjust(family)
	passed := 0
	for _, r := range family {
		if r.Q <= h.Alpha {
			passed++
		}
	}
	for s, r := range ratios {
		s.Q = r.Q
	}
	for _, s := range h.Series {
		if s.Q <= h.Alpha && ratios[s] != nil {
			s.find(h, h.Alpha*float64(passed)/float64(h.Tested)/2)
		}
	}
	h.note()
	slices.SortStableFunc(h.Series, func(a, b *Series) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.largest(), a.largest()))
	})
}

// rank orders series by what a reader asks first: what became worse, what else changed, the
// rest.
func (s *Series) rank() int {
	worse := func(shift Shift) bool { return shift.Verdict == stats.Worse }
	switch {
	case s.Drift != nil && worse(*s.Drift), slices.ContainsFunc(s.Changes, func(c Change) bool { return worse(c.Shift) }):
		return 0
	case s.Changed():
		return 1
	}
	return 2
}

// scaled are the points as ChangesIn takes them: logarithms, for noise is proportional to a
// number; the values themselves if one of them is 0.
func (s *Series) scaled() (values []float64, logarithms bool) {
	logarithms = !slices.ContainsFunc(s.Points, func(p Point) bool { return p.Value <= 0 })
	for _, p := range s.Points {
		if logarithms {
			values = append(values, math.Log(p.Value))
		} else {
			values = append(values, p.Value)
		}
	}
	return values, logarithms
}

// find sets the changes or the drift of a series, each with p of at most alpha.
func (s *Series) find(h *History, alpha float64) {
	values, logarithms := s.scaled()
	changes := stats.ChangesIn(values, alpha)
	direction := metrics.Of(s.Name.Metric).Better
	drifts := len(changes) > 0 || stats.TrendP(values) <= alpha
	if drift, ok := stats.DriftOf(values, changes); ok && drifts && logarithms {
		shift := Shift{Ratio: exp(drift.Shift), Lo: exp(drift.Lo), Hi: exp(drift.Hi)}
		shift.judge(direction)
		if shift.large(h.Least) {
			s.Drift = &shift
		} else {
			h.Small++
		}
		return
	}
	edges := []int{0}
	for _, c := range changes {
		edges = append(edges, c.At)
	}
	edges = append(edges, len(values))
	for i, c := range changes {
		out := Change{At: c.At, P: c.P, Before: levelOf(values[edges[i]:c.At], logarithms), After: levelOf(values[c.At:edges[i+2]], logarithms)}
		if logarithms {
			out.Shift = Shift{Ratio: exp(c.Shift), Lo: exp(c.Lo), Hi: exp(c.Hi)}
		} else {
			of := func(shift float64) float64 {
				if out.Before.Value <= 0 {
					return stats.FromZero
				}
				return min(max(0, out.Before.Value+shift)/out.Before.Value, stats.FromZero)
			}
			out.Shift = Shift{Ratio: of(c.Shift), Lo: of(c.Lo), Hi: of(c.Hi)}
		}
		out.judge(direction)
		if !out.large(h.Least) {
			h.Small++
			continue
		}
		s.Changes = append(s.Changes, out)
	}
}

func levelOf(values []float64, logarithms bool) Level {
	l := Level{Runs: len(values)}
	l.Value, l.Lo, l.Hi = stats.Level(values)
	if logarithms {
		l.Value, l.Lo, l.Hi = exp(l.Value), exp(l.Lo), exp(l.Hi)
	}
	return l
}

// exp is at most MaxFloat64, because JSON has no infinity.
func exp(logarithm float64) float64 { return min(math.Exp(logarithm), math.MaxFloat64) }

func (s *Shift) judge(direction metrics.Direction) {
	s.Verdict = stats.Worse
	switch {
	case direction == metrics.Neither:
		s.Verdict = stats.NotComparable
	case (s.Ratio < 1) == (direction == metrics.LowerIsBetter):
		s.Verdict = stats.Better
	}
}

// size is the distance of the ratio from 1 as a logarithm, in either direction.
func (s *Shift) size() float64 { return math.Abs(math.Log(s.Ratio)) }

func (s *Shift) large(least float64) bool { return s.size() >= math.Log1p(least) }

// largest is the size of the largest change, -1 if there is none.
func (s *Series) largest() float64 {
	most := -1.0
	if s.Drift != nil {
		most = s.Drift.size()
	}
	for _, c := range s.Changes {
		most = max(most, c.size())
	}
	return most
}

// note says of each change what else differs between the runs before and after it.
func (h *History) note() {
	for _, s := range h.Series {
		for i := range s.Changes {
			c := &s.Changes[i]
			c.Notes = append(differences(h.Runs[s.Points[c.At-1].Run], h.Runs[s.Points[c.At].Run]), h.shared(s, *c)...)
		}
	}
}

func differences(before, after Run) (out []string) {
	if before.Go != after.Go {
		out = append(out, fmt.Sprintf("Go changed here: %s to %s", before.Go, after.Go))
	}
	names := maps.Clone(before.Modules)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, after.Modules)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if a, b := before.Modules[name], after.Modules[name]; a != b {
			out = append(out, fmt.Sprintf("%s changed here: %s to %s", name, cmp.Or(a, "none"), cmp.Or(b, "none")))
		}
	}
	if before.Plant != after.Plant {
		out = append(out, "planted: "+cmp.Or(after.Plant, "no longer: "+before.Plant))
	}
	return out
}

// shared names the other implementations that changed the same way in the same run, where the
// numbers are values: what they share is the machine, or the harness.
func (h *History) shared(s *Series, c Change) []string {
	if s.Against != "" {
		return nil
	}
	var others []string
	for _, o := range h.Series {
		same := s.key
		same.impl = o.key.impl
		if o == s || o.key != same {
			continue
		}
		for _, theirs := range o.Changes {
			if o.Points[theirs.At].Run == s.Points[c.At].Run && theirs.Verdict == c.Verdict {
				others = append(others, o.Name.Impl)
			}
		}
	}
	if len(others) == 0 {
		return nil
	}
	return []string{"changed in the same run: " + strings.Join(others, ", ") + "; the cause may be the machine or the harness"}
}
