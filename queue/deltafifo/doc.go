// Package deltafifo has the FIFO between a Reflector and a Controller that
// gathers what happens to an object while it waits: the baseline that other
// FIFOs are measured against.
//
// [DeltaFIFO] is the algorithm of client-go's DeltaFIFO with the whole Queue that
// it had in v0.17: one mutex, a map from key to the deltas that wait under it,
// and the keys in the order in which they began to wait. It is of class
// contract.Coalescing and keeps every FIFO clause of that class, of the keyed
// queue and of the transformer. It drops into client-go wherever a cache.Queue
// is wanted.
//
// Guarantees beyond client-go's: HasSynced never waits for a running process
// (and may be called inside it), the channel of HasSyncedChecker is closed after
// the last initial item was processed, not before, and a Replace that fails
// queues nothing.
//
// # Cost
//
// Add, Update, Delete and Pop take constant time. An event on a key that does
// not wait costs one allocation of about 80 bytes besides its key string, one
// more on a waiting key now and then (the deltas grow by doubling), and Pop one
// of 24 bytes to pass the Deltas as an interface. Replace takes time in the
// length of its list, of what waits and of KnownObjects; Resync in the length
// of KnownObjects. List and ListKeys copy all that waits. KeyFunc runs once per
// object and outside the lock; the transformer and process run under it, as in
// client-go, so a slow process holds up the producers.
//
// # Memory
//
// A backlog has no bound: the FIFO never refuses or drops. It grows by about 140
// bytes for each waiting key (deltas, map and ring; the key's string besides) and
// by 32 to 64 for each further event. Every waiting delta keeps its own object
// alive: a key updated 1,000 times keeps 1,000 objects. What is popped is let go
// at once.
// The map and the ring keep their greatest size until the FIFO is next empty,
// and then shrink to nothing if they had more than 1,024 slots.
package deltafifo
