package limittest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

func TestClientGoPasses(t *testing.T) {
	t.Parallel()
	for name, newLimiter := range map[string]constructor{
		"exponential": func() contract.RateLimiter[string] {
			return workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond,
				1000*time.Second)
		},
		"fast-slow": func() contract.RateLimiter[string] {
			return workqueue.NewTypedItemFastSlowRateLimiter[string](time.Millisecond, time.Second, 3)
		},
		"bucket": func() contract.RateLimiter[string] {
			return &workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(10, 100)}
		},
		"controller": workqueue.DefaultTypedControllerRateLimiter[string],
	} {
		t.Run(name, func(t *testing.T) { Run(t, newLimiter) })
	}
}

func TestEveryClauseHasACase(t *testing.T) {
	for _, clause := range contract.ClausesOf(contract.ComponentLimiter) {
		if !slices.ContainsFunc(cases, func(c suite.Case[constructor]) bool {
			return c.Clause == clause.ID
		}) {
			t.Errorf("%s has no case", clause)
		}
	}
}

func TestPowerOfTwoBaseOverflowsInClientGo(t *testing.T) {
	t.Parallel()
	err := Check(func() contract.RateLimiter[string] {
		return workqueue.NewTypedItemExponentialFailureRateLimiter[string](1, 1<<63-1)
	}, suite.Only("LIMIT-1"))
	if err == nil {
		t.Error("client-go passes: it has been mended, and the source of LIMIT-1 should say so")
	}
}

func TestWrongOptionsAreNamed(t *testing.T) {
	t.Parallel()
	if err := Check(workqueue.DefaultTypedControllerRateLimiter[string],
		Waive("LIMIT-99", "no such clause")); err == nil || !strings.Contains(err.Error(), "LIMIT-99") {
		t.Errorf("an unknown clause is waived without a word: %v", err)
	}
}
