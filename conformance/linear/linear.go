// Package linear checks that a contract.Store is linearizable (STORE-34,
// STORE-35): several goroutines, its clients, call a fresh store at once, what
// each call returned is recorded with the begin and the end of the call, and
// porcupine looks for one order of the calls that agrees with real time and
// explains every result. Without such an order the store is wrong.
//
//	func TestLinearizable(t *testing.T) {
//		linear.Run(t, func(ix contract.Indexers) contract.Store { return mystore.New(ix) })
//	}
//
// There are two kinds of histories. Those by key are long, of calls that concern
// one key each, and each key is judged by itself. Those of the whole store are
// short, on two to four keys and one to three indexes, of every call there is,
// against a model of the whole content, so that a List that shows half a Replace,
// an index that lags behind its objects and a version that runs ahead of its
// write are found. Short histories are many: one that shows a mistake has few
// calls around it, and the search for an order stays cheap.
//
// The clients make way for each other (runtime.Gosched) at random places, before
// calls and, by IndexFuncs and objects that do so, inside the store. A seed
// repeats the calls of every history; when they meet is the scheduler's choice.
//
// A violation is shrunk to few calls (see shrink.go for what may be left out and
// why), its calls are run alone some hundreds of times for a smaller one, and the
// smallest is listed in the failure and drawn as an HTML page that the failure
// names. A search for an order that takes too long proves nothing: such histories
// are counted and named undecided in suite.Result.Note.
//
// What a store does not promise is left out of the histories: powers that it
// lacks, and the reads of the clauses that are waived (STORE-7 for List, STORE-8
// for ListKeys, and so on). Waiving STORE-35 leaves the histories by key.
//
// The clock that orders begins and ends is a counter that all clients share, so
// histories do not show what only shows without such a synchronisation; the race
// detector over storetest does.
//
// Cost: some 200 microseconds for a short history and a millisecond for a long one,
// on two cores; see BenchmarkHistories. suite.WithEffort multiplies their number. A case ends by
// itself when half of the time that suite.WithCaseTimeout grants is over, and says
// so: a run of minutes is WithEffort(1e6) with WithCaseTimeout(10 * time.Minute).
package linear

import (
	"testing"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// NewStore constructs the store under test, with the given indexers. It must give
// a store of its own each time.
type NewStore = func(contract.Indexers) contract.Store

// Option changes how the check runs; see package suite for more of them.
type Option = suite.Option

// Waive leaves out a clause; the reason is printed wherever the result is.
func Waive(clause, reason string) Option { return suite.Waive(clause, reason) }

// WithDrawings chooses the directory of the pages that violations are drawn in. It
// is made if it is not there. Without this option they go to os.TempDir().
func WithDrawings(dir string) Option { return func(c *suite.Config) { c.Drawings = dir } }

// budget is the number of short histories of a case at effort 1.
const budget = 1000

// Run runs every case as a subtest named clause/case.
func Run(t *testing.T, newStore NewStore, opts ...Option) {
	t.Helper()
	cfg, err := suite.NewConfig(opts)
	if err != nil {
		t.Fatal(err)
	}
	suite.Run(t, Cases(budget), newStore, cfg, nil)
}

// Check runs the same cases without testing.T. It returns nil, or an error that
// joins a *suite.Failure per failed case.
func Check(newStore NewStore, opts ...Option) error {
	cfg, err := suite.NewConfig(opts)
	if err != nil {
		return err
	}
	return suite.Check(Cases(budget), newStore, cfg)
}

// Cases returns the cases, for a suite that holds them among its own, with so many
// histories each at effort 1. The slice belongs to the caller.
func Cases(histories int) []suite.Case[NewStore] {
	cases := make([]suite.Case[NewStore], len(plans))
	for i, p := range plans {
		cases[i] = suite.Case[NewStore]{Clause: p.clause, Name: p.name, Why: p.why, Run: func(t *suite.T, newStore NewStore) {
			p.run(t, newStore, histories)
		}}
	}
	return cases
}
