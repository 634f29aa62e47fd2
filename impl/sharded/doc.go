// Package sharded is a store whose lock is split by key. A shard has the objects of
// the keys with its hash, and of each index the part that is about those objects.
// So a write, and a Get, take one shard's lock. A read of more than one object
// takes all of them, but only to note where things are: it copies what it found
// after it has let them go.
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
//	       4 copy the chunks, which nobody changes any more
//
//	Update: 1 run the IndexFuncs                    one mutex for all IndexFuncs (STORE-48)
//	        2 lock the key's shard
//	        3 of a list that was frozen since, copy the chunk that is to change
//	        4 change it, unlock
//
// Freezing is a flag for each list, see list.go. A chunk that a reader may have is
// copied by the first write to it afterwards, once; without readers nothing is ever
// copied. Few matches (32) are copied under the locks instead, so that a read of a
// small value costs writers nothing later.
//
// It keeps every STORE clause. Reads of many objects and Transactions lock in two
// phases and in the order of the shards, so calls are linearizable and no cycle of
// waiting can form. Values are computed before anything is touched, and after that
// nothing can fail, so nothing is ever half written.
//
// # Who waits for whom
//
// A writer waits for what is in its shard: another writer; a Get, for one map
// look-up; a read of many objects, while it has all the locks. The last takes some
// 20 ns for each shard, and a map look-up more for ByIndex: half a microsecond with
// 4 shards, one or two with 16, whatever the number of objects, where a store that
// copies under its lock makes the writer wait a millisecond for each List. It tries
// for some microseconds before it queues. Readers do not queue at all, or they
// would be given the lock while they wait for a processor, see lock.go.
//
// What is left is the scheduler. No more goroutines are in there at once than there
// are processors, and those that were descheduled inside. A List is a millisecond
// of which the locks take a thousandth, so with 80 goroutines that loop List on 2
// processors about one time slice in a thousand ends inside. A ByIndex of 2,000
// matches is a few microseconds, and with 16 shards a third of the slices end
// inside. The writer queues then; that keeps further readers out, and since they
// let others run, those inside come to their turn and leave. But among 80
// goroutines the writer has to get a processor itself, which no lock can give it,
// and what readers allocate makes it help the garbage collector, within the lock
// too.
//
// A reader waits for the writers inside the shards, each for about a microsecond
// or, beside other readers, as long as it takes to copy a chunk; and for a
// Transaction, which keeps its shards until it is done: a thousand writes, about a
// millisecond. Replace exchanges pointers under the locks. AddIndexers computes
// under all of them, O(n). A writer also waits for the IndexFuncs of the others, and
// for a Replace: IndexFuncs are called one at a time.
//
// # Costs
//
// For n objects, i indexes and s shards. Get is a hash, a read lock, a map look-up
// and one step to the record; no allocation. Add, Update and Delete are O(i);
// beside readers each copies, once after each read, at most a chunk and a directory
// (3 KB, and 8 bytes for every 127 objects of the shard) of each list that the read
// froze and the write changes. An object of many values costs O(values) to
// move. List and ListKeys are O(n). ByIndex is
// O(s+matches): 20 matches pay for every shard's lock and map, a few tens of
// nanoseconds each, so they are dearer than in a store of one map, and 2,000 are
// cheaper. ListIndexFuncValues is O(values*s), under the locks. Memory: about 200
// bytes for each of 100,000 objects in an index of 2,000 matches a value and one of
// 20, where the baseline has 160; and about 200 more for each value in each shard
// that has it. Many shards are therefore costly where values have few objects: 230 bytes an
// object in all with 4 shards, 310 with 16, 365 with 64. What a reader holds
// between freezing and copying, at most one copy of what it reads, it holds for
// that time only.
package sharded
