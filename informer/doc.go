// Package informer takes objects from an API server to handlers, as client-go's
// tools/cache does, over any store and any FIFO that keep the contract.
//
// # Reflector
//
// A Reflector keeps one store (usually a FIFO) equal to what a ListerWatcher
// shows. It fetches the state, by a streaming list where the server has them and
// by a list where it has not, gives it to the store with one Replace, and follows
// it with watches from there on. It ends only when its context does.
//
// What it guarantees:
//   - Between two calls of Replace the store gets every event once, in the order of
//     the server. What was missed (410 Gone) is made up for by the next Replace.
//   - LastSyncResourceVersion never names a version of which the store has not been
//     told, and does not go back while watches succeed.
//   - A failure leads to another attempt after a jittered, exponential back-off, by a
//     watch where the known version may still do, by a list where it may not.
//   - It stops promptly: no wait, for a server, a clock or a back-off, outlasts the
//     context. Run returns even when the ListerWatcher ignores its context; the
//     goroutine of that call then ends with the call.
//
// What it costs: a list of n objects is n interface values in the slice that goes to
// Replace, filled from each page as it comes; pages are not kept. A streaming list
// costs twice that, and an index by name once the objects come out of order or change
// before the end. An event costs one type comparison, one lock that nobody
// contends for and the store's own work; the Reflector allocates nothing for it.
// Besides the goroutine of Run there is one for the resync timer, if there is a
// period, and one for the time of each list or watch request.
//
// # SharedIndexInformer
//
// Reflector, FIFO, store and handlers, with a goroutine for the Reflector, one for the
// loop that drains the FIFO, and one for each handler:
//
//	ListerWatcher ─> Reflector ─> transform ─> FIFO ─> content ─┬─> store ─> readers
//	                                                            └─> buffer ─> handler, for each handler
//
// What waits in the FIFO is taken in batches where the FIFO has that power, written to the
// store as one Transaction where the store has that, and then copied to each handler's
// buffer, under one lock and with at most one wake-up. A batch is what has gathered
// meanwhile: a lone event waits for nothing.
//
// What it guarantees, besides what cache.SharedIndexInformer promises:
//   - Who is notified finds the store as new as the notification, or newer.
//   - A handler is told of each object in the order add, updates, delete, and of no
//     deletion of what it was never told of. OnUpdate's old object is the one that it was
//     told of last.
//   - A Registration has synced when its handler has returned from the last object of the
//     initial list; never before.
//   - Readers wait for nobody if the store's do not: not for writers, nor for handlers
//     that are added. A handler that is slow or panics holds up no other.
//   - An object whose IndexFunc fails is lost alone, and not the batch or list in which it
//     comes (with utilruntime.ReallyCrash, which is the default, it ends the process).
//     An IndexFunc fails if it returns an error. Any other panic of an IndexFunc or of
//     the store is a bug and is passed on to utilruntime.HandleCrash, as in client-go.
//   - When Run returns, nothing runs on that it has started.
//
// What it costs: an event allocates its key, what the store needs for it and what the
// IndexFuncs return: three allocations in all with the defaults and one index that returns
// one value. A handler costs 40 bytes for each notification that waits, in segments of 10
// KiB, of which up to five stay for use again, and about 1 KB besides. A handler that is
// added to a running informer holds up events for as long as it takes to copy the
// store's list, but no reader. A list of n objects costs a map of n keys and objects
// beside the store, for as long as the store's Replace takes.
//
// Where it differs from client-go v0.37.2 the code says so, with the reason.
package informer
