//go:build next

package dropin_test

// next says that the tests run on the client-go of make next.
const next = true

// newInCache are tests of its tools/cache that cannot run on dropin/cache, with the reason.
var newInCache = map[string]string{
	"BenchmarkRealFIFOBatchingAndBackpressure": "a benchmark of functions between FIFO and store",
	"TestProcessDeltasInBatchRepeatedKeys": "calls the functions between client-go's FIFO and " +
		"store; the tests of informer's content ask the same of ours",
	"TestProcessDeltasInBatchKeyError": "as TestProcessDeltasInBatchRepeatedKeys",
	"TestProcessLoopUnkeyableObject":   "as TestProcessDeltasInBatchRepeatedKeys",
	"TestNameForHandler":               "names the package that it lies in; it runs on today's client-go",
	"TestNewShardedListWatch": "calls unexported methods of client-go's Reflector; the tests of " +
		"informer.NewShardedListWatch ask the same",
	"TestThreadSafeStoreTransactionRepeatedKeys": "reads the fields of client-go's store; " +
		"storetest's clauses on transactions ask the same",
}

// differsInCache are those that dropin/cache answers in another way on purpose.
var differsInCache = map[string]string{
	"TestRealFIFO_ResyncPropagatesQueueError": "a Resync takes the key under which the store has " +
		"an object, and asks the key function nothing that could fail",
}
