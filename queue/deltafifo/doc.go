// Package deltafifo has the FIFOs between a Reflector and a Controller:
//
//   - [DeltaFIFO], class contract.Coalescing, is the baseline: the algorithm of
//     client-go's DeltaFIFO with the whole Queue that it had in v0.17. One mutex, a
//     map from key to the deltas that wait under it, and the keys in the order in
//     which they began to wait. process runs under the lock.
//   - [Coalescing] has the same semantics; producers never wait for process.
//   - [InOrder], class contract.InOrder or contract.InOrderAtomic, hands out every
//     event; producers never wait for process.
//
// All drop into client-go wherever a cache.Queue is wanted; the last two are a
// cache.QueueWithBatch too. docs/fifos.md says what else was tried.
//
// Guarantees beyond client-go's: HasSynced never waits for a running process (and
// may be called inside it), the channel of HasSyncedChecker is closed after the last
// initial item was processed, not before, and a Replace that fails queues nothing.
//
// # Producers that never wait (Coalescing, InOrder)
//
// Producers append events to an intake, under a lock that is held for the copying
// of one event, and the consumer does the rest: it takes in what has arrived, in
// order, when it looks for something to take. What depends on the consumer's store
// or on the outcome of a running process (Replace, Resync, the Delete of a key that
// does not wait) is taken in when no process runs. So the outcome is that of
// client-go, where these calls wait until process has returned: an item that is
// popped and not yet in the store is neither forgotten by a Replace nor taken for
// unknown by a Delete, and KnownObjects is never read while process writes it.
//
// An event for the key that is being processed waits as a new entry. With one
// consumer the events of a key are processed in the order of arrival; with several,
// two entries of one key may be processed at once, and a Pop may wait for another's
// process to return when a list has arrived. If process returns [ErrRequeue], what
// came meanwhile comes after what is put back, in the same Deltas.
//
// A producer that finds more than a thousand events in the intake calls
// runtime.Gosched after its own: it has put its event down already, and lets the
// consumer have the processor.
//
// # Cost
//
// Every call but Replace, Resync, List and ListKeys takes constant time, amortised.
//
//   - DeltaFIFO: an event on a key that does not wait costs one allocation of about
//     80 bytes besides its key string, one more on a waiting key now and then (the
//     deltas grow by doubling), and Pop one of 24 bytes.
//   - Coalescing and InOrder: a quarter of an allocation per event in the steady
//     state, which is what handing out Deltas as an interface costs (448 bytes for
//     eight); nothing for the key if it is namespace/name of the object's metadata,
//     else what KeyFunc allocates. Deltas of several cost two allocations, and their
//     growth by doubling. A batch costs one.
//
// Whoever keeps a Deltas of one delta keeps up to seven others that were popped at
// about the same time alive, with their objects, and so does the FIFO with the up to
// seven that it handed out last.
//
// Replace takes time in the length of its list, of what waits and of KnownObjects;
// Resync in the length of KnownObjects, and of what waits in InOrder. List and
// ListKeys copy all that waits. KeyFunc runs once per object and outside the locks.
//
// # Memory
//
// A backlog has no bound: no FIFO refuses or drops. Every waiting delta keeps its own
// object alive: a key updated 1,000 times keeps 1,000 objects. What is popped is let
// go at once, but for the seven above.
//
//   - DeltaFIFO: about 140 bytes for each waiting key (deltas, map and ring; the key's
//     string besides) and 32 to 64 for each further event.
//   - Coalescing: 112 bytes for each waiting key (ring and index) and as much again
//     while the ring has room; 32 to 64 for each further event, 128 for the second.
//   - InOrder: 56 bytes for each event, in segments of 8 KiB; a ReplacedAll is one
//     event and keeps its list.
//
// DeltaFIFO's map, Coalescing's index and both rings keep their greatest size until the FIFO
// is next empty, and then shrink to nothing if they had more than 1,024 slots. The
// intake and InOrder give segments back as they are read, but for sixteen (128 KiB).
package deltafifo
