// Package keepertest tests whether an object keeper (contract.ObjectKeeper) keeps the OBJECT
// clauses of package contract.
//
//	func TestMyKeeper(t *testing.T) {
//		keepertest.Run(t, func() contract.ObjectKeeper { return mykeeper.New() })
//	}
//
// A whole Check takes some seconds, and collects garbage often.
package keepertest

import (
	"testing"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// Option changes what is tested; package suite has more of them.
type Option = suite.Option

// Waive leaves out a clause; the reason is printed wherever the result is.
func Waive(clause, reason string) Option { return suite.Waive(clause, reason) }

type constructor = func() contract.ObjectKeeper

// Run tests newKeeper's keepers, in a subtest per case. It calls newKeeper for every case and
// random input.
func Run(t *testing.T, newKeeper func() contract.ObjectKeeper, opts ...Option) {
	t.Helper()
	suite.Run(t, cases, newKeeper, opts...)
}

// Check runs the same cases without testing.T. It returns nil, or an error that joins a
// *suite.Failure per failed case.
func Check(newKeeper func() contract.ObjectKeeper, opts ...Option) error {
	return suite.Check(cases, newKeeper, opts...)
}
