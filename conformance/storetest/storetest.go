// Package storetest is the conformance suite of contract.Store: the STORE
// clauses as cases that any implementation runs through one door.
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, func(ix contract.Indexers) contract.Store { return mystore.New(ix) })
//	}
//
// Three kinds of cases: short sequences, one rule each; random histories
// compared after every step with a plain map (rapid, shrinking); and concurrent
// runs, judged by what was possible and not by luck. In those, a single writer
// counts its writes, so each result of a reader must be the whole content after
// one of the writes that were under way during the call; and histories of several
// goroutines are checked for linearizability (package linear, with a small part of
// its budget).
//
// A power that the store lacks (contract.Transactor and the others) is skipped
// and said so. The constructor must return a store of its own each time; the map
// that it is given is its to keep.
//
// Cost: a few seconds of two cores at effort 1; it grows with WithEffort.
package storetest

import (
	"slices"
	"testing"

	"github.com/informerbench/informerbench/conformance/linear"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// linearHistories is the number of histories of each linear case, at effort 1. A
// store that is to be trusted with threads runs package linear by itself.
const linearHistories = 200

// NewStore constructs the store under test, with the given indexers.
type NewStore = func(contract.Indexers) contract.Store

// Option changes how the suite runs; see package suite for more of them.
type Option = suite.Option

// Waive leaves out a clause; the reason is printed wherever the result is.
func Waive(clause, reason string) Option { return suite.Waive(clause, reason) }

// Run runs every case as a subtest named clause/case.
func Run(t *testing.T, newStore NewStore, opts ...Option) {
	t.Helper()
	cfg, err := suite.NewConfig(opts)
	if err != nil {
		t.Fatal(err)
	}
	suite.Run(t, Cases(), newStore, cfg, nil)
}

// Check runs the same cases without testing.T. It returns nil, or an error that
// joins a *suite.Failure per failed case.
func Check(newStore NewStore, opts ...Option) error {
	cfg, err := suite.NewConfig(opts)
	if err != nil {
		return err
	}
	return suite.Check(Cases(), newStore, cfg)
}

// Cases returns the cases. The slice belongs to the caller.
func Cases() []suite.Case[NewStore] {
	return slices.Concat(
		basicCases, sliceCases, indexCases, replaceCases, indexerCases, addedCases, failureCases, callCases,
		instantCases(), longCases(), historyCases, linear.Cases(linearHistories), restCases, transactionCases, versionCases,
		reuseCases, serialCases, linearCases,
	)
}
