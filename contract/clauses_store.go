package contract

import "strconv"

// Sources that several clauses of the store share.
const (
	fromStore    = "client-go v0.37.2 tools/cache/thread_safe_store.go"
	fromDesign   = "design"
	fromInstants = "design; client-go v0.37.2 holds its lock for the whole of each read"
)

// storeClauses are the rules of [Store]. Numbers are stable: a rule that is dropped leaves
// a gap, and a new one goes to the end.
//
// The contract leaves these open on purpose: the order of List, ListKeys, Index, ByIndex
// and ListIndexFuncValues; whether an empty result is nil; a nil object (client-go keeps it
// under its key and in no index); a transaction of unknown type; an object that was changed
// after it was stored; an IndexFunc that returns different values for the same object; nil
// Indexers (AddIndexers of client-go's store then panics).
var storeClauses = []Clause{
	storeClause(1, "Get returns the very object last stored under the key, or exists false when "+
		"the key is absent", fromStore),
	storeClause(2, "Add and Update both store the object under the key, whether or not the key is "+
		"present", fromStore),
	storeClause(3, "Delete removes the key, and of an absent key does nothing", fromStore),
	storeClause(4, "List returns every stored object exactly once", fromStore),
	storeClause(5, "ListKeys returns every stored key exactly once", fromStore),
	storeClause(6, "A returned slice belongs to the caller, who may sort, overwrite or append to "+
		"it, and later writes do not change it", "design; "+fromStore),
	storeClause(7, "List sees one instant: what it returns is the whole content between two writes "+
		"that were under way or done during the call", fromInstants),
	storeClause(8, "ListKeys sees one instant, as List does", fromInstants),
	storeClause(9, "ByIndex sees one instant: no object whose indexed value does not match, none "+
		"twice, none missing that matched throughout", fromInstants),
	storeClause(10, "Index sees one instant, as ByIndex does, also over several values", fromInstants),
	storeClause(11, "IndexKeys sees one instant, as ByIndex does", fromInstants),
	storeClause(12, "ListIndexFuncValues sees one instant: an object that moves between values is "+
		"under exactly one of them", fromInstants),
	storeClause(13, "ByIndex returns exactly the objects that have the value in the index; a value "+
		"that none has gives an empty result and no error", fromStore),
	storeClause(14, "IndexKeys returns exactly the keys of the objects that have the value, "+
		"sorted; a value that none has gives an empty result and no error", fromStore),
	storeClause(15, "Index returns each object that shares a value with the given object once, "+
		"however many they share, and the given object need not be stored", fromStore),
	storeClause(16, "ListIndexFuncValues returns each value that a stored object has, once, and no "+
		"value that none has any more", "kubernetes#84959; "+fromStore),
	storeClause(17, "An index that does not exist is an error for Index, IndexKeys and ByIndex, "+
		"and an empty result for ListIndexFuncValues", fromStore),
	storeClause(18, "An object may have no value in an index, several, or one twice: it is found "+
		"once under each and under no other", fromStore),
	storeClause(19, "Every write keeps every index true: an object is found under its new values, "+
		"and no longer under its old ones", fromStore),
	storeClause(20, "Replace makes the store hold the given items and nothing else; the map is the "+
		"store's from then on", fromStore),
	storeClause(21, "Replace with a nil map empties the store, which takes writes afterwards",
		fromDesign),
	storeClause(22, "Replace builds every index anew, so that no value of a dropped object remains",
		fromStore),
	storeClause(23, "AddIndexers on a filled store indexes what is there, also while writers run",
		fromStore),
	storeClause(24, "AddIndexers refuses a name that the store has, with an error, and then adds "+
		"none of the names given with it", fromStore),
	storeClause(25, "GetIndexers returns every indexer, those of AddIndexers too", fromStore),
	storeClause(26, "The map that GetIndexers returns belongs to the caller: AddIndexers does not "+
		"change it, and changing it does not change the store", fromDesign),
	storeClause(27, "A write whose IndexFunc returns an error panics, one whose IndexFunc panics "+
		"passes the panic on, and no lock is left held: the store stays usable", fromStore),
	storeClause(28, "An Add or Update whose IndexFunc fails leaves nothing half written: the key "+
		"keeps its old object and its old place in every index", fromDesign),
	storeClause(29, "A Replace whose IndexFunc fails leaves nothing half written: the store keeps "+
		"all that it held", fromDesign),
	storeClause(30, "An AddIndexers whose IndexFunc fails on a stored object panics and adds none "+
		"of its names", fromDesign),
	storeClause(31, "Index returns the error of an IndexFunc that fails on the given object, "+
		"passes its panic on, and holds no lock afterwards", fromStore),
	storeClause(32, "An IndexFunc must not call its own store but may call any other one, and who "+
		"holds a result may call anything", "client-go v0.37.2 runs IndexFunc under its lock"),
	storeClause(33, "Resync does nothing and returns nil", fromStore),
	storeClause(34, "The calls on one key are linearizable: a Get that begins after an Update "+
		"returned sees it, or a later write", "Herlihy and Wing 1990; "+fromStore),
	storeClause(35, "All calls together are linearizable: one order that agrees with real time "+
		"explains every result", "Herlihy and Wing 1990; "+fromStore),
	storeClause(36, "No write is lost among concurrent ones: when they have ended each key holds "+
		"the last object written to it and every index agrees with the objects", fromStore),

	storePowerClause(37, CapTransaction,
		"Transaction applies its writes in their order; an empty one does nothing", fromStore),
	storePowerClause(38, CapTransaction,
		"A Transaction is one instant to every read: none of its writes are seen, or all", fromStore),
	storePowerClause(39, CapTransaction,
		"A Transaction with a write whose IndexFunc fails panics, even if a later write of the same "+
			"Transaction is to the same key. It leaves nothing half written: none of its writes are applied",
		fromDesign),

	storePowerClause(40, CapResourceVersion,
		"LastStoreSyncResourceVersion returns the version last given to Bookmark or Replace, or that "+
			"of the object last given to Add or Update, whichever was later",
		fromStore+" with the AtomicFIFO gate on, its default"),
	storePowerClause(41, CapResourceVersion,
		"DeleteWithObject deletes the key and takes the object's resource version; Delete, and "+
			"DeleteWithObject of nil, leave the version as it was", fromStore),
	storePowerClause(42, CapResourceVersion,
		"A write of an object without metadata leaves the resource version as it was, whatever "+
			"becomes of the objects that have left the store", fromStore),
	storePowerClause(43, CapResourceVersion,
		"A Transaction takes the resource version of its last object", fromStore),

	storeClause(44, "AddIndexers beside open reads breaks nothing: each read returns the content "+
		"of one instant, and later writes succeed and keep every index true", fromInstants),
	storeClause(47, "Without calls of Index, an IndexFunc may return the same slice each time with "+
		"other contents: Add, Transaction, Replace, AddIndexers and Delete index as with a slice of "+
		"its own each time", fromStore),
	storeClause(48, "During writes a store calls its IndexFuncs one at a time, so without calls of "+
		"Index they may keep state, such as a memo map, without a lock; Index may call them at any time",
		fromStore+" runs them under its write lock for writes, under its read lock for Index"),
	storeClause(49, "What a write costs grows linearly, up to logarithms, with the index values of "+
		"the objects that it touches, before and after", fromStore),
	storeClause(50, "A deletion runs no IndexFunc on the object that it is given, which may be a "+
		"tombstone, or of a type that the IndexFunc does not know", fromStore),

	storePowerClause(51, CapAppend,
		"AppendList and AppendByIndex append what List and ByIndex return to the given slice, which "+
			"is the caller's afterwards; of an index that does not exist AppendByIndex returns the slice "+
			"as it was, and an error", fromDesign),

	storeClause(52, "The error of AddIndexers for a name that the store has contains \"indexer "+
		"conflict\"; that of Index, IndexKeys or ByIndex in an index NAME that it does not have "+
		"contains \"Index with name NAME does not exist\"", fromStore+", whose words programs look for"),

	storeClause(53, "A store keeps nothing that has left it: after later writes and reads it holds "+
		"no object that was updated, deleted or replaced, and no key and no index value without an "+
		"object", "kubernetes#84959; "+fromDesign),
}

func storeClause(n int, rule, source string) Clause {
	return storePowerClause(n, CapCore, rule, source)
}

func storePowerClause(n int, power Capability, rule, source string) Clause {
	return Clause{
		ID:         "STORE-" + strconv.Itoa(n),
		Component:  ComponentStore,
		Capability: power,
		Rule:       rule,
		Source:     source,
	}
}
