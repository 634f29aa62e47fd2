// Package workqueue holds the queues that feed a controller's workers, with the
// names and the behaviour of client-go's util/workqueue, so that they drop into
// controllers and into controller-runtime (controller.Options.NewQueue).
//
//   - [Queue] hands each item to one worker at a time and merges what is added
//     while it is ready or processed.
//   - [DelayingQueue] adds items later. The structure in which they wait is an
//     argument: any contract.DelayHeap.
//   - [RateLimitingQueue] lets a limiter choose the delay.
//
// All QUEUE clauses of package contract hold. Where client-go does otherwise:
// Done of an item that is ready does not queue it twice, several
// ShutDownWithDrain may wait at once, and ShutDownWithDrain leaves no goroutine
// behind.
//
// Every method may be called by any number of goroutines at once. Costs, n items
// ready and m waiting for their time: Add, Get, Done and Len take O(1), AddAfter
// what the heap's Add takes (O(log m) for a binary heap) and never waits for the
// goroutine behind it. Ready items lie in a ring that keeps the size of the
// fullest moment.
//
// A Queue with metrics has one goroutine, a DelayingQueue one more; both end
// with ShutDown or ShutDownWithDrain.
package workqueue
