package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/record"
	"github.com/informerbench/informerbench/measure/stats"
)

// Answer says which implementation of a component a run speaks for.
type Answer struct {
	Component string
	Reference string
	// Use is the implementation that gains most by what is proved, or one that gains on that one
	// where both are compared directly; the reference where none gains anything.
	Use string
	// Concerns are what Use gains and loses, those that differ most first. There are none if
	// Use is the reference.
	Concerns []Weighed
	// Writes is how many updates Use does under load, its only concern of which everybody knows
	// what it counts; nil if Use is the reference, or nothing writes under load.
	Writes *Weighed
	// Worse are the comparisons of Use with the verdict worse, those that differ most first.
	Worse []*Comparison
	// Inconclusive of Judged comparisons of Use have no verdict. If Use is the reference,
	// they are those of all the others.
	Inconclusive, Judged int
	// Level are others that also gain on the reference, and that the run does not tell apart from
	// Use: compared with it directly, they gain no less than they lose, by what is proved. Those
	// that gain most on the reference come first.
	Level []string
	// Rejected is an implementation that gains more and is not recommended; "" if there is none.
	Rejected string
	// Why says what it does: "waives STORE-7, which clientgo keeps", or "did not complete
	// store-ops/objects=1000".
	Why    string
	Waived []record.Waiver // of Rejected, what the reference keeps
}

// Stays says that the reference stays: "keep clientgo", or, where most comparisons are inconclusive,
// "not settled; until it is, keep clientgo".
func (a Answer) Stays() string {
	if a.Rejected == "" && 2*a.Inconclusive > a.Judged {
		return "not settled; until it is, keep " + a.Reference
	}
	return "keep " + a.Reference
}

// Weighed is what an implementation's comparisons with the reference say of one concern.
type Weighed struct {
	Concern metrics.Concern
	// Series are those of the comparisons, each once: "writer:update".
	Series []string
	// Better is the direction of Ratio.
	Better metrics.Direction
	// Ratio is the geometric mean of the comparisons, from the mean of their lower bounds to
	// that of their upper ones. That is at least as wide as the interval of the mean, however
	// the comparisons depend on each other.
	Ratio stats.Ratio
	// Bounded says that a comparison gains or loses more than a factor of a thousand, which counts
	// as a thousand in Ratio.
	Bounded bool
	// Verdicts counts the comparisons by verdict.
	Verdicts map[stats.Verdict]int
}

// Verdict is what the whole interval of the ratio shows. It is better or worse only where one of
// the comparisons is.
func (w Weighed) Verdict() stats.Verdict {
	switch lower := w.Better == metrics.LowerIsBetter; {
	case w.Verdicts[stats.Same] == w.Ratio.N:
		return stats.Same
	case w.Verdicts[stats.Better] > 0 && (w.Ratio.Hi < 1 && lower || w.Ratio.Lo > 1 && !lower):
		return stats.Better
	case w.Verdicts[stats.Worse] > 0 && (w.Ratio.Lo > 1 && lower || w.Ratio.Hi < 1 && !lower):
		return stats.Worse
	}
	return stats.Inconclusive
}

// mostGain bounds what one comparison can gain or lose: a factor of a thousand, about what a
// starved writer gains. From there on, more is no better.
const mostGain = 1000

// Answers sums a run up: an answer for each component of which several implementations were
// measured, in the order of the run. groups are Within's.
//
// An implementation gains by a comparison with the verdict better or worse what its interval
// proves (see Proved). A concern's gain is the mean over its comparisons, and all concerns count
// alike. One that waives clauses which the reference keeps, that was given up in a workload, or that
// failed a check of its work, is never the one to use.
func Answers(r *record.Run, groups []Group) []Answer {
	var out []Answer
	given := givenUp(r)
	for _, component := range measuredComponents(r) {
		of := map[string][]*Comparison{}
		var impls []string // in the order of the run
		var all []*Comparison
		for _, c := range Judged(groups) {
			if c.Name.Component != component || c.Verdict == stats.NotComparable {
				continue
			}
			if of[c.Name.Impl] == nil {
				impls = append(impls, c.Name.Impl)
			}
			of[c.Name.Impl] = append(of[c.Name.Impl], c)
			all = append(all, c)
		}
		if len(impls) == 0 { // or only its groups were asked for
			continue
		}
		reference := referenceIn(r, groups, component)
		a := Answer{Component: component, Reference: reference.Name, Use: reference.Name,
			Judged: len(all), Inconclusive: withVerdict(all, stats.Inconclusive)}
		slices.SortStableFunc(impls, func(x, y string) int {
			return cmp.Compare(gain(of[y]), gain(of[x]))
		})
		var candidates []string // those that may be used
		for _, impl := range impls {
			if gain(of[impl]) <= 0 {
				break
			}
			waived := waivedBeyond(r, component, impl, reference)
			if why := cmp.Or(unfinished(r, given, component, impl), failedCheck(r, component, impl),
				waives(waived, reference.Name)); why != "" {
				if a.Rejected == "" && len(candidates) == 0 {
					a.Rejected, a.Why, a.Waived = impl, why, waived
				}
				continue
			}
			candidates = append(candidates, impl)
		}
		if len(candidates) > 0 {
			best, level := duel(r, groups, component, of, candidates)
			a.use(best, of[best])
			a.Level = level
		}
		out = append(out, a)
	}
	return out
}

func (a *Answer) use(impl string, own []*Comparison) {
	a.Use, a.Concerns = impl, weighed(own)
	a.Judged, a.Inconclusive = len(own), withVerdict(own, stats.Inconclusive)
	var writes []*Comparison
	for _, c := range own {
		if c.Verdict == stats.Worse {
			a.Worse = append(a.Worse, c)
		}
		if metrics.Of(c.Name.Metric).Concern == metrics.ConcernDone &&
			strings.HasSuffix(c.Name.Series, ":update") {
			writes = append(writes, c)
		}
	}
	if len(writes) > 0 {
		a.Writes = &weighed(writes)[0]
	}
	slices.SortStableFunc(a.Worse, func(x, y *Comparison) int {
		return cmp.Compare(x.Proved(), y.Proved())
	})
}

// duel compares the candidates directly, from the one that gains most on the reference. One that
// gains on it takes its place, and must stand against the others, but not again against a former
// one: ratios of some 1,000 times and more count alike against the reference, and not directly.
// level are those that the last comparison does not tell apart from best.
func duel(r *record.Run, groups []Group, component string, of map[string][]*Comparison,
	candidates []string) (best string, level []string) {
	best = candidates[0]
	beaten := map[string]bool{}
	for len(candidates) > 1 {
		beaten[best] = true
		gains := direct(r, groups, component, best, of[best])
		level = slices.DeleteFunc(slices.Clone(candidates), func(impl string) bool {
			g, compared := gains[impl]
			return !compared || g < 0
		})
		next := slices.MaxFunc(candidates, func(x, y string) int {
			return cmp.Compare(gains[x], gains[y])
		})
		if gains[next] <= 0 || beaten[next] {
			break
		}
		best = next
	}
	return best, level
}

// direct is what each implementation gains on one, whose comparisons with the reference are own, in
// the same rows.
func direct(r *record.Run, groups []Group, component, one string,
	own []*Comparison) map[string]float64 {
	against, err := WithinAgainst(r, groups, component, one)
	if err != nil {
		return nil // it was measured
	}
	weighed := map[Name]bool{}
	for _, c := range own {
		weighed[c.Name] = true
	}
	of := map[string][]*Comparison{}
	for _, c := range Judged(against) {
		name := c.Name
		if name.Impl = one; weighed[name] {
			of[c.Name.Impl] = append(of[c.Name.Impl], c)
		}
	}
	gains := map[string]float64{}
	for impl, rows := range of {
		gains[impl] = gain(rows)
	}
	return gains
}

// referenceIn is the implementation with which the groups of a component compare the others:
// the catalog's reference, or what stands in for it where that was not measured.
func referenceIn(r *record.Run, groups []Group, component string) record.Implementation {
	i := slices.IndexFunc(groups, func(g Group) bool {
		return string(g.Cells[0].Component) == component
	})
	return implementationOf(r, component, r.ReferenceOf(groups[i].Cells).Impl)
}

// referenceOf is the catalog's reference of a component; zero if the run has none.
func referenceOf(r *record.Run, component string) record.Implementation {
	for _, im := range r.Impls {
		if im.Component == component && im.Reference {
			return im
		}
	}
	return record.Implementation{}
}

// implementationOf is what a run says of an implementation; its names alone if that is nothing.
func implementationOf(r *record.Run, component, name string) record.Implementation {
	for _, im := range r.Impls {
		if im.Component == component && im.Name == name {
			return im
		}
	}
	return record.Implementation{Component: component, Name: name}
}

// waivedBeyond are the clauses that an implementation waives and the reference does not.
func waivedBeyond(r *record.Run, component, impl string,
	reference record.Implementation) (out []record.Waiver) {
	for _, w := range implementationOf(r, component, impl).Waivers {
		if !slices.ContainsFunc(reference.Waivers, func(o record.Waiver) bool {
			return o.Clause == w.Clause
		}) {
			out = append(out, w)
		}
	}
	return out
}

// waives says which clauses are waived that the reference keeps, "" if none is.
func waives(waived []record.Waiver, reference string) string {
	clauses := make([]string, len(waived))
	for i, w := range waived {
		clauses[i] = w.Clause
	}
	if len(clauses) == 0 {
		return ""
	}
	return fmt.Sprintf("waives %s, which %s keeps", strings.Join(clauses, ", "), reference)
}

// givenUp is how many processes a run lacks of each cell that was given up, by the cell's ID. A run
// that was interrupted lacks processes of all: those that it gave up are in its warnings.
func givenUp(r *record.Run) map[string]int {
	warned, out := map[string]bool{}, map[string]int{}
	for _, w := range r.Warnings {
		warned[record.WhichGaveUp(w)] = true
	}
	for _, p := range r.Lacking() {
		if !p.Profile && (r.Complete || warned[p.Cell.ID()]) {
			out[p.Cell.ID()]++
		}
	}
	return out
}

// unfinished says in which workloads an implementation was given up. It is "" if there are none.
// given is what givenUp returns.
func unfinished(r *record.Run, given map[string]int, component, impl string) string {
	var workloads []string
	for _, c := range r.Cells {
		if string(c.Component) == component && c.Impl == impl && c.Role == "" && given[c.ID()] > 0 {
			workloads = append(workloads, workloadOf(r, c))
		}
	}
	if len(workloads) == 0 {
		return ""
	}
	return "did not complete " + strings.Join(workloads, ", ")
}

// failedCheck names a check of its work that an implementation failed, "" if it failed none.
func failedCheck(r *record.Run, component, impl string) string {
	for _, f := range r.Forks {
		if string(f.Cell.Component) != component || f.Cell.Impl != impl {
			continue
		}
		for _, c := range f.Checks {
			if !c.Passed {
				return fmt.Sprintf("failed a check in %s: %s", workloadOf(r, f.Cell), c.Name)
			}
		}
	}
	return ""
}

// Proved is the logarithm of what a comparison is proved to gain, beyond what a disturbance of the
// run could have gained. It is negative for the verdict worse, and 0 for those other than better.
func (c *Comparison) Proved() float64 {
	if c.Verdict != stats.Better && c.Verdict != stats.Worse {
		return 0
	}
	least := min(math.Abs(bounded(c.Ratio.Lo)), math.Abs(bounded(c.Ratio.Hi)))
	switch {
	case c.Verdict == stats.Worse:
		return -least
	case metrics.Of(c.Name.Metric).Concern == metrics.ConcernMemory:
		return least
	}
	return max(0, least-math.Log(max(1, c.disturbed)))
}

// bounded is the logarithm of a ratio, at most that of mostGain either way.
func bounded(ratio float64) float64 {
	most := math.Log(mostGain)
	return max(-most, min(most, math.Log(ratio)))
}

func gain(own []*Comparison) float64 {
	total, concerns := 0.0, byConcern(own)
	for _, concern := range metrics.Concerns { // in one order, or the last digit would change
		if of := concerns[concern]; len(of) > 0 {
			total += provedOf(of) / float64(len(concerns))
		}
	}
	return total
}

// provedOf is the mean of what comparisons are proved to gain.
func provedOf(of []*Comparison) float64 {
	total := 0.0
	for _, c := range of {
		total += c.Proved() / float64(len(of))
	}
	return total
}

func byConcern(own []*Comparison) map[metrics.Concern][]*Comparison {
	out := map[metrics.Concern][]*Comparison{}
	for _, c := range own {
		concern := metrics.Of(c.Name.Metric).Concern
		out[concern] = append(out[concern], c)
	}
	return out
}

// weighed sums comparisons up by concern. Those that are proved to differ most come first.
func weighed(own []*Comparison) (out []Weighed) {
	by := byConcern(own)
	for _, concern := range metrics.Concerns {
		of := by[concern]
		if len(of) == 0 {
			continue
		}
		w := Weighed{Concern: concern, Better: of[0].direction, Verdicts: map[stats.Verdict]int{}}
		var estimate, lo, hi float64
		for _, c := range of {
			if c.Verdict == stats.Better && c.Proved() <= 0 {
				w.Verdicts[stats.Inconclusive]++ // a disturbance could explain it
			} else {
				w.Verdicts[c.Verdict]++
			}
			if !slices.Contains(w.Series, c.Name.Series) {
				w.Series = append(w.Series, c.Name.Series)
			}
			w.Bounded = w.Bounded || math.Abs(math.Log(c.Ratio.Estimate)) > math.Log(mostGain)
			n := float64(len(of))
			estimate, lo, hi = estimate+bounded(c.Ratio.Estimate)/n, lo+bounded(c.Ratio.Lo)/n,
				hi+bounded(c.Ratio.Hi)/n
		}
		w.Ratio = stats.Ratio{Estimate: math.Exp(estimate), Lo: math.Exp(lo), Hi: math.Exp(hi),
			N: len(of)}
		out = append(out, w)
	}
	slices.SortStableFunc(out, func(x, y Weighed) int {
		return cmp.Compare(math.Abs(provedOf(by[y.Concern])), math.Abs(provedOf(by[x.Concern])))
	})
	return out
}

func withVerdict(of []*Comparison, v stats.Verdict) (n int) {
	for _, c := range of {
		if c.Verdict == v {
			n++
		}
	}
	return n
}
