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

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/conformance/delaytest"
	"github.com/informerbench/informerbench/conformance/fifotest"
	"github.com/informerbench/informerbench/conformance/informertest"
	"github.com/informerbench/informerbench/conformance/keepertest"
	"github.com/informerbench/informerbench/conformance/limittest"
	"github.com/informerbench/informerbench/conformance/linear"
	"github.com/informerbench/informerbench/conformance/queuetest"
	"github.com/informerbench/informerbench/conformance/storetest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// Mutant is one broken implementation. The constructor of its component is set;
// it may be called by many goroutines at once.
type Mutant struct {
	Component contract.Component
	// Name is unique within the component.
	Name string
	// Mistake is one line: what was done, or forgotten.
	Mistake string
	// Clauses are the numbers of those that must catch it, each by itself. Others
	// may catch it too.
	Clauses []string
	// Link is where the mistake was made in the field; "" if it is made up.
	Link string
	// Hangs says that the mistake shows as a call that never returns, which suite.Guard
	// finds and nothing else.
	Hangs bool
	// FIFOClass is the class that a FIFO claims to be.
	FIFOClass contract.FIFOClass
	// Granularity is what a delay heap claims to round times up to; 0 if it claims to
	// keep them.
	Granularity time.Duration
	// Steps reads how many steps a delay heap has taken; nil if it does not count.
	Steps func(contract.DelayHeap[string]) uint64
	// Unlocked says that a FIFO claims that producers never wait for process.
	Unlocked bool

	NewStore   func(contract.Indexers) contract.Store
	NewFIFO    func(contract.FIFOConfig) contract.FIFO
	NewDelay   func() contract.DelayHeap[string]
	NewQueue   func(clock.WithTicker) contract.DelayingQueue[string]
	NewLimiter func() contract.RateLimiter[string]
	NewKeeper  func() contract.ObjectKeeper
	// NewConfiguredQueue is set for queues whose mistake is in what they do with their
	// configuration.
	NewConfiguredQueue func(contract.QueueConfig) contract.DelayingQueue[string]
	// NewInformer is set for informers.
	NewInformer contract.NewInformer
	// MutationDetecting is set for informers whose mistake is in how they look for changed
	// objects.
	MutationDetecting func(found func(message string)) contract.NewInformer
	// NewTransformingFIFO is set for FIFOs whose mistake is in how they transform.
	NewTransformingFIFO func(contract.FIFOConfig, contract.TransformFunc) contract.FIFO
}

// ID is component/name.
func (m Mutant) ID() string { return string(m.Component) + "/" + m.Name }

// All returns every mutant, component by component. The slice belongs to the caller.
func All() []Mutant {
	return slices.Concat(Stores(), FIFOs(), Heaps(), Queues(), Limiters(), Informers(), Keepers())
}

// Check runs the suite of the mutant's component over it, as that suite's Check
// does. The error names what was caught; nil means that nothing was.
func (m Mutant) Check(opts ...suite.Option) error {
	switch m.Component {
	case contract.ComponentStore:
		return storetest.Check(m.NewStore, opts...)
	case contract.ComponentFIFO:
		if m.NewTransformingFIFO != nil {
			opts = append(slices.Clone(opts), fifotest.NewTransforming(m.NewTransformingFIFO))
		}
		if m.Unlocked {
			opts = append(slices.Clone(opts), fifotest.Unlocked())
		}
		return fifotest.Check(m.NewFIFO, append(slices.Clone(opts), fifotest.Class(m.FIFOClass))...)
	case contract.ComponentDelay:
		if m.Granularity > 0 {
			opts = append(slices.Clone(opts), delaytest.Granularity(m.Granularity))
		}
		if m.Steps != nil {
			opts = append(slices.Clone(opts), delaytest.CountedWork(m.Steps, delaytest.LogSteps(4)))
		}
		return delaytest.Check(m.NewDelay, opts...)
	case contract.ComponentQueue:
		if m.NewConfiguredQueue != nil {
			opts = append(slices.Clone(opts), queuetest.NewConfigured(m.NewConfiguredQueue))
		}
		return queuetest.Check(m.NewQueue, opts...)
	case contract.ComponentLimiter:
		return limittest.Check(m.NewLimiter, opts...)
	case contract.ComponentObjects:
		return keepertest.Check(m.NewKeeper, opts...)
	case contract.ComponentInformer:
		if m.MutationDetecting != nil {
			opts = append(slices.Clone(opts), informertest.MutationDetecting(m.MutationDetecting))
		}
		for _, clause := range brokenByClientGo {
			if !slices.Contains(m.Clauses, clause) {
				opts = append(slices.Clone(opts),
					informertest.Waive(clause,
						"client-go's informer, which the mutants are made of, does not keep it"))
			}
		}
		return informertest.Check(m.NewInformer, opts...)
	}
	return fmt.Errorf("%s: no suite for component %q", m.ID(), m.Component)
}

// brokenByClientGo are the clauses that client-go's informer does not keep.
var brokenByClientGo = []string{"INFORMER-31", "INFORMER-33", "INFORMER-36"}

// caseTimeout bounds one case. A case that gets no further gives up after a tenth of
// it, and rapid has a quarter of it to shrink what it found.
const caseTimeout = 10 * time.Second

// Where the real mistakes were made. GitHub leads from the number of an issue to
// the pull request of that number too.
const (
	inKubernetes        = "https://github.com/kubernetes/kubernetes/issues/"
	inControllerRuntime = "https://github.com/kubernetes-sigs/controller-runtime/issues/"
	inFabric8           = "https://github.com/fabric8io/kubernetes-client/issues/"
)

// real notes where the mistake was made.
func (m Mutant) real(where, number string) Mutant {
	m.Link = where + number
	return m
}

// hangs notes that the mistake shows as a call that does not return.
func (m Mutant) hangs() Mutant {
	m.Hangs = true
	return m
}

// mutant fills in what all have; clauses are separated by spaces.
func mutant(c contract.Component, name, mistake, clauses string) Mutant {
	return Mutant{Component: c, Name: name, Mistake: mistake, Clauses: strings.Fields(clauses)}
}

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
// tried again as suite.UntilCaught says, and all with the same new seed: rapid is configured
// for the whole process. One component is done with before the next is begun: broken informers
// leave goroutines behind that allocate for as long as the process lives, which hides the memory
// that a broken heap keeps. It ends early, with what was found, when ctx does. Suites with other
// seeds must not run at the same time.
func Try(ctx context.Context, list []Mutant) []Result {
	// Every mutant is to fail, so the drawings of its failures go with the folder.
	drawings, err := os.MkdirTemp("", "mutants-")
	if err == nil {
		defer func() { _ = os.RemoveAll(drawings) }()
	}
	results := make([]Result, len(list))
	for i, m := range list {
		results[i] = Result{Mutant: m, Said: map[string]string{}, Missed: slices.Clone(m.Clauses)}
	}
	for _, part := range byComponent(results) {
		_ = suite.UntilCaught(firstEffort, func(attempt suite.Option) error {
			tryOnce(ctx, part, attempt, linear.WithDrawings(drawings))
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
