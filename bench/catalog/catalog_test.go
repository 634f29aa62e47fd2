package catalog

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/conformance/linear"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// Every implementation keeps the contract, but for the clauses that the catalog
// waives with a reason.
func TestEveryImplementationKeepsTheContract(t *testing.T) {
	for _, e := range All() {
		t.Run(e.ID(), func(t *testing.T) {
			passed := 0
			err := Verify(e, suite.WithEffort(0.05), suite.WithObserver(func(r suite.Result) {
				if r.Outcome == suite.Pass {
					passed++
				}
			}))
			if err != nil {
				t.Error(err)
			}
			if passed == 0 {
				t.Error("no case ran")
			}
		})
	}
}

// A waiver for a clause that the implementation keeps would hide a later fault.
func TestEveryWaiverIsNeeded(t *testing.T) {
	for _, e := range All() {
		for i, w := range e.Waivers {
			t.Run(e.ID()+"/"+w.Clause, func(t *testing.T) {
				if runtime.GOMAXPROCS(0) == 1 &&
					slices.Contains([]string{"INFORMER-36", "STORE-38"}, w.Clause) {
					t.Skip("the mistake shows only if two goroutines have a processor each")
				}
				strict := e
				strict.Waivers = slices.Delete(slices.Clone(e.Waivers), i, i+1)
				err := suite.UntilCaught(0.1, func(attempt suite.Option) error {
					return Verify(strict, attempt, suite.Only(w.Clause),
						suite.WithCaseTimeout(20*time.Second), linear.WithDrawings(t.TempDir()))
				})
				var failure *suite.Failure
				if !errors.As(err, &failure) || failure.Clause.ID != w.Clause ||
					strings.Contains(failure.Reason, suite.StillRunning) {
					t.Errorf("want a failure of the clause that says what was seen, or no waiver; got %v", err)
				}
			})
		}
	}
}

// What holds for entries from outside holds for this project's own.
func TestEntriesAreWhole(t *testing.T) {
	t.Parallel()
	references := map[contract.Component]int{}
	for i, e := range builtIn() {
		if e.Reference {
			references[e.Component]++
		}
		e.Reference = false // only ours may be one
		if err := check(builtIn()[:i], []Entry{e}); err != nil {
			t.Error(err)
		}
		if err := e.Try(); err != nil {
			t.Error(err)
		}
	}
	for _, c := range Components() {
		if references[c] != 1 {
			t.Errorf("%s has %d references, want 1", c, references[c])
		}
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		components  []string
		impls, want []string
		err         string
	}{
		{"by name", nil, []string{"mutexmap"}, []string{"store/mutexmap"}, ""},
		{"by glob", []string{"store"}, []string{"clientgo*", "mutexmap"},
			[]string{"store/clientgo", "store/mutexmap"}, ""},
		{"by ID", nil, []string{"queue/clientgo"}, []string{"queue/clientgo"}, ""},
		{"unknown name", []string{"store"}, []string{"btree"}, nil, "have clientgo, mutexmap"},
		{"unknown component", []string{"cache"}, nil, nil, "have store, fifo"},
		{"broken glob", nil, []string{"["}, nil, "syntax error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			entries, err := Select(c.components, c.impls)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, want %q", err, c.err)
				}
				return
			}
			var got []string
			for _, e := range entries {
				got = append(got, e.ID())
			}
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}
