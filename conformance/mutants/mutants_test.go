package mutants

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/contract"
)

// Every mutant is caught by each clause that it names. Some of them leave
// goroutines behind for good, which is their mistake, so goleak has no place here.
func TestEveryMutantIsCaught(t *testing.T) {
	results := Try(t.Context(), All())
	for _, row := range Score(results) {
		t.Log(row)
		for _, survivor := range row.Survivors {
			t.Error(survivor)
		}
	}
	for _, r := range results {
		for clause, said := range r.Said {
			if first, _, _ := strings.Cut(said, "\n"); testing.Verbose() {
				t.Logf("%s, %s (%.1fs): %s", r.Mutant.ID(), clause, r.Elapsed.Seconds(), first)
			}
		}
	}
}

// A clause that no mutant breaks was never seen to catch anything.
func TestEveryClauseHasAMutant(t *testing.T) {
	t.Parallel()
	all := All()
	for _, clause := range contract.Clauses() {
		if !slices.ContainsFunc(all, func(m Mutant) bool {
			return slices.Contains(m.Clauses, clause.ID)
		}) {
			t.Errorf("no mutant breaks %s", clause)
		}
	}
}

func TestTablesAreWhole(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, m := range All() {
		if seen[m.ID()] {
			t.Errorf("two mutants are called %s", m.ID())
		}
		seen[m.ID()] = true
		if m.Name == "" || m.Mistake == "" || len(m.Clauses) == 0 || strings.Contains(m.Mistake, "\n") {
			t.Errorf("%s: a mutant has a name, its mistake in one line, and a clause", m.ID())
		}
		for _, id := range m.Clauses {
			if clause, err := contract.LookupClause(id); err != nil || clause.Component != m.Component {
				t.Errorf("%s: %s is no clause of a %s (%v)", m.ID(), id, m.Component, err)
			}
		}
		if m.Link != "" && !strings.HasPrefix(m.Link, "https://github.com/") {
			t.Errorf("%s: %q is no link to where the mistake was made", m.ID(), m.Link)
		}
		constructors := map[contract.Component]bool{
			contract.ComponentStore: m.NewStore != nil, contract.ComponentFIFO: m.NewFIFO != nil,
			contract.ComponentDelay: m.NewDelay != nil,
			contract.ComponentQueue: m.NewQueue != nil, contract.ComponentLimiter: m.NewLimiter != nil,
			contract.ComponentInformer: m.NewInformer != nil, contract.ComponentObjects: m.NewKeeper != nil,
		}
		for c, set := range constructors {
			if set != (c == m.Component) {
				t.Errorf("%s: the constructor of a %s is set: %v", m.ID(), c, set)
			}
		}
	}
}

// healthy is a limiter in a mutant's clothes.
func healthy() Mutant {
	m := mutant(contract.ComponentLimiter, "healthy", "none at all", "LIMIT-2 LIMIT-5")
	m.NewLimiter = func() contract.RateLimiter[string] { return newCounter() }
	return m
}

func TestScoreNamesTheSurvivors(t *testing.T) {
	half := healthy()
	half.Name = "half caught"
	half.NewLimiter = func() contract.RateLimiter[string] {
		c := newCounter()
		c.count = func(n int) int { return n + 1 }
		return c
	}
	half.Clauses = []string{"LIMIT-1", "LIMIT-2"}
	nowhere := healthy()
	nowhere.Component, nowhere.Clauses = "cache", []string{"LIMIT-2"}
	rows := Score(Try(t.Context(), []Mutant{healthy(), half, Limiters()[0], nowhere}))
	if len(rows) != 2 || rows[0].Caught != 1 || rows[0].Total != 3 || len(rows[0].Survivors) != 2 ||
		rows[0].SlowestName != Limiters()[0].Name {
		t.Fatalf("%+v; want one of three limiters caught, and a row for what has no suite", rows)
	}
	for i, want := range []string{"limiter/healthy: not caught by LIMIT-2, LIMIT-5 (none at all)",
		"not caught by LIMIT-1, though by LIMIT-2"} {
		if !strings.Contains(rows[0].Survivors[i], want) {
			t.Errorf("%q does not say %q", rows[0].Survivors[i], want)
		}
	}
	if want := "limiter: 1 of 3 caught"; !strings.HasPrefix(rows[0].String(), want) {
		t.Errorf("%q, want %q", rows[0], want)
	}
	if rows[1].Caught != 0 || !strings.Contains(rows[1].Survivors[0], "no suite") {
		t.Errorf("%+v; want the error of what cannot be run", rows[1])
	}
}

func TestTryEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if results := Try(ctx, Limiters()); slices.ContainsFunc(results, Result.Caught) {
		t.Error("a suite was run after the end")
	}
}
