// Package informertest tests whether an informer keeps the INFORMER clauses of package
// contract. It takes any contract.NewInformer, such as client-go's
// cache.NewSharedIndexInformer, or this project's over any store and FIFO.
//
//	func TestMyInformer(t *testing.T) {
//		informertest.Run(t, myinformer.NewSharedIndexInformer)
//	}
//
// The informer runs over a synthetic.Source, an API server in the process, through a connection
// that can be cut. Every case runs once with streaming lists and once without. Every case
// and every history has a testing/synctest bubble of its own, so nothing depends on the
// speed of the machine. Time is virtual, whatever clock the informer reads. At a quiet
// moment all goroutines of the bubble wait. A goroutine that is left behind is found. A
// seed repeats everything except the informer's own random choices, such as the jitter of
// its back-off.
//
// A bubble allows only channels and timers that were made in it, and waits for every goroutine
// that was started in it. So neither Run nor Check can test an informer whose package keeps
// channels or timers in a sync.Pool, or runs one goroutine for the whole process. Give each
// informer a pool of its own.
//
// INFORMER-29 plays random histories of writes, faults and handlers ([Histories] sets their
// number) and reduces a failing one to a short one. At the end of a whole run it also
// reports the problems that cases saw of clauses other than their own.
//
// While a suite runs, utilruntime.ReallyCrash is off in the whole process: a handler that
// panics would otherwise end the process. Where [Waive] leaves out INFORMER-17, no handler
// panics, not in random histories either. utilruntime.ErrorHandlers is empty, because the
// handler that slows errors down compares the times of different bubbles.
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
// histories do not report problems of that clause either.
func Waive(clause, reason string) Option { return suite.Waive(clause, reason) }

// settings are what the options say of the informer and its histories.
type settings struct {
	histories         int // 0 if the effort decides
	mutationDetecting func(found func(message string)) contract.NewInformer
}

// Histories sets the number of random histories. Without it there are 300, scaled by the
// effort. History number i of a run with seed s is the first of a run with seed s+i.
func Histories(n int) Option {
	return func(c *suite.Config) {
		if n < 1 {
			c.Refuse(fmt.Errorf("Histories(%d): want one or more", n))
		}
		suite.Setting(func(s *settings) { s.histories = n })(c)
	}
}

// MutationDetecting sets the constructor of an informer that detects objects changed after
// it handed them out. The informer calls found each time that it finds some. Without this
// option INFORMER-30 is skipped: client-go's detector ends the process.
func MutationDetecting(newInformer func(found func(message string)) contract.NewInformer) Option {
	return suite.Setting(func(s *settings) { s.mutationDetecting = newInformer })
}

// env holds the constructor and the shared state of the cases.
type env struct {
	newInformer contract.NewInformer
	passing     *passing
}

func newEnv(newInformer contract.NewInformer) env { return env{newInformer, new(passing)} }

// The last group reports the problems that the others saw.
var cases = slices.Concat(stateCases, handlerCases, initialCases, resyncCases, registrationCases,
	serverCases, troubleCases, lifeCases, historyCases, passingCases)

// Run tests newInformer's informers, in a subtest per case.
func Run(t *testing.T, newInformer contract.NewInformer, opts ...Option) {
	t.Helper()
	defer calm()()
	suite.Run(t, cases, newEnv(newInformer), opts...)
}

// Check runs the same cases without testing.T. It returns nil, or an error that
// joins a *suite.Failure per failed case.
func Check(newInformer contract.NewInformer, opts ...Option) error {
	defer calm()()
	return suite.Check(cases, newEnv(newInformer), opts...)
}
