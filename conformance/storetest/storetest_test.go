package storetest_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/linear"
	"github.com/informerbench/informerbench/conformance/storetest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func clientGo(indexers contract.Indexers) contract.Store {
	return cache.NewThreadSafeStore(indexers, cache.Indices{})
}

// clientGoWaivers are the clauses that client-go v0.37.2 breaks, and no others.
var clientGoWaivers = map[string]string{
	"STORE-21": "client-go keeps the nil map, and the next Add panics",
	"STORE-26": "client-go returns the map that AddIndexers writes to",
	"STORE-28": "client-go puts the object in before it computes the index values",
	"STORE-29": "client-go takes the new content and drops its indexes before it computes the " +
		"index values",
	"STORE-30": "client-go adds the names before it computes the index values",
	"STORE-39": "client-go has applied the writes that came before the failing one",
}

func TestClientGo(t *testing.T) {
	opts := []storetest.Option{suite.WithEffort(0.2)}
	for clause, reason := range clientGoWaivers {
		opts = append(opts, storetest.Waive(clause, reason))
	}
	storetest.Run(t, clientGo, opts...)
}

// Without its waiver the suite must fail each of the clauses, or the waiver is not needed. A waiver
// that is lacking fails TestClientGo.
func TestClientGoNeedsItsWaivers(t *testing.T) {
	failed := map[string]bool{}
	err := suite.UntilCaught(0.1, func(attempt suite.Option) error {
		return storetest.Check(clientGo, attempt, linear.WithDrawings(t.TempDir()),
			suite.Only(slices.Sorted(maps.Keys(clientGoWaivers))...),
			suite.WithObserver(func(r suite.Result) {
				failed[r.Clause.ID] = failed[r.Clause.ID] || r.Outcome == suite.Fail
			}))
	})
	if _, ok := errors.AsType[*suite.Failure](err); !ok {
		t.Fatal(err)
	}
	for clause := range clientGoWaivers {
		if !failed[clause] {
			t.Errorf("client-go passes %s: drop the waiver", clause)
		}
	}
}

// Every clause has a case, and every case a clause, a name of its own and a reason.
func TestCasesCoverClauses(t *testing.T) {
	cases := map[string]int{}
	seen := map[string]bool{}
	for _, c := range storetest.Cases() {
		if _, err := contract.LookupClause(c.Clause); err != nil {
			t.Error(err)
		}
		if c.Why == "" {
			t.Errorf("%s/%s does not say why it matters", c.Clause, c.Name)
		}
		if id := c.Clause + "/" + c.Name; seen[id] {
			t.Errorf("two cases are named %s", id)
		} else {
			seen[id] = true
		}
		cases[c.Clause]++
	}
	for _, clause := range contract.ClausesOf(contract.ComponentStore) {
		if cases[clause.ID] == 0 {
			t.Errorf("no case tests %s", clause)
		}
	}
}
