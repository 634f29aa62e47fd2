package fifotest

// The entry points of the package, and its options.

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

type (
	// Option changes what is tested.
	Option = suite.Option

	newFIFO   = func(contract.FIFOConfig) contract.FIFO
	fifoCase  = suite.Case[newFIFO]
	fifoCases = []fifoCase
)

// Waive leaves out a clause; the reason is printed with every result.
func Waive(clause, reason string) Option { return suite.Waive(clause, reason) }

// settings are what the options say of the FIFO.
type settings struct {
	class           contract.FIFOClass // "" means contract.Coalescing; see classOf
	unlocked        bool
	newTransforming func(contract.FIFOConfig, contract.TransformFunc) contract.FIFO
}

func settingsOf(t *suite.T) settings { return suite.Settings[settings](t.Config()) }

// classOf is the class of the FIFO under test.
func classOf(c suite.Config) contract.FIFOClass {
	return cmp.Or(suite.Settings[settings](c).class, contract.Coalescing)
}

// Class sets the class that the FIFO claims to be; without it, contract.Coalescing.
//
// A FIFO of class InOrder must accept nil KnownObjects. One of class InOrderAtomic must
// accept KnownObjects and not use it.
func Class(class contract.FIFOClass) Option {
	return func(c *suite.Config) {
		if !slices.Contains(contract.FIFOClasses(), class) {
			c.Refuse(fmt.Errorf("Class(%q): want one of %v", class, contract.FIFOClasses()))
		}
		suite.Setting(func(s *settings) { s.class = class })(c)
	}
}

// Unlocked says that no lock is held while process runs, so that the clauses of
// contract.CapUnlocked are tested; without it they are skipped.
func Unlocked() Option { return suite.Setting(func(s *settings) { s.unlocked = true }) }

// NewTransforming sets the constructor of the same FIFO with a transformer. Without it the
// clauses of contract.CapTransform are skipped.
func NewTransforming(
	construct func(contract.FIFOConfig, contract.TransformFunc) contract.FIFO) Option {
	return suite.Setting(func(s *settings) { s.newTransforming = construct })
}

// Run tests the FIFOs that newFIFO constructs, in a subtest for each case. Each call of
// newFIFO must return a new, empty FIFO.
func Run(t *testing.T, newFIFO func(contract.FIFOConfig) contract.FIFO, opts ...Option) {
	t.Helper()
	suite.Run(t, cases(), newFIFO, opts...)
}

// Check runs the same cases as Run without testing.T. It returns nil, or an error
// that joins a *suite.Failure for each case that failed.
func Check(newFIFO func(contract.FIFOConfig) contract.FIFO, opts ...Option) error {
	return suite.Check(cases(), newFIFO, opts...)
}

// check makes a case. why says what goes wrong in the field when the case fails.
func check(clause, name, why string, run func(t *suite.T, construct newFIFO)) fifoCase {
	return fifoCase{Clause: clause, Name: name, Why: why, Run: run}
}

// on makes a case of one FIFO. If knows is nil, so are its KnownObjects.
func on(clause, name, why string, knows []*object, run func(b *fixture)) fifoCase {
	return check(clause, name, why, func(t *suite.T, construct newFIFO) {
		if knows == nil {
			run(setUp(t, construct, nil))
		} else {
			run(setUp(t, construct, known(knows...)))
		}
	})
}

func cases() fifoCases {
	return slices.Concat(coreCases, keyCases, initialCases, coalescingCases, relistCases,
		inOrderCases, batchCases, keyedCases, transformCases, historyCases, concurrentCases, crowdCases,
		inFlightCases, memoryCases)
}
