// Package sharded is a store whose lock is split by key. A shard has the objects of
// the keys with its hash, and of each index the part that leads to those objects.
// So a write, and a Get, take one shard's lock. A read of more than one object takes
// all locks, but only to look up the lists: it copies the objects after it has released
// the locks.
//
//	            shard 0           shard 1           ...
//	lock        RWMutex           RWMutex
//	records     key -> record     key -> record
//	all         [chunk][chunk]    [chunk][chunk]    objects, dense, 127 to a chunk
//	index 0     value -> [chunk]  value -> [chunk]  the same per value
//
//	List:  1 read-lock shard 0, 1, 2, ...           two-phase: the instant of the
//	       2 take each list's chunks, freeze it     read is when all are locked
//	       3 unlock all
//	       4 copy the chunks, which no write changes any more
//
//	Update: 1 run the IndexFuncs                    one mutex for all IndexFuncs (STORE-48)
//	        2 lock the key's shard
//	        3 in a list that was frozen, copy the chunk that is to change
//	        4 change the chunk, unlock
//
// Freezing is a flag for each list, see list.go. The first write to a chunk that a reader
// may have copies it, once; without readers nothing is ever copied. Up to 32 matches are
// copied under the locks instead, so that a read of few objects costs writers nothing later.
//
// It keeps every STORE clause. Reads of many objects and Transactions use two-phase
// locking in the order of the shards, so calls are linearizable and cannot deadlock. Values
// are computed before anything is touched. After that nothing can fail, so nothing is ever
// half written.
//
// # Who waits for whom
//
// A writer waits for the holder of its shard's lock: another writer; a Get, for one map
// look-up; a read of many objects, while it has all the locks. Such a read has them for
// some 20 ns for each shard, and for ByIndex a map look-up more: half a microsecond with
// 4 shards, one or two with 16, whatever the number of objects. A store that copies under
// its lock makes the writer wait a millisecond for each List. The writer tries for some
// microseconds before it queues. Readers queue only after 1,000 rounds of tries: a reader
// that queues gets the lock while it still waits for a processor, see lock.go.
//
// The scheduler is the rest of a writer's wait. Only goroutines that run, and those that
// were descheduled with a lock, hold locks. A List takes a millisecond, and holds the locks
// for a thousandth of it. So with 80 goroutines that loop List on 2 processors about one
// time slice in a thousand ends with the locks held. A ByIndex of 2,000 matches takes a few
// microseconds, and with 16 shards a third of the slices end with the locks held. The
// writer queues then. That keeps further readers out, and they let others run, so the
// holders run soon and release the locks. But among 80 goroutines the writer has to get a
// processor itself, which no lock can give it. And what readers allocate makes the writer
// help the garbage collector, also while it holds the lock.
//
// A reader waits for the writers that hold the shards' locks, each for about a microsecond
// or, beside other readers, as long as it takes to copy a chunk. It also waits for a
// Transaction, which keeps its shards locked until it is done: a thousand writes take about
// a millisecond. Replace exchanges pointers under the locks. AddIndexers computes under all
// of them, O(n). A writer that stores objects also waits for the IndexFuncs of other
// writers, and for a Replace: IndexFuncs are called one at a time.
//
// # Costs
//
// For n objects, i indexes and s shards. Get is a hash, a read lock, a map look-up
// and one step to the record; no allocation. Add, Update and Delete are O(i). Beside
// readers each copies, once after each read, at most a chunk and a directory (3 KB, and 8
// bytes for every 127 objects of the shard) of each list that the read froze and the write
// changes. Moving an object of many values costs O(values). List and ListKeys are O(n).
//
// ByIndex is O(s+matches). 20 matches pay for every shard's lock and map, a few tens of
// nanoseconds each, so they are dearer than in a store of one map; 2,000 are cheaper.
// ListIndexFuncValues is O(values*s), under the locks.
//
// Memory: about 200 bytes for each of 100,000 objects in an index of 2,000 matches a value
// and one of 20, where the baseline has 160; and about 200 bytes more for each value in each
// shard that has it. Many shards are therefore costly where values have few objects: 230
// bytes an object in all with 4 shards, 310 with 16, 365 with 64. Between freezing and
// copying, a reader keeps at most one copy of the objects that it reads alive. The maps keep their
// greatest size until the next Replace, as client-go's do.
package sharded
