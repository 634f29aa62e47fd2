package mutants

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// Stores returns the broken stores. The slice belongs to the caller.
func Stores() []Mutant {
	return slices.Concat(wrongReads(), wrongWrites(), wrongFills(), wrongIndexes(), wrongBatches(),
		clientGoStores(), shardedStores(), denseStores(), manyValuesStores(), appendingStores(),
		snapshotStores(), reclaimingStores())
}

// base is what most broken stores are broken on: client-go's, all powers.
type base = cache.ThreadSafeStoreWithTransaction

// newBase makes client-go's store, with a map of indexers of its own.
func newBase(ix contract.Indexers) base {
	own := contract.Indexers{}
	maps.Copy(own, ix)
	return cache.NewThreadSafeStore(own, cache.Indices{}).(base)
}

// store makes a mutant of what wrap makes of client-go's store.
func store(name, mistake, clauses string, wrap func(base) contract.Store) Mutant {
	m := mutant(contract.ComponentStore, name, mistake, clauses)
	m.NewStore = func(ix contract.Indexers) contract.Store { return wrap(newBase(ix)) }
	return m
}

func wrongReads() []Mutant {
	return []Mutant{
		store("get returns a copy", "the object is wrapped anew on the way out", "STORE-1",
			func(s base) contract.Store { return copies{s} }),
		store("get from a cache that misses Replace",
			"a cache in front of Get follows Add, Update and Delete, and not Replace", "STORE-20",
			func(s base) contract.Store { return &cachedGet{base: s} }),
		store("list drops one of many", "the result has room for 256", "STORE-4",
			func(s base) contract.Store { return shortList{s} }),
		store("keys are given twice", "what two places hold is put together and not compared", "STORE-5",
			func(s base) contract.Store { return keysTwice{s} }),
		store("list shares its slice",
			"the last list is kept for the next caller while the number of objects is the same", "STORE-6",
			func(s base) contract.Store { return &sharedSlice{base: s} }),
		store("one buffer for every by-index",
			"the result is built in a buffer that the next call uses again", "STORE-6",
			func(s base) contract.Store { return &oneBuffer{base: s} }),
		store("list by keys", "List asks for the keys, then for each object by itself",
			"STORE-7 STORE-35",
			func(s base) contract.Store { return listByKeys{s} }),
		store("by-index by keys", "ByIndex asks for the keys of the value, then for each object by "+
			"itself", "STORE-9",
			func(s base) contract.Store { return byIndexByKeys{s} }).real(inKubernetes, "141736"),
		store("index value by value",
			"Index asks ByIndex for each value of the object and puts the answers together",
			"STORE-10 STORE-15",
			func(s base) contract.Store { return indexByValue{s} }),
		store("by-index misses one", "the loop over the matches ends at nine", "STORE-13",
			func(s base) contract.Store { return missesOne{s} }),
		store("index-keys unsorted", "the keys come as a map gives them", "STORE-14",
			func(s base) contract.Store { return unsorted{s} }),
		store("unknown index is empty", "the error of a look-up is dropped", "STORE-17 STORE-31",
			func(s base) contract.Store { return lenient{s} }),
		store("unknown index calls nil",
			"Index calls the function of an index without asking whether it has one", "STORE-17",
			func(s base) contract.Store { return callsNil{s} }),
		store("index leaves its read lock",
			"Index returns early, with the IndexFunc's error and without unlocking", "STORE-31",
			func(s base) contract.Store { return &leakyRead{base: s} }).hangs(),
		store("resync fails", "Resync says that it is not supported", "STORE-33",
			func(s base) contract.Store { return noResync{s} }),
	}
}

func wrongWrites() []Mutant {
	var all sync.Mutex
	return []Mutant{
		store("add keeps what is there", "Add does nothing for a key that is present", "STORE-2",
			func(s base) contract.Store { return addOnce{s} }),
		store("update skips what is equal", "an Update with an equal object is taken for no change",
			"STORE-1",
			func(s base) contract.Store { return skipsEqual{s} }),
		store("delete needs company", "a deletion happens only if the store has one key", "STORE-3",
			func(s base) contract.Store { return keepsDeleted{s} }),
		store("tombstone revives the old object",
			"Add finds the tombstone of its key and revives what it holds", "STORE-2 STORE-3",
			func(s base) contract.Store { return &revives{base: s, tombs: map[string]any{}} }),
		store("sweep takes what came back",
			"every third Delete sweeps the deleted keys, also those that were added again",
			"STORE-2 STORE-19",
			func(s base) contract.Store { return &sweeps{base: s} }),
		store("replace as empty and fill", "Replace empties the store first and lets readers in between",
			"STORE-8",
			func(s base) contract.Store { return replaceInTwo{s} }),
		store("replace merges", "Replace adds the given items and drops none", "STORE-20",
			func(s base) contract.Store { return merging{s} }),
		store("replace of many by few keeps one",
			"a Replace of more than 500 objects by fewer than 100 misses one of the old ones", "STORE-20",
			func(s base) contract.Store { return keepsOneOfMany{s} }),
		store("update as delete and add",
			"an Update takes the key out and puts it in again, under two locks",
			"STORE-9 STORE-11 STORE-12 STORE-34",
			func(s base) contract.Store { return updateInTwo{s} }).real(inFabric8, "7265"),
		store("updates wait for a flush", "an Update is applied when the next one comes", "STORE-34",
			func(s base) contract.Store { return &writeBehind{base: s} }),
		store("a busy store drops the update", "a writer that does not get the lock gives up", "STORE-36",
			func(s base) contract.Store { return &busy{base: s} }),
		store("panic leaves the lock",
			"the lock is given back without defer, so a panicking IndexFunc leaves it", "STORE-27",
			func(s base) contract.Store { return &leaky{base: s} }).hangs(),
		store("one lock for all stores",
			"the lock of the package is held while an IndexFunc runs, which asks another store", "STORE-32",
			func(s base) contract.Store { return oneLock{s, &all} }).hangs(),
	}
}

func wrongIndexes() []Mutant {
	return []Mutant{
		store("values are never dropped", "a value that no object has any more is still listed",
			"STORE-16 STORE-22",
			func(s base) contract.Store { return &remembers{base: s, ever: map[string]map[string]bool{}} }),
		store("one value per index", "of several values of an object the first is indexed", "STORE-18",
			func(s base) contract.Store { return reindexed(s, firstValue) }),
		store("deleted objects are remembered",
			"Delete puts the object into a free list, from which nothing takes it", "STORE-53",
			func(s base) contract.Store { return &freeList{base: s} }),
		store("keys are never forgotten",
			"each key that was ever stored has a small number, in a table that keeps it", "STORE-53",
			func(s base) contract.Store { return &numbered{base: s, numbers: map[string]int{}} }),
		store("the first value for ever", "an index keeps the values of the first object it met",
			"STORE-19",
			func(s base) contract.Store { return reindexed(s, frozenValue) }),
		store("no back-fill", "AddIndexers indexes what comes later and not what is there", "STORE-23",
			func(s base) contract.Store { return noBackFill{s} }),
		store("add-indexers adds what it can",
			"AddIndexers has added the free names when it meets the taken one", "STORE-24",
			func(s base) contract.Store { return overwriting{s} }),
		store("a taken name in other words", "AddIndexers refuses a taken name in words of its own",
			"STORE-52",
			func(s base) contract.Store { return ownWords{s} }),
		store("get-indexers forgets the later ones", "GetIndexers gives the constructor's indexers",
			"STORE-25",
			func(s base) contract.Store { return firstIndexers{s, maps.Clone(s.GetIndexers())} }),
	}
}

func wrongBatches() []Mutant {
	return []Mutant{
		store("transaction backwards", "the writes are taken from the end", "STORE-37",
			func(s base) contract.Store { return backwards{s} }),
		store("transaction needs an object", "a write without an object is skipped, also a deletion",
			"STORE-37",
			func(s base) contract.Store { return needsObject{s} }),
		store("transaction looks at its last write",
			"the last write of a batch is looked at before it is known that there is one", "STORE-37",
			func(s base) contract.Store { return looksAtLast{s} }),
		store("deleted objects are indexed",
			"a Transaction computes the index values of all its objects, those of deletions too", "STORE-50",
			func(s base) contract.Store { return indexesDeleted{s} }),
		store("transaction one by one", "the lock is taken for each write of a batch", "STORE-38",
			func(s base) contract.Store { return oneByOne{s} }),
		store("bookmark ignored", "Bookmark does nothing", "STORE-40",
			func(s base) contract.Store { return noBookmark{s} }),
		store("replace keeps the version", "the version that Replace is given is dropped", "STORE-40",
			func(s base) contract.Store { return versionlessReplace{s} }),
		store("delete with object keeps the version", "DeleteWithObject drops the object", "STORE-41",
			func(s base) contract.Store { return versionless{s} }),
		store("delete moves the version",
			"Delete takes the version of the object that it takes out, which is an old one", "STORE-41",
			func(s base) contract.Store { return versionOfDeleted{s} }),
		store("no metadata clears the version",
			"the version of an object without metadata is taken to be empty", "STORE-42",
			func(s base) contract.Store { return forgetful{s} }),
		store("the version is read from an object that left",
			"the object of the newest version is kept in place of the version", "STORE-42",
			func(s base) contract.Store { return &readsLater{base: s} }),
		store("the version before the values",
			"Update takes the object's version, and then computes the values, which may fail", "STORE-28",
			func(s base) contract.Store { return versionFirst{s} }),
		store("appends object by object", "AppendList looks up one key after the other", "STORE-51",
			func(s base) contract.Store { return appendsByKey{s} }),
		store("transaction keeps the version", "a batch does not touch the version", "STORE-43",
			func(s base) contract.Store { return oldBatch{s} }),
	}
}

// clientGoStores is client-go's store as it is: what it breaks.
func clientGoStores() []Mutant {
	const source = "https://github.com/kubernetes/client-go/blob/v0.37.2/tools/cache/thread_safe_store.go"
	asItIs := func(name, mistake, clauses string) Mutant {
		return store(name, mistake, clauses, func(s base) contract.Store { return s }).real(source, "")
	}
	return []Mutant{
		asItIs("replace keeps a nil map",
			"the map that Replace is given becomes the store's, also if it is nil", "STORE-21"),
		asItIs("get-indexers gives its own map", "the map that AddIndexers writes to is handed out",
			"STORE-26"),
		asItIs("object in, then its values",
			"the object is put in before the values are computed, which may fail", "STORE-28"),
		asItIs("content in, then its values",
			"Replace has taken the content and dropped the indexes when an IndexFunc fails", "STORE-29"),
		asItIs("names in, then their values", "AddIndexers has added the names when an IndexFunc fails",
			"STORE-30"),
		asItIs("batch half applied", "the writes before the failing one are there", "STORE-39"),
	}
}
