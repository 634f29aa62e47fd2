// Package storetest is the conformance suite of contract.Store: the STORE clauses as cases
// that any implementation runs by one call.
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, func(ix contract.Indexers) contract.Store { return mystore.New(ix) })
//	}
//
// There are three kinds of cases:
//
//   - short sequences, one rule each;
//   - random histories, compared with a plain map and shrunk (rapid): short ones on six keys,
//     and long ones of all calls on up to 2,000 objects;
//   - concurrent runs. A single writer counts its writes. Each result of a reader must be
//     the whole content after one of the writes that were under way during the call. Package
//     linear checks histories of several goroutines for linearizability, with a small part of
//     its budget.
//
// Cases for an optional interface that the store lacks (contract.Transactor and the others)
// are skipped, and the result says so. The constructor must return a store of its own each
// time, and may keep the map that it is given.
//
// Cost: a few seconds of two cores at effort 1; it grows with WithEffort.
package storetest

import (
	"regexp"
	"slices"
	"testing"

	"github.com/informerbench/informerbench/conformance/linear"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// linearHistories is the number of histories of each linear case, at effort 1. For a store
// that threads must be able to trust, run package linear by itself too.
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
	suite.Run(t, Cases(), newStore, slices.Concat(legend, opts)...)
}

// Check runs the same cases without testing.T. It returns nil, or an error that
// joins a *suite.Failure per failed case.
func Check(newStore NewStore, opts ...Option) error {
	return suite.Check(Cases(), newStore, slices.Concat(legend, opts)...)
}

// legend explains the names of items.
var legend = []Option{suite.Legend(regexp.MustCompile(`\w#\d+\(`), `k000#1(a x,y)?q is an object: its `+
	`key k000, its version 1, its values a in the index "one", x and y in "many", q in "maybe"; `+
	`!one: the IndexFunc of "one" fails on it; -bare: it has no metadata`)}

// Cases returns the cases. The slice belongs to the caller.
func Cases() []suite.Case[NewStore] {
	return slices.Concat(
		readCases, basicCases, sliceCases, indexCases, replaceCases, indexerCases, addedCases,
		failureCases, callCases, instantCases(), longCases(), historyCases, LongHistories(), linear.Cases(linearHistories),
		restCases,
		transactionCases, versionCases,
		reuseCases, serialCases, linearCases, memoryCases,
	)
}
