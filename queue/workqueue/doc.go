// Package workqueue holds the queues that feed a controller's workers, with the
// names and the behaviour of client-go's util/workqueue, so that they drop into
// controllers and into controller-runtime (controller.Options.NewQueue).
//
//   - [Queue] hands each item to one worker at a time and merges what is added
//     while it is ready or processed.
//   - [DelayingQueue] adds items later. The structure in which they wait is an
//     argument: any contract.DelayHeap.
//   - [RateLimitingQueue] lets a limiter choose the delay.
//   - [PriorityQueue] hands out items of higher priority first, with the methods of
//     controller-runtime's priorityqueue.PriorityQueue; [As] makes it one. No priority
//     starves, unless Config.Turn is below zero.
//
// All QUEUE clauses of package contract hold, with three conditions for a PriorityQueue: QUEUE-31
// and QUEUE-38 need a Config.Turn of 0 or of 4 to 64, QUEUE-39 a contract.RemovingDelayHeap, and
// QUEUE-11 no Config.DropReady. Among what differs from client-go's queues: Done of an item that
// is ready does not queue it twice, several ShutDownWithDrain may wait at once, and
// ShutDownWithDrain leaves no goroutine behind. Among what differs from controller-runtime's: no
// priority starves, ShutDownWithDrain waits for the workers, and an item that is added while it
// is processed takes its place in the order at Done. docs/use.md has everything that differs.
//
// A delay of zero or less adds at once. That includes time.Duration(math.NaN()) on processors that
// convert it to zero or to the least duration; Go does not say what the conversion gives.
//
// An item must equal itself. One that does not, such as a float64 NaN, is handed out once for each
// Add, as by client-go. The queue never finds it again: it stays in memory after Done,
// ShutDownWithDrain waits for ever, and the metrics of running work count it for ever. A queue with
// Config.Order must not be given one. A key that cannot be hashed, such as a slice in an any,
// panics in the caller, also in AddAfter.
//
// Every method may be called by any number of goroutines at once. Costs, with m items
// waiting for their time: Add, Get, Done and Len take O(1), but see [PriorityQueue]. They
// take no memory but a node per item, which is reused. AddAfter takes what the heap's Add
// takes (O(log m) for a QuadHeap). It hands nothing to the goroutine that makes items
// ready, but may wait for its lock. Over a contract.BatchDelayHeap one AddAfter in 16 adds
// the items of all 16 to the heap. No call moves all items at once, however many come or go:
// the table grows and shrinks a bucket at a time. After a flood the memory is given back as the
// items go, except what the heap keeps, and what does not shrink: with metrics two maps of the
// items' times, and in a PriorityQueue a map of the most priorities that were ready at once.
//
//	bytes per item (string, 64 bit)   ready   waiting
//	Queue, DelayingQueue              32+3    the heap's
//	PriorityQueue                     48+3    48+3 and the heap's
//
// A Queue with metrics has one goroutine, a DelayingQueue and a PriorityQueue one
// more; all end with ShutDown or ShutDownWithDrain.
package workqueue
