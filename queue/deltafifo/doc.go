// Package deltafifo has the FIFOs between a Reflector and a Controller:
//
//   - [Coalescing], class contract.Coalescing, gathers the deltas that wait under a key, as
//     client-go's DeltaFIFO does.
//   - [InOrder], class contract.InOrder or contract.InOrderAtomic, hands out every event.
//
// Each can be used wherever client-go takes a cache.Queue or a cache.QueueWithBatch.
//
// Guarantees beyond client-go's: HasSynced never waits for a running process (and may be
// called inside it). The channel of HasSyncedChecker is closed after the last initial item
// was processed, not before. A Replace that fails queues nothing.
//
// # Producers that never wait
//
// Producers append events to an intake, under a lock that is held for the copying of one
// event, or while the consumer takes a lone event out. The consumer does the rest: when it
// looks for something to take, it first takes in the events that have arrived, in order. Some
// events depend on the consumer's store or on
// the outcome of a running process: Replace, Resync, and the Delete of a key that does not
// wait. The consumer takes these in when no process runs. So the outcome is that of
// client-go, where these calls wait until process has returned. An item that is popped and
// not yet in the store is neither forgotten by a Replace nor taken for unknown by a Delete.
// KnownObjects is never read while process writes it.
//
// An event for the key that is being processed waits as a new entry. With one consumer the
// events of a key are processed in the order of arrival. With several, two entries of one
// key may be processed at once, and a Pop may wait for another's process to return when a
// list has arrived. If a Coalescing's process returns [ErrRequeue], its Deltas are put back
// and the events that came meanwhile are appended to them.
//
// A producer that finds more than 1,024 events in the intake calls runtime.Gosched after it
// has put its own there, so that the consumer gets the processor.
//
// # Cost
//
// Every call but Replace, Resync, List, ListKeys and InOrder's Waiting takes constant time,
// amortised, and a Pop whose Deltas are put back what their number takes.
//
// An event costs a quarter of an allocation in the steady state, for handing out Deltas as an
// interface (448 bytes for eight). The key costs nothing if it is namespace/name of the object's
// metadata, else what KeyFunc allocates. Deltas of several events cost two allocations, and their
// growth by doubling. A batch costs one.
//
// A caller that keeps a Deltas of one delta keeps up to seven others alive, with their
// objects: those that were popped at about the same time. The FIFO itself keeps up to
// sixteen that it handed out last: eight that waited alone, and eight that did not.
//
// Replace takes time in the length of its list, of what waits and of KnownObjects;
// Resync in the length of KnownObjects, and of what waits in InOrder. List and
// ListKeys copy all that waits. KeyFunc runs once per object and outside the locks.
//
// # Memory
//
// A backlog has no bound: no FIFO refuses or drops events. Every waiting delta keeps its
// own object alive: a key updated 1,000 times keeps 1,000 objects. Popped objects are let
// go at once, except the sixteen above.
//
//   - Coalescing: 112 bytes for each waiting key (ring and index) and as much again
//     while the ring has room; 32 to 64 for each further event, 128 for the second.
//   - InOrder: 56 bytes for each event, in segments of 8 KiB; a ReplacedAll is one
//     event and keeps its list.
//
// Coalescing's ring and index keep their greatest size until the FIFO is next empty. Then they
// shrink to nothing if they had more than 1,024 slots. The intake
// and InOrder give segments back as they are read, except up to sixteen (128 KiB).
package deltafifo
