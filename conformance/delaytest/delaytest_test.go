package delaytest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

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

// mutant is the oracle with some of its methods replaced.
type mutant struct {
	*oracle
	add      func(o *oracle, item string, readyAt time.Time)
	popReady func(o *oracle, now time.Time) (string, bool)
	next     func(o *oracle) (time.Time, bool)
	length   func(o *oracle) int
}

func (m mutant) Add(item string, readyAt time.Time) {
	if m.add != nil {
		m.add(m.oracle, item, readyAt)
		return
	}
	m.oracle.Add(item, readyAt)
}

func (m mutant) PopReady(now time.Time) (string, bool) {
	if m.popReady != nil {
		return m.popReady(m.oracle, now)
	}
	return m.oracle.PopReady(now)
}

func (m mutant) Next() (time.Time, bool) {
	if m.next != nil {
		return m.next(m.oracle)
	}
	return m.oracle.Next()
}

func (m mutant) Len() int {
	if m.length != nil {
		return m.length(m.oracle)
	}
	return m.oracle.Len()
}

func TestMistakesAreCaught(t *testing.T) {
	kept := []string{}
	mistakes := []struct {
		name   string
		clause string
		mutant mutant
	}{
		{"hands out early", "DELAY-1", mutant{popReady: func(o *oracle, now time.Time) (string, bool) {
			return o.PopReady(now.Add(2 * time.Minute))
		}}},
		{"drops what is due already", "DELAY-2", mutant{add: func(o *oracle, item string, readyAt time.Time) {
			if readyAt.After(at(5)) {
				o.Add(item, readyAt)
			}
		}}},
		{"comes twice", "DELAY-2", mutant{popReady: func(o *oracle, now time.Time) (string, bool) {
			item, ok := o.PopReady(now)
			if ok && item == "7" && now.Before(at(990)) {
				o.Add(item, at(995))
			}
			return item, ok
		}}},
		{"keeps the later time", "DELAY-3", mutant{add: func(o *oracle, item string, readyAt time.Time) {
			if w, ok := o.known[item]; ok && readyAt.After(w.readyAt) {
				w.readyAt = readyAt
				heapFix(o, w)
				return
			}
			o.Add(item, readyAt)
		}}},
		{"keeps the first time", "DELAY-3", mutant{add: func(o *oracle, item string, readyAt time.Time) {
			if _, ok := o.known[item]; !ok {
				o.Add(item, readyAt)
			}
		}}},
		{"counts one too many", "DELAY-4", mutant{length: func(o *oracle) int { return o.Len() + 1 }}},
		{"next of an empty heap", "DELAY-5", mutant{next: func(o *oracle) (time.Time, bool) {
			next, ok := o.Next()
			return next.Add(1), ok
		}}},
		{"remembers the old time", "DELAY-6", mutant{popReady: func(o *oracle, now time.Time) (string, bool) {
			if len(o.heap) == 0 || o.heap[0].readyAt.After(now) {
				return "", false
			}
			w := popFirst(o) // and o.known still has w
			o.known[w.item] = w
			return w.item, true
		}}},
		{"next too early", "DELAY-7", mutant{next: func(o *oracle) (time.Time, bool) {
			next, ok := o.Next()
			return next.Add(-time.Minute), ok
		}}},
		{"times as 64-bit nanoseconds", "DELAY-8", mutant{add: func(o *oracle, item string, readyAt time.Time) {
			o.Add(item, time.Unix(0, readyAt.UnixNano()))
		}}},
		{"keeps popped items", "DELAY-9", mutant{popReady: func(o *oracle, now time.Time) (string, bool) {
			item, ok := o.PopReady(now)
			kept = append(kept, item)
			return item, ok
		}}},
		{"equal is not ready", "DELAY-10", mutant{popReady: func(o *oracle, now time.Time) (string, bool) {
			return o.PopReady(now.Add(-1))
		}}},
		{"no sift after a move", "DELAY-11", mutant{add: func(o *oracle, item string, readyAt time.Time) {
			if w, ok := o.known[item]; ok && readyAt.Before(w.readyAt) {
				w.readyAt = readyAt
				return
			}
			o.Add(item, readyAt)
		}}},
		{"next of the last added", "DELAY-12", mutant{next: func(o *oracle) (time.Time, bool) {
			if len(o.heap) == 0 {
				return time.Time{}, false
			}
			return o.heap[len(o.heap)-1].readyAt, true
		}}},
	}
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			err := Check(func() contract.DelayHeap[string] {
				fresh := m.mutant
				fresh.oracle = newOracle().(*oracle)
				return fresh
			}, suite.Only(m.clause), suite.WithCaseTimeout(10*time.Second))
			var failure *suite.Failure
			if !errors.As(err, &failure) || failure.Clause.ID != m.clause || strings.Contains(failure.Reason, "still running") {
				t.Errorf("want a failure of %s that says what was seen, got %v", m.clause, err)
			}
		})
	}
	if len(kept) == 0 {
		t.Error("the mutant that keeps items was never asked for one")
	}
}

func TestWrongOptionsAreNamed(t *testing.T) {
	if err := Check(newOracle, Waive("DELAY-99", "no such clause")); err == nil || !strings.Contains(err.Error(), "DELAY-99") {
		t.Errorf("an unknown clause is waived without a word: %v", err)
	}
}
