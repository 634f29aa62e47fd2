// Package limittest tests whether a rate limiter keeps the LIMIT clauses of package
// contract, which hold for every limiter, whatever its delays. The promises of one kind of
// limiter belong in its own tests.
//
//	func TestMyLimiter(t *testing.T) {
//		limittest.Run(t, func() contract.RateLimiter[string] { return mylimiter.New[string]() })
//	}
//
// A whole Check takes well under a second and waits for no delay.
package limittest

import (
	"testing"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// Option changes what is tested; package suite has more of them.
type Option = suite.Option

// Waive leaves out a clause; the reason is printed wherever the result is.
func Waive(clause, reason string) Option { return suite.Waive(clause, reason) }

type constructor = func() contract.RateLimiter[string]

// Run tests newLimiter's limiters, in a subtest per case. It calls newLimiter for every
// case and history.
func Run(t *testing.T, newLimiter func() contract.RateLimiter[string], opts ...Option) {
	t.Helper()
	suite.Run(t, cases, newLimiter, opts...)
}

// Check runs the same cases without testing.T. It returns nil, or an error that
// joins a *suite.Failure per failed case.
func Check(newLimiter func() contract.RateLimiter[string], opts ...Option) error {
	return suite.Check(cases, newLimiter, opts...)
}
