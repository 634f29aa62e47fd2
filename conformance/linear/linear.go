// Package linear checks that a contract.Store is linearizable (STORE-34, STORE-35). Several
// goroutines, the clients, call a fresh store at once. The result of each call is recorded
// with the call's begin and end. porcupine then looks for one order of the calls that
// agrees with real time and explains every result. Without such an order the store is
// wrong.
//
//	func TestLinearizable(t *testing.T) {
//		linear.Run(t, func(ix contract.Indexers) contract.Store { return mystore.New(ix) })
//	}
//
// There are two kinds of histories. Histories by key are long: each call concerns one key,
// and each key is judged by itself. Histories of the whole store are short, on two to four
// keys and one to three indexes. They hold every kind of call and are judged against a
// model of the whole content. So they find a List that shows half a Replace, an index that
// lags behind its objects, and a version that runs ahead of its write. There are many short
// histories: a mistake shows among few calls, and the search for an order stays cheap.
//
// The clients yield (runtime.Gosched) at random places: before calls and, by way of
// IndexFuncs and objects that yield, inside the store. A seed repeats the calls of every
// history; the scheduler decides how they interleave.
//
// A violation is shrunk to few calls (shrink.go says what may be left out and why). Its
// calls are run alone some hundreds of times to find a smaller violation. The smallest is
// listed in the failure and drawn as an HTML page that the failure names. A search for an
// order that takes too long proves nothing: suite.Result.Note counts such histories as
// undecided.
//
// Histories leave out what a store does not promise: optional interfaces that it lacks, and
// the reads of waived clauses (STORE-7 for List, STORE-8 for ListKeys, and so on). If
// STORE-35 is waived, only the histories by key remain.
//
// The clock that orders begins and ends is a counter that all clients share. It
// synchronises the clients, so histories miss mistakes that need its absence; the race
// detector over storetest finds those.
//
// Cost: some 200 microseconds for a short history and a millisecond for a long one, on two
// cores; see BenchmarkHistories. suite.WithEffort multiplies their number. A case ends by
// itself when half of the time that suite.WithCaseTimeout grants is over, and says so: a
// run of minutes is WithEffort(1e6) with WithCaseTimeout(10 * time.Minute).
package linear

import (
	"testing"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// NewStore constructs the store under test, with the given indexers. It must return a new
// store each time.
type NewStore = func(contract.Indexers) contract.Store

// Option changes how the check runs; see package suite for more of them.
type Option = suite.Option

// Waive leaves out a clause; the reason is printed wherever the result is.
func Waive(clause, reason string) Option { return suite.Waive(clause, reason) }

// WithDrawings chooses the directory for the pages that draw violations. The directory is
// made if it does not exist. Without this option the pages go to os.TempDir().
func WithDrawings(dir string) Option {
	return suite.Setting(func(s *settings) { s.drawings = dir })
}

type settings struct{ drawings string }

// budget is the number of short histories of a case at effort 1.
const budget = 1000

// Run runs every case as a subtest named clause/case.
func Run(t *testing.T, newStore NewStore, opts ...Option) {
	t.Helper()
	suite.Run(t, Cases(budget), newStore, opts...)
}

// Check runs the same cases without testing.T. It returns nil, or an error that
// joins a *suite.Failure per failed case.
func Check(newStore NewStore, opts ...Option) error {
	return suite.Check(Cases(budget), newStore, opts...)
}

// Cases returns the cases, for a suite that holds them among its own. A case plays the
// given number of histories at effort 1. The slice belongs to the caller.
func Cases(histories int) []suite.Case[NewStore] {
	cases := make([]suite.Case[NewStore], len(plans))
	for i, p := range plans {
		cases[i] = suite.Case[NewStore]{Clause: p.clause, Name: p.name, Why: p.why,
			Run: func(t *suite.T, newStore NewStore) { p.run(t, newStore, histories) }}
	}
	return cases
}
