package dropin_test

import (
	"maps"
	"testing"
)

// client-go's own tests of the package, run against this one. Those of the Reflector run
// against informer.Reflector, by the constructors of testdata/cache_bridge_test.go.
func TestUpstreamOfCache(t *testing.T) {
	t.Parallel()
	differs := map[string]string{
		"TestReflectorListExtract": "each of its pages has the same token, which in ours is an error: " +
			"errSameToken in informer",
	}
	maps.Copy(differs, differsInCache)
	leftOut := map[string]string{}
	maps.Copy(leftOut, newInCache)
	for reason, names := range map[string][]string{
		"reads the fields of client-go's FIFO; fifotest's clauses and the tests beside it ask the " +
			"same of ours": {
			"TestDeltaFIFOW_ReplaceMakesDeletionsForObjectsOnlyInQueue",
			"TestRealFIFO_KeyOf",
			"TestRealFIFO_PopMultipleDeltaInBatch", "TestRealFIFO_PopBrokenItemsInBatch",
		},
		"reads the fields of client-go's store; storetest's clauses on indexes and metrics_test.go " +
			"ask the same of ours": {
			"TestWithStoreMetricsDefaulting",
		},
		"sets the clock of client-go's informer, and reads its handlers' periods; informertest's " +
			"clauses on resyncs ask the same": {
			"TestResyncCheckPeriod", "TestSharedInformerWatchDisruption",
		},
		"holds up client-go's informer at a point of its own; informertest's clauses on resyncs ask " +
			"the same": {
			"TestListenerResyncPeriods", "TestListenerResyncPeriodsDelayed", "testListenerResyncPeriods",
		},
		"calls the functions between client-go's FIFO and store; the tests of informer's content ask " +
			"the same of ours": {
			"TestProcessDeltasInBatch", "TestReplaceEvents", "TestResetWatch", "TestStoreResourceVersion",
			"TestStoreResourceVersionWithNonMetaTransform",
			"BenchmarkAddWithSlowHandlers", "Example", "TestReflectorDataConsistencyDetector",
			"runTestReflectorDataConsistencyDetector",
		},
		"makes client-go's Reflector field by field; the reflector tests of informer play the same " +
			"scripts on ours": {
			"TestReflectorResyncChan",
			"TestReflectorWatchStoppedBefore", "TestReflectorWatchStoppedAfter",
			"BenchmarkReflectorResyncChanMany", "TestReflectorHandleWatchStoppedBefore",
			"TestReflectorHandleWatchStoppedAfter",
			"TestReflectorHandleWatchResultChanClosedBefore",
			"TestReflectorHandleWatchResultChanClosedAfter", "TestReflectorWatchHandler",
			"TestReflectorStopWatch", "TestReflectorListAndWatchInitConnBackoff",
			"TestBackoffOnTooManyRequests", "TestNoRelistOnTooManyRequests", "TestRetryInternalError",
			"TestWatchListResourceVersion",
		},
		"calls unexported functions of client-go's Reflector": {
			"TestInitialEventsEndBookmarkTicker",
		},
		"is of a type that is client-go's own here, and reads its fields": {
			"TestFIFO_basic", "TestFIFO_addUpdate", "TestFIFO_addReplace", "TestFIFO_detectLineJumpers",
			"TestFIFO_HasSynced", "TestFIFO_PopShouldUnblockWhenClosed",
			"TestFIFOCache",
			"FIFO.List", "FIFO.ListKeys", "FIFO.Get", "FIFO.GetByKey", "FIFO.Bookmark",
			"FIFO.LastStoreSyncResourceVersion",
			"TestTTLPolicy", "TestHeap_AddIfNotPresent", "TestHeap_Delete", "TestHeap_Update",
			"TestHeapEmptyPop", "TestHeapAddAfterClose",
			"TestMutationCacheUpdateConcurrentDelete", "TestMutationCacheUpdateConcurrentRecreate",
			"TestMutationDetector",
			"TestTypedResourceEventHandlerAdapter", "TestTypedIndexer", "BenchmarkListener",
		},
	} {
		for _, name := range names {
			leftOut[name] = reason
		}
	}
	upstreamSuite{
		Theirs: "k8s.io/client-go/tools/cache",
		Ours:   "github.com/informerbench/informerbench/dropin/cache",
		Bridge: "testdata/cache_bridge_test.go",
		Within: map[string]string{
			"github.com/informerbench/informerbench/informer": "testdata/informer_bridge.go"},
		LeftOut: leftOut,
		Renames: map[string]string{
			"NewReflector": "newReflector", "NewReflectorWithOptions": "newReflectorWithOptions",
			"reflector_watchlist_test.go:Reflector":     "ourReflector",
			"reflector_watchlist_test.go:.useWatchList": "useWatchList()",
			"NewFIFO":                   "newFIFO",
			"delta_fifo_test.go:.items": "items()", "delta_fifo_test.go:.queue": "listKeys()",
			"the_real_fifo_test.go:.items":                 "getItems()",
			"the_real_fifo_test.go:.emitAtomicEvents":      "atomic().events",
			"the_real_fifo_test.go:.emitDeltaTypeBookmark": "atomic().bookmarks",
			"reflector_test.go:.keyFunc":                   "keyOf",
			"thread_safe_store_test.go:.index":             "index()",
			"thread_safe_store_test.go:NewThreadSafeStore": "newThreadSafeStore",
		},
		Bodies: map[string]string{
			"DeltaFIFO.list":     "return f.fifo.List()",
			"DeltaFIFO.listKeys": "return f.fifo.ListKeys()",
			"DeltaFIFO.getByKey": "return f.fifo.GetByKey(key)",
			"RealFIFO.getItems":  "return f.fifo.Waiting()",
			"eventHandlerCount":  "return len(i.(*sharedIndexInformer).Registrations())",
			// which a started informer refuses
			"isStarted": "return i.(*sharedIndexInformer).SetTransform(nil) != nil",
			"isRegistered": "for _, r := range i.(*sharedIndexInformer).Registrations() { if r == " +
				"h { return true } }; return false",
		},
		Timed: []string{
			"TestNewReflectorWithCustomBackoff", "TestSharedInformerErrorHandling", "TestWaitFor",
			"TestDeltaFIFO_PopShouldUnblockWhenClosed", "TestRealFIFO_PopShouldUnblockWhenClosed",
			"TestStateSharedInformer", "TestRemoveOnStoppedSharedInformer", "TestAddWhileActive",
			"TestRemoveWhileActive", "TestSharedInformerTransformer", "TestTransformingInformerRace",
			"TestShutDownEventHandler_Lifecycles",
		},
		Differs: differs,
	}.Run(t)
}
