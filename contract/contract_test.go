package contract_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/contract"
)

// client-go's own types satisfy the interfaces as they are.
var (
	_ contract.Store             = cache.ThreadSafeStore(nil)
	_ contract.Transactor        = cache.ThreadSafeStoreWithTransaction(nil)
	_ contract.ObjectDeleter     = cache.ThreadSafeStore(nil)
	_ contract.ResourceVersioner = cache.ThreadSafeStore(nil)

	_ contract.FIFO        = (*cache.DeltaFIFO)(nil)
	_ contract.FIFO        = (*cache.RealFIFO)(nil)
	_ contract.BatchPopper = (*cache.RealFIFO)(nil)

	_ contract.Queue[string]             = workqueue.TypedInterface[string](nil)
	_ contract.Queue[string]             = (*workqueue.Typed[string])(nil)
	_ contract.DelayingQueue[string]     = workqueue.TypedDelayingInterface[string](nil)
	_ contract.RateLimitingQueue[string] = workqueue.TypedRateLimitingInterface[string](nil)
	_ contract.RateLimiter[string]       = (*workqueue.TypedItemExponentialFailureRateLimiter[string])(
		nil)
	_ contract.RateLimiter[string] = (*workqueue.TypedBucketRateLimiter[string])(nil)
)

var id = regexp.MustCompile(`^(STORE|FIFO|DELAY|QUEUE|LIMIT|INFORMER|OBJECT)-[1-9][0-9]*$`)

var capabilities = []contract.Capability{
	contract.CapCore, contract.CapTransaction, contract.CapResourceVersion, contract.CapAppend,
	contract.CapCoalescing, contract.CapInOrder, contract.CapAtomic, contract.CapBatch,
	contract.CapKeyedQueue, contract.CapTransform, contract.CapUnlocked, contract.CapRateLimiting,
	contract.CapPriority, contract.CapPausable, contract.CapConfigured, contract.CapExactTime,
	contract.CapGranular,
	contract.CapCountedWork, contract.CapAddMany, contract.CapRemove, contract.CapArrivalOrder,
	contract.CapMutationDetection,
}

func TestClausesAreWhole(t *testing.T) {
	t.Parallel()
	prefixes := map[contract.Component]string{
		contract.ComponentStore: "STORE-", contract.ComponentFIFO: "FIFO-",
		contract.ComponentDelay: "DELAY-",
		contract.ComponentQueue: "QUEUE-", contract.ComponentLimiter: "LIMIT-",
		contract.ComponentInformer: "INFORMER-", contract.ComponentObjects: "OBJECT-",
	}
	seen := map[string]bool{}
	for _, c := range contract.Clauses() {
		switch {
		case !id.MatchString(c.ID):
			t.Errorf("%q is no number of a clause", c.ID)
		case seen[c.ID]:
			t.Errorf("%s stands there twice", c.ID)
		case !strings.HasPrefix(c.ID, prefixes[c.Component]):
			t.Errorf("%s belongs to component %q", c.ID, c.Component)
		case c.Rule == "" || strings.HasSuffix(c.Rule, ".") || strings.ToUpper(c.Rule[:1]) != c.Rule[:1]:
			t.Errorf("%s: the rule is one sentence with a capital and without a full stop: %q", c.ID, c.Rule)
		case c.Source == "" || !slices.Contains(capabilities, c.Capability):
			t.Errorf("%s lacks its source, or has an unknown capability %q", c.ID, c.Capability)
		}
		seen[c.ID] = true
		if got, err := contract.LookupClause(c.ID); err != nil || got != c {
			t.Errorf("LookupClause(%s): %v, %v", c.ID, got, err)
		}
	}
	for component := range prefixes {
		clauses := contract.ClausesOf(component)
		if len(clauses) < 5 {
			t.Errorf("%s has %d clauses", component, len(clauses))
		}
		last := 0
		for _, c := range clauses {
			if n, _ := strconv.Atoi(strings.TrimPrefix(c.ID, prefixes[component])); n > last {
				last = n
			} else {
				t.Errorf("%s comes after number %d: LookupClause names the first and the last", c.ID, last)
			}
		}
	}
}

func TestLookupClauseNamesWhatThereIs(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"STORE-999": "STORE-1 to STORE-",
		"LOCK-1": "STORE-, FIFO-"} {
		if _, err := contract.LookupClause(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("LookupClause(%s): %v, want %q", in, err, want)
		}
	}
}
