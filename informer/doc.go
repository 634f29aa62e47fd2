// Package informer takes objects from an API server to handlers, as client-go's
// tools/cache does, over any store and any FIFO that keep the contract.
//
// # Reflector
//
// A Reflector keeps one store (usually a FIFO) equal to what a ListerWatcher shows. It
// fetches all objects by a streaming list, or by a list if the server cannot stream. It
// gives them to the store with one Replace, and then follows the changes with watches. It
// ends only when its context does.
//
// What it guarantees:
//   - Between two calls of Replace the store gets every event once, in the server's order.
//     The next Replace makes up for events that a watch missed (410 Gone).
//   - LastSyncResourceVersion never names a version that the store has not been told of. It
//     does not go back while watches succeed.
//   - After a failure the Reflector tries again, after a jittered, exponential back-off:
//     with a watch if the connection was refused or the server is busy (429), else with a
//     list.
//   - It stops promptly: no wait for a server, a clock or a back-off outlasts the context.
//     Run returns even when the ListerWatcher ignores its context; the goroutine of that
//     call then ends with the call.
//
// What it costs: a list of n objects is a slice of n interface values, which goes to
// Replace. It is filled from each page as the page comes; pages are not kept. A streaming
// list costs twice that. It also costs an index by name, once objects come out of order or
// change before the end. An event costs one type comparison, one uncontended lock and the
// store's own work; the Reflector allocates nothing for it. Besides the goroutine of Run
// there is one for the resync timer, if there is a period, and one during each list or
// watch request.
//
// # SharedIndexInformer
//
// A SharedIndexInformer joins a Reflector, a FIFO, a store and handlers. One goroutine runs
// the Reflector, one drains the FIFO, and one for each handler calls it:
//
//	ListerWatcher ─> Reflector ─> transform ─> FIFO ─> content ─┬─> store ─> readers
//	                                                            └─> buffer ─> handler, for each handler
//
// The draining loop takes events in batches if the FIFO is a contract.BatchPopper. It
// writes a batch to the store, as one Transaction if the store is a contract.Transactor.
// Then it copies the batch to each handler's buffer, under one lock and with at most one
// wake-up. A batch is the events that gathered meanwhile: a lone event waits for nothing.
//
// What it guarantees, besides what cache.SharedIndexInformer promises:
//   - A handler finds the store as new as its notification, or newer.
//   - A handler is told of each object in the order add, updates, delete. A deletion of an
//     object that the store did not hold comes alone. OnUpdate's old object is the one
//     that it was told of last, or one of the same resource version from a later list.
//   - A Registration has synced when its handler has returned from the last object of the
//     initial list; never before.
//   - If the store's readers never wait, the informer's do not either: not for writers, nor
//     while a handler is added. A handler that is slow or panics holds up no other.
//   - If an IndexFunc fails, only its object is lost, not the batch or list with the object
//     (with utilruntime.ReallyCrash, which is the default, it ends the process). An
//     IndexFunc fails if it returns an error. This needs a store whose write leaves nothing behind
//     when it panics; client-go's keeps the object without its index entries. Any other panic
//     of an IndexFunc or of the store is a bug and is passed on to utilruntime.HandleCrash, as
//     in client-go.
//   - When Run returns, everything that it started has ended, except calls of the ListerWatcher:
//     the last one may return a moment later, or much later if it ignores its context. A watch
//     that it then returns is stopped at once.
//
// What it costs: an event allocates its key, what the store needs for it and what the
// IndexFuncs return: three allocations in all with the defaults and one index that returns
// one value. A handler costs about 2 KB, and 40 bytes for each notification that waits.
// Notifications lie in segments of 6 KiB; a busy handler keeps up to sixteen empty segments for
// reuse, an idle one a small one. Adding a handler to a running informer delays events, but no
// reader, until the store's list is copied. A list of n objects costs a map of n keys and objects
// beside the store while the store's Replace runs.
//
// The code marks each difference from client-go v0.37.2, with the reason.
package informer
