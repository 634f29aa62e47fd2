package mutants

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/informerbench/informerbench/conformance/linear"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// Result is how one mutant fared.
type Result struct {
	Mutant Mutant
	// Said holds, by clause, what the case that caught it said.
	Said map[string]string
	// Missed are the clauses that had to catch it and did not.
	Missed []string
	// Elapsed is the time that its cases took, over all repetitions.
	Elapsed time.Duration
	// Err is set if its suite could not be run.
	Err error
}

// Caught reports whether every clause that must catch the mutant did.
func (r Result) Caught() bool { return len(r.Missed) == 0 && r.Err == nil }

var errAllCaught = errors.New("all are caught")

// firstEffort catches most mutants, and makes what it caught smaller for a tenth of the time.
const firstEffort = 0.1

// Try runs, over each mutant, the cases of the clauses that must catch it. Some
// mistakes show under some schedules or random choices only, so what was missed is
// tried again as suite.UntilCaught says, with more effort, and all with the same new
// seed: rapid is configured for the whole process. One component is done with before the
// next is begun: broken informers leave goroutines behind that allocate for as long as the
// process lives, and beside them nobody can tell what a broken heap keeps. It ends early,
// with what was found, when ctx does. Suites with other seeds must not run at the same time.
func Try(ctx context.Context, list []Mutant) []Result {
	// Violations are expected here, so nobody looks at their pages.
	drawings, err := os.MkdirTemp("", "mutants-")
	if err == nil {
		defer func() { _ = os.RemoveAll(drawings) }()
	}
	results := make([]Result, len(list))
	for i, m := range list {
		results[i] = Result{Mutant: m, Said: map[string]string{}, Missed: slices.Clone(m.Clauses)}
	}
	for _, part := range byComponent(results) {
		effort := firstEffort
		_ = suite.UntilCaught(func(seed suite.Option) error {
			tryOnce(ctx, part, seed, suite.WithEffort(effort), linear.WithDrawings(drawings))
			effort = min(1, 2*effort)
			if ctx.Err() != nil || !slices.ContainsFunc(part, (*Result).again) {
				return errAllCaught
			}
			return nil
		})
	}
	return results
}

// byComponent are the results of each component, in the order in which they are first met.
func byComponent(results []Result) (parts [][]*Result) {
	place := map[contract.Component]int{}
	for i := range results {
		c := results[i].Mutant.Component
		if _, met := place[c]; !met {
			place[c] = len(parts)
			parts = append(parts, nil)
		}
		parts[place[c]] = append(parts[place[c]], &results[i])
	}
	return parts
}

// again reports whether another seed might help.
func (r *Result) again() bool { return len(r.Missed) > 0 && r.Err == nil }

// tryOnce tries what was not caught yet. Four times as many as there are processors
// run at once, because a mutant that hangs or is late is waited for idly.
func tryOnce(ctx context.Context, results []*Result, opts ...suite.Option) {
	room := make(chan struct{}, 4*runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for _, r := range results {
		if !r.again() {
			continue
		}
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			if ctx.Err() == nil {
				r.try(opts...)
			}
		})
	}
	wg.Wait()
}

func (r *Result) try(opts ...suite.Option) {
	begin := time.Now()
	err := r.Mutant.Check(
		append(slices.Clip(opts), suite.Only(r.Missed...), suite.WithCaseTimeout(caseTimeout),
			suite.WithObserver(func(res suite.Result) {
				// A case that had to be given up says nothing of a mutant that does not hang, nor
				// does one that was not run.
				if res.Outcome == suite.Fail && res.Elapsed > 0 &&
					strings.Contains(res.Reason, suite.StillRunning) == r.Mutant.Hangs {
					r.Said[res.Clause.ID] = res.Case + ": " + res.Reason
				}
			}))...)
	r.Elapsed += time.Since(begin)
	if _, failed := errors.AsType[*suite.Failure](err); err != nil && !failed {
		r.Err = fmt.Errorf("%s: %w", r.Mutant.ID(), err)
	}
	r.Missed = slices.DeleteFunc(r.Missed, func(clause string) bool { return r.Said[clause] != "" })
}

// Row is the score of one component's suite.
type Row struct {
	Component     contract.Component
	Caught, Total int
	// Slowest is the longest that a mutant took to be caught, and SlowestName its
	// name.
	Slowest     time.Duration
	SlowestName string
	// Survivors says which mutants survived, and what missed them.
	Survivors []string
}

// String is the row in words.
func (r Row) String() string {
	return fmt.Sprintf("%s: %d of %d caught, slowest %.1fs (%s)", r.Component, r.Caught, r.Total,
		r.Slowest.Seconds(), r.SlowestName)
}

// Score sums up results, a row per component in the order of their names in results.
func Score(results []Result) []Row {
	var rows []Row
	for _, r := range results {
		i := slices.IndexFunc(rows, func(row Row) bool { return row.Component == r.Mutant.Component })
		if i < 0 {
			i = len(rows)
			rows = append(rows, Row{Component: r.Mutant.Component})
		}
		rows[i].add(r)
	}
	return rows
}

func (row *Row) add(r Result) {
	row.Total++
	switch {
	case r.Caught():
		row.Caught++
		if r.Elapsed > row.Slowest {
			row.Slowest, row.SlowestName = r.Elapsed, r.Mutant.Name
		}
	case r.Err != nil:
		row.Survivors = append(row.Survivors, r.Err.Error())
	default:
		survivor := fmt.Sprintf("%s: not caught by %s", r.Mutant.ID(), strings.Join(r.Missed, ", "))
		if caught := slices.Sorted(maps.Keys(r.Said)); len(caught) > 0 {
			survivor += ", though by " + strings.Join(caught, ", ")
		}
		row.Survivors = append(row.Survivors, survivor+" ("+r.Mutant.Mistake+")")
	}
}
