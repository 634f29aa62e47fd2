package delaytest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/conformance/internal/pointerheap"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

func newOracle() contract.DelayHeap[string] { return pointerheap.New() }

func TestOraclePasses(t *testing.T) { Run(t, newOracle) }

func TestEveryClauseHasACase(t *testing.T) {
	for _, clause := range contract.ClausesOf(contract.ComponentDelay) {
		if !slices.ContainsFunc(cases, func(c suite.Case[constructor]) bool {
			return c.Clause == clause.ID
		}) {
			t.Errorf("%s has no case", clause)
		}
	}
}

// rounding is a heap as a wheel sees time: every time rounded up to a minute.
type rounding struct{ contract.DelayHeap[string] }

func (r rounding) Add(item string, readyAt time.Time) {
	up := readyAt.Truncate(time.Minute)
	if up.Before(readyAt) {
		up = up.Add(time.Minute)
	}
	r.DelayHeap.Add(item, up)
}

func newRounding() contract.DelayHeap[string] { return rounding{newOracle()} }

func TestInexactTimeIsEnoughForARoundingHeap(t *testing.T) {
	if err := Check(newRounding, InexactTime("rounds to minutes")); err != nil {
		t.Error(err)
	}
	if err := Check(newRounding, suite.Only("DELAY-11")); err == nil {
		t.Error("a rounding heap passes DELAY-11 without the waiver")
	}
}

func TestWrongOptionsAreNamed(t *testing.T) {
	if err := Check(newOracle, Waive("DELAY-99", "no such clause")); err == nil ||
		!strings.Contains(err.Error(), "DELAY-99") {
		t.Errorf("an unknown clause is waived without a word: %v", err)
	}
}

func TestGranularityTakesThePlaceOfExactTime(t *testing.T) {
	ran := map[contract.Capability]bool{}
	observe := suite.WithObserver(func(r suite.Result) {
		if r.Outcome == suite.Pass {
			ran[r.Clause.Capability] = true
		}
	})
	if err := Check(newRounding, Granularity(time.Minute), observe,
		suite.WithEffort(0.3)); err != nil {
		t.Error(err)
	}
	if !ran[contract.CapGranular] || ran[contract.CapExactTime] {
		t.Errorf("cases of %v passed, want those of a granularity and not those of exact times", ran)
	}
	for _, clause := range []string{"DELAY-16", "DELAY-18"} {
		if err := Check(newRounding, Granularity(time.Second), suite.Only(clause)); err == nil {
			t.Errorf("%s: a heap that rounds to minutes passes for one that rounds to seconds", clause)
		}
	}
	for _, g := range []time.Duration{0, -1, time.Hour} {
		if err := Check(newOracle, Granularity(g)); err == nil ||
			!strings.Contains(err.Error(), g.String()) {
			t.Errorf("a granularity of %s is taken without a word: %v", g, err)
		}
	}
}

// busy counts so many steps for each operation.
type busy struct {
	contract.DelayHeap[string]
	steps, each uint64
}

func (b *busy) Add(item string, readyAt time.Time) {
	b.steps += b.each
	b.DelayHeap.Add(item, readyAt)
}

func (b *busy) Next() (time.Time, bool) {
	b.steps += b.each
	return b.DelayHeap.Next()
}

func (b *busy) PopReady(now time.Time) (string, bool) {
	b.steps += b.each
	return b.DelayHeap.PopReady(now)
}

func TestCountedWork(t *testing.T) {
	count := CountedWork(func(h contract.DelayHeap[string]) uint64 {
		return h.(*busy).steps
	}, LogSteps(1))
	for each, sound := range map[uint64]bool{10: true, 1000: false} {
		err := Check(func() contract.DelayHeap[string] {
			return &busy{newOracle(), 0, each}
		}, count, suite.Only("DELAY-15"))
		if (err == nil) != sound {
			t.Errorf("with %d steps for an operation: %v", each, err)
		}
	}
}
