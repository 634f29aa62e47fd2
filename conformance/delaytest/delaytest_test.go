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
		if !slices.ContainsFunc(cases, func(c suite.Case[constructor]) bool { return c.Clause == clause.ID }) {
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
	if err := Check(newOracle, Waive("DELAY-99", "no such clause")); err == nil || !strings.Contains(err.Error(), "DELAY-99") {
		t.Errorf("an unknown clause is waived without a word: %v", err)
	}
}
