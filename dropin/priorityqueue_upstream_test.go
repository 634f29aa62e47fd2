package dropin_test

import (
	"testing"
)

// controller-runtime's own tests of the package, run against this one.
func TestUpstreamOfPriorityQueue(t *testing.T) {
	t.Parallel()
	const trees = "is about the trees inside of controller-runtime's queue"
	upstreamSuite{
		Theirs: "sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue",
		Ours:   module + "/dropin/priorityqueue",
		Bridge: "testdata/priorityqueue_bridge_test.go",
		Specs:  "TestControllerWorkqueue",
		LeftOut: map[string]string{
			"btreeInteractionValidator":                 trees,
			"btreeInteractionValidator.ReplaceOrInsert": trees,
			"btreeInteractionValidator.Delete":          trees,
			"TestItemCloneCopiesAllFields": "is about the copies " +
				"that controller-runtime's queue makes for its log",
			"TestItemCloneDoesNotShareMemoryWithOriginal": "is about the copies " +
				"that controller-runtime's queue makes for its log",
			"newItemFiller": "is not needed",
			"metrics_test.go:_": "is a check against an " +
				"internal interface",
			"fakeMetricsProvider.NewDepthMetricWithPriority": "its result has a type " +
				"of an internal package; the bridge has the method",
			"TestHighPriorityItemThatBecameReadyIsReturnedBeforeLowPriorityItem": "waits for a call of " +
				"the unexported function that starts controller-runtime's timer",
		},
		Bodies: map[string]string{
			"newQueue": "metrics := newFakeMetricsProvider(); return bridged(metrics, " +
				"opts), metrics",
			"newQueueWithTimeForwarder": "q, metrics := newQueue(); return q, metrics, time.Sleep",
		},
		Differs: map[string]string{
			"TestHighPriorityItemsAreReturnedBeforeLowPriorityItemMultipleTimes": "no item starves: " +
				"docs/use.md",
			"Controllerworkqueue returns an item as soon as its unlocked": "an item that was " +
				"added while a worker had it goes to the end of its priority: docs/use.md",
			"Controllerworkqueue enqueues a locked item": "Len is what Get would " +
				"return now: docs/use.md",
		},
	}.Run(t)
}
