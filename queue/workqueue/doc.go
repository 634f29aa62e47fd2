// Package workqueue holds the queues that feed a controller's workers, with the
// names and the behaviour of client-go's util/workqueue, so that they drop into
// controllers and into controller-runtime (controller.Options.NewQueue).
//
//   - [Queue] hands each item to one worker at a time and merges what is added
//     while it is ready or processed.
//   - [DelayingQueue] adds items later. The structure in which they wait is an
//     argument: any contract.DelayHeap.
//   - [RateLimitingQueue] lets a limiter choose the delay.
//   - [PriorityQueue] hands out what has a higher priority first, with the methods
//     of controller-runtime's priorityqueue.PriorityQueue; [As] gives it that very
//     interface. No priority starves, unless asked for.
//
// All QUEUE clauses of package contract hold. Where client-go does otherwise:
// Done of an item that is ready does not queue it twice, several
// ShutDownWithDrain may wait at once, and ShutDownWithDrain leaves no goroutine
// behind. Where controller-runtime's priority queue does otherwise: what is ready
// is handed out after ShutDown, ShutDownWithDrain waits for the workers, and an
// item that is added while it is processed has its place from Done.
//
// A delay of zero or less adds at once. That includes time.Duration(math.NaN()), which
// is zero or the least duration. An item must equal itself. One that does not, such as a
// float64 NaN, is handed out once for each Add, as by client-go. The queue never finds it
// again: it stays in memory after Done, and ShutDownWithDrain waits for ever.
//
// Every method may be called by any number of goroutines at once. Costs, n items
// held and m waiting for their time: Add, Get, Done and Len take O(1) and no memory
// but a node per item, which is used again; AddAfter takes what the heap's Add
// takes (O(log m) for a binary heap) and never waits for the goroutine behind it. Over
// a contract.BatchDelayHeap one AddAfter in 16 does the work of all 16.
// No call moves all items at once, however many come or go: the table grows and
// shrinks a bucket at a time. After a flood the memory is given back as the items
// go, but for what the heap keeps.
//
//	bytes per item (string, 64 bit)   ready   waiting
//	Queue, DelayingQueue              48+8    the heap's
//	PriorityQueue                     112+8   112+8 and the heap's
//
// A Queue with metrics has one goroutine, a DelayingQueue and a PriorityQueue one
// more; all end with ShutDown or ShutDownWithDrain.
package workqueue
