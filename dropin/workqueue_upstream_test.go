package dropin_test

import (
	"testing"
)

// client-go's own tests of the package, run against this one.
func TestUpstreamOfWorkqueue(t *testing.T) {
	t.Parallel()
	upstreamSuite{
		Theirs: "k8s.io/client-go/util/workqueue",
		Ours:   "github.com/informerbench/informerbench/dropin/workqueue",
		LeftOut: map[string]string{
			"TestMetricShutdown": "makes an unexported queue with an unexported period; TestMetrics " +
				"of queue/workqueue has the same case",
			"TestMetrics": "makes an unexported queue with an unexported period; TestMetrics " +
				"of queue/workqueue plays the same calls on both",
			"TestRateLimitingQueue": "reads the unexported channel of client-go's delaying queue; " +
				"queuetest's QUEUE clauses of AddRateLimited say the same",
		},
		Timed: []string{"TestSimpleQueue", "TestCollapseWhileProcessing"},
		// An item that was added waits when AddAfter returns.
		Bodies: map[string]string{"waitForWaitingQueueToFill": "return nil"},
	}.Run(t)
}
