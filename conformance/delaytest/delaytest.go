// Package delaytest says whether a structure of waiting items keeps the DELAY
// clauses of package contract.
//
//	func TestMyHeap(t *testing.T) {
//		delaytest.Run(t, func() contract.DelayHeap[string] { return myheap.New[string]() })
//	}
//
// The core clauses leave room for a structure that rounds times up, as a timing
// wheel does: their cases keep times a minute and more apart. The clauses of
// contract.CapExactTime are for structures that keep times exactly; a wheel
// waives them with [InexactTime].
//
// A whole Check takes well under a second.
package delaytest

import (
	"slices"
	"testing"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// Option changes what is tested; package suite has more of them.
type Option = suite.Option

// Waive leaves out a clause; the reason is printed wherever the result is.
func Waive(clause, reason string) Option { return suite.Waive(clause, reason) }

// InexactTime waives every clause of contract.CapExactTime, for a structure that
// rounds times up to a granularity of at most a minute.
func InexactTime(reason string) Option {
	return func(c *suite.Config) {
		for _, clause := range contract.ClausesOf(contract.ComponentDelay) {
			if clause.Capability == contract.CapExactTime {
				Waive(clause.ID, reason)(c)
			}
		}
	}
}

type constructor = func() contract.DelayHeap[string]

var cases = slices.Concat(coreCases, exactCases)

// Run tests newHeap's heaps, a subtest per case. newHeap is called for every
// case and history; the heaps are used by one goroutine each.
func Run(t *testing.T, newHeap func() contract.DelayHeap[string], opts ...Option) {
	t.Helper()
	cfg, err := suite.NewConfig(opts)
	if err != nil {
		t.Fatal(err)
	}
	suite.Run(t, cases, newHeap, cfg, nil)
}

// Check runs the same cases without testing.T. It returns nil, or an error that
// joins a *suite.Failure per failed case.
func Check(newHeap func() contract.DelayHeap[string], opts ...Option) error {
	cfg, err := suite.NewConfig(opts)
	if err != nil {
		return err
	}
	return suite.Check(cases, newHeap, cfg)
}
