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
// states its [Granularity] and is held to those of contract.CapGranular.
//
// A whole Check takes a second or two, ten under the race detector. It forces some
// forty garbage collections, to see what memory is kept.
package delaytest

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// Option changes what is tested; package suite has more of them.
type Option = suite.Option

// Waive leaves out a clause; the reason is printed wherever the result is.
func Waive(clause, reason string) Option { return suite.Waive(clause, reason) }

// InexactTime waives every clause of contract.CapExactTime, for a structure that
// rounds times up to a granularity of at most a minute, which it does not state.
func InexactTime(reason string) Option {
	return func(c *suite.Config) {
		for _, clause := range contract.ClausesOf(contract.ComponentDelay) {
			if clause.Capability == contract.CapExactTime {
				Waive(clause.ID, reason)(c)
			}
		}
	}
}

// settings are what the options say of the structure.
type settings struct {
	granularity time.Duration                           // 0 if it keeps times exactly
	steps       func(contract.DelayHeap[string]) uint64 // nil if it counts none
	bound       func(waiting int) float64
}

func settingsOf(t *suite.T) settings { return suite.Settings[settings](t.Config()) }

// maxGranularity is what the times of the core clauses leave room for.
const maxGranularity = time.Minute

// Granularity is for a structure that rounds times up, each by less than g: the clauses
// of contract.CapGranular take the place of those of contract.CapExactTime. g is above 0
// and at most a minute.
func Granularity(g time.Duration) Option {
	return func(c *suite.Config) {
		if g <= 0 || g > maxGranularity {
			c.Refuse(fmt.Errorf("Granularity(%s): want more than 0 and at most %s", g, maxGranularity))
			return
		}
		suite.Setting(func(s *settings) { s.granularity = g })(c)
		InexactTime(fmt.Sprintf("times are rounded up to %s", g))(c)
	}
}

// CountedWork is for a structure that counts its steps: levels of a heap, items moved,
// cells looked at. steps reads the count since the structure was made; bound is how many steps an
// operation may take, on average over some ten thousand, while so many wait, such as
// [LogSteps] of a number.
func CountedWork(steps func(contract.DelayHeap[string]) uint64,
	bound func(waiting int) float64) Option {
	return suite.Setting(func(s *settings) { s.steps, s.bound = steps, bound })
}

// LogSteps bounds the steps by perDoubling for each doubling of what waits, and ten times
// that for each operation.
func LogSteps(perDoubling float64) (bound func(waiting int) float64) {
	return func(waiting int) float64 { return perDoubling * (10 + math.Log2(float64(waiting+1))) }
}

type constructor = func() contract.DelayHeap[string]

var cases = slices.Concat(coreCases, extremeCases, exactCases, granularCases, memoryCases,
	workCases, manyCases, removeCases, arrivalCases)

// check makes a case. why says what goes wrong in the field when the case fails.
func check(clause, name, why string,
	run func(t *suite.T, newHeap constructor)) suite.Case[constructor] {
	return suite.Case[constructor]{Clause: clause, Name: name, Why: why, Run: run}
}

// Run tests newHeap's heaps, a subtest per case. newHeap is called for every
// case and history; the heaps are used by one goroutine each.
func Run(t *testing.T, newHeap func() contract.DelayHeap[string], opts ...Option) {
	t.Helper()
	suite.Run(t, cases, newHeap, opts...)
}

// Check runs the same cases without testing.T. It returns nil, or an error that
// joins a *suite.Failure per failed case.
func Check(newHeap func() contract.DelayHeap[string], opts ...Option) error {
	return suite.Check(cases, newHeap, opts...)
}
