package storetest_test

import (
	"errors"
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
	var opts []storetest.Option
	for clause, reason := range clientGoWaivers {
		opts = append(opts, storetest.Waive(clause, reason))
	}
	storetest.Run(t, clientGo, opts...)
}

// Without its waiver the suite must fail each of the clauses, or the waiver is not needed.
func TestClientGoNeedsItsWaivers(t *testing.T) {
	failed := failedClauses(t, clientGo)
	for clause := range clientGoWaivers {
		if failed[clause] == "" {
			t.Errorf("client-go passes %s: drop the waiver", clause)
		}
	}
	for clause, text := range failed {
		if clientGoWaivers[clause] == "" {
			t.Errorf("client-go fails %s and no waiver says so:\n%s", clause, text)
		}
	}
}

// failedClauses runs the suite and returns the text of one failure per clause.
func failedClauses(t *testing.T, newStore storetest.NewStore) map[string]string {
	t.Helper()
	failed := map[string]string{}
	observe := suite.WithObserver(func(r suite.Result) {
		if r.Outcome == suite.Fail {
			failed[r.Clause.ID] = r.Case + ": " + r.Reason
		}
	})
	err := suite.UntilCaught(func(seed suite.Option) error {
		return storetest.Check(newStore, linear.WithDrawings(t.TempDir()), observe, seed)
	})
	var failure *suite.Failure
	if (err != nil) != (len(failed) > 0) || err != nil && !errors.As(err, &failure) {
		t.Fatalf("Check returned %v where %d clauses failed", err, len(failed))
	}
	return failed
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
