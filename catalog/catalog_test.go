package catalog

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// Every implementation keeps the contract, but for the clauses that the catalog
// waives with a reason.
func TestEveryImplementationKeepsTheContract(t *testing.T) {
	for _, e := range All() {
		t.Run(e.ID(), func(t *testing.T) {
			passed := 0
			err := Verify(e, suite.WithEffort(0.3), suite.WithObserver(func(r suite.Result) {
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
				strict := e
				strict.Waivers = slices.Delete(slices.Clone(e.Waivers), i, i+1)
				err := suite.UntilCaught(func(seed suite.Option) error {
					return Verify(strict, seed, suite.Only(w.Clause), suite.WithCaseTimeout(5*time.Second))
				})
				if err == nil || !strings.Contains(err.Error(), w.Clause) {
					t.Errorf("the clause is kept: drop the waiver (%v)", err)
				}
			})
		}
	}
}

func TestEntriesAreWhole(t *testing.T) {
	t.Parallel()
	ids, references := map[string]bool{}, map[contract.Component]int{}
	for _, e := range All() {
		if ids[e.ID()] {
			t.Errorf("%s stands there twice", e.ID())
		}
		ids[e.ID()] = true
		if e.Description == "" || e.Module == "" || e.Guarantees == "" {
			t.Errorf("%s lacks a description, a module or its guarantees", e.ID())
		}
		constructors := map[contract.Component]bool{
			contract.ComponentStore: e.NewStore != nil, contract.ComponentFIFO: e.NewFIFO != nil, contract.ComponentDelay: e.NewDelay != nil,
			contract.ComponentQueue: e.NewQueue != nil, contract.ComponentLimiter: e.NewLimiter != nil, contract.ComponentInformer: e.NewInformer != nil,
		}
		for c, set := range constructors {
			if set != (c == e.Component) {
				t.Errorf("%s: the constructor of a %s is set: %v", e.ID(), c, set)
			}
		}
		if (e.Component == contract.ComponentFIFO) != slices.Contains(contract.FIFOClasses(), e.FIFOClass) {
			t.Errorf("%s: FIFO class %q", e.ID(), e.FIFOClass)
		}
		if e.Reference {
			references[e.Component]++
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
		{"by glob", []string{"store"}, []string{"clientgo*", "mutexmap"}, []string{"store/clientgo", "store/mutexmap"}, ""},
		{"by ID", nil, []string{"queue/clientgo"}, []string{"queue/clientgo"}, ""},
		{"unknown name", []string{"store"}, []string{"binaryheap"}, nil, "have clientgo, mutexmap"},
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
