// Package informertest says whether an informer keeps the INFORMER clauses of
// package contract: any contract.NewInformer, such as client-go's
// cache.NewSharedIndexInformer, or ours over a store and a FIFO of one's choice.
//
//	func TestMyInformer(t *testing.T) {
//		informertest.Run(t, myinformer.NewSharedIndexInformer)
//	}
//
// The informer is run over a load.Source, an API server in the process, by way of a
// line that can be cut, once with streaming lists and once without. Every case, and
// every history, lives in a testing/synctest bubble of its own: time is virtual,
// whatever clock the informer reads, a quiet moment is one in which all goroutines
// of the bubble wait, and a goroutine that is left behind is seen. So nothing
// depends on how fast the machine is. What the informer draws at random itself, such
// as the jitter of its back-off, is its own; everything else a seed repeats.
//
// INFORMER-29 plays random histories of writes, faults and handlers
// ([Histories] says how many) and reduces what fails to a short one. At the end of a
// whole run it also tells what the cases have seen of clauses other than their own.
//
// While a suite runs, utilruntime.ReallyCrash is off in the whole process, or a
// handler that panics would end it, and utilruntime.ErrorHandlers is empty, because
// the one that slows errors down compares the times of different bubbles.
//
// Cost: a history takes about two milliseconds of one processor, a whole Check with the
// default of 300 histories about two seconds.
package informertest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// Option changes what is tested; package suite has more of them.
type Option = suite.Option

// Waive leaves out a clause; the reason is printed wherever the result is. The random
// histories do not look at it either.
func Waive(clause, reason string) Option { return suite.Waive(clause, reason) }

// Histories sets how many random histories are played. Without it they are 300,
// scaled by the effort. History number i of a run with seed s is the first of a run
// with seed s+i.
func Histories(n int) Option {
	return func(c *suite.Config) {
		if n < 1 {
			c.Refuse(fmt.Errorf("Histories(%d): want one or more", n))
		}
		c.Histories = n
	}
}

// MutationDetecting gives the constructor of an informer that looks for objects which
// were changed after it handed them out, and calls found for each time that it finds
// some. Without it INFORMER-30 is skipped: client-go's detector ends the process.
func MutationDetecting(newInformer func(found func(message string)) contract.NewInformer) Option {
	return func(c *suite.Config) { c.MutationDetecting = newInformer }
}

// env is what a case gets.
type env struct {
	newInformer contract.NewInformer
	passing     *passing
}

func newEnv(newInformer contract.NewInformer) env { return env{newInformer, new(passing)} }

// The last one looks at what the others have seen.
var cases = slices.Concat(stateCases, handlerCases, initialCases, resyncCases, registrationCases, serverCases, troubleCases, lifeCases, historyCases, passingCases)

// Run tests newInformer's informers, a subtest per case.
func Run(t *testing.T, newInformer contract.NewInformer, opts ...Option) {
	t.Helper()
	cfg, err := suite.NewConfig(opts)
	if err != nil {
		t.Fatal(err)
	}
	defer calm()()
	suite.Run(t, cases, newEnv(newInformer), cfg, nil)
}

// Check runs the same cases without testing.T. It returns nil, or an error that
// joins a *suite.Failure per failed case.
func Check(newInformer contract.NewInformer, opts ...Option) error {
	cfg, err := suite.NewConfig(opts)
	if err != nil {
		return err
	}
	defer calm()()
	return suite.Check(cases, newEnv(newInformer), cfg)
}
