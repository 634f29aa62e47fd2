package replay

import (
	"testing"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
)

// The comparison of a store with a trace's final state finds each kind of difference.
func TestCompareFindsDifferences(t *testing.T) {
	pods := &load.PodTrace{Source: "a test", Seed: 1, Compress: 1, Pods: []load.TracePod{
		{Namespace: "a", Name: "one", QOS: "LS"}, {Namespace: "a", Name: "two", QOS: "LS"},
	}, Events: []load.PodEvent{
		{Type: load.TraceCreated}, {At: 1, Type: load.TraceCreated, Pod: 1},
		{At: 2, Type: load.TraceScheduled, Pod: 0, Node: "n"}, {At: 3, Type: load.TraceDeleted, Pod: 1},
	}}
	if err := pods.Validate(); err != nil {
		t.Fatal(err)
	}
	trace := pods.Trace()
	e, err := catalog.Lookup(contract.ComponentStore, "mutexmap")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		spoil  func(contract.Store)
		passes bool
	}{
		{"as it is", func(contract.Store) {}, true},
		{"missing", func(s contract.Store) { s.Delete("a/one") }, false},
		{"not deleted", func(s contract.Store) {
			s.Add("a/two", trace.StateAfter(2)[0]["a/two"])
		}, false},
		{"stale", func(s contract.Store) { s.Add("a/one", trace.StateAfter(1)[0]["a/one"]) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := load.Workload{Component: contract.ComponentStore,
				Groups: []load.Group{{Name: "lister", Op: load.OpList, Goroutines: 1}}}
			target := newStoreTarget(e.NewStore, trace, w)
			store := target.stores[0].Store
			series, err := feed(t.Context(), target, trace, w, nil, map[string]float64{})
			if err != nil {
				t.Fatal(err)
			}
			if n := series[0].Values["delay-n"]; n != 4 {
				t.Errorf("%g events applied, want 4", n)
			}
			state := func() []map[string]any {
				state, err := target.state()
				if err != nil {
					t.Fatal(err)
				}
				return state
			}
			whole, err := digest(state())
			if err != nil {
				t.Fatal(err)
			}
			c.spoil(store)
			if check := compare(sameFinalState, state(), trace, sameObject); check.Passed != c.passes {
				t.Errorf("%+v", check)
			}
			spoilt, err := digest(state())
			if err != nil {
				t.Fatal(err)
			}
			if (spoilt == whole) != c.passes {
				t.Error("the digest does not tell the difference")
			}
		})
	}
}
