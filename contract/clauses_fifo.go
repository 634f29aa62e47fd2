package contract

// The sources that most clauses of a FIFO share. All speak of client-go v0.37.2
// unless they name another version.
const (
	srcDeltaFIFO  = "client-go tools/cache/delta_fifo.go"
	srcRealFIFO   = "client-go tools/cache/the_real_fifo.go"
	srcBothFIFOs  = srcDeltaFIFO + " and the_real_fifo.go"
	srcCacheQueue = "client-go tools/cache/fifo.go, Queue"
	srcKeyedV017  = "client-go v0.17 tools/cache/delta_fifo.go"
)

// fifoClauses are the clauses of FIFOs. A new clause goes to the end, whatever its capability.
var fifoClauses = []Clause{
	fifoClause("FIFO-1", CapCore, srcBothFIFOs,
		"Pop hands out what was queued in the order of arrival; in class coalescing, keys in the "+
			"order in which they began to wait"),
	fifoClause("FIFO-2", CapCore, srcCacheQueue,
		"Pop waits until something is queued, without asking again and again, and each producing "+
			"method that queues something wakes a waiting Pop"),
	fifoClause("FIFO-3", CapCore, srcCacheQueue,
		"Close wakes every waiting Pop, and Pop on a FIFO that is closed and empty returns "+
			"ErrFIFOClosed without calling process"),
	fifoClause("FIFO-4", CapCore, srcBothFIFOs,
		"What waits when the FIFO is closed is still handed out before the first ErrFIFOClosed"),
	fifoClause("FIFO-5", CapCore, srcBothFIFOs,
		"Add, Update and Delete queue a delta of type Added, Updated and Deleted that carries the "+
			"very object given"),
	fifoClause("FIFO-6", CapCore, srcCacheQueue,
		"Pop calls process once and returns the Deltas that process was given, along with the error "+
			"that process returned"),
	fifoClause("FIFO-7", CapCore, srcBothFIFOs+" (deferred unlock)",
		"A process that panics leaves the FIFO usable: no lock is left held, what it was given counts "+
			"as popped, and the rest still waits"),
	fifoClause("FIFO-8", CapCore, srcBothFIFOs,
		"When KeyFunc fails, Add, Update and Delete return a KeyError that carries the object and "+
			"queue nothing"),
	fifoClause("FIFO-9", CapCore, srcBothFIFOs,
		"When KeyFunc fails for an object of its list, Replace returns a KeyError that carries that "+
			"object; in class in-order-atomic, where a list is one event without keys, KeyFunc is not "+
			"asked and the list is queued"),
	fifoClause("FIFO-10", CapCore, srcBothFIFOs+", KeyOf",
		"A DeletedFinalStateUnknown is keyed by its Key and never given to KeyFunc"),
	fifoClause("FIFO-11", CapCore, srcBothFIFOs+"; store.go, MetaNamespaceKeyFunc",
		"The key of an object is the string that KeyFunc gives for it, whatever the object has for a "+
			"name; a nil KeyFunc means MetaNamespaceKeyFunc, which takes an ExplicitKey for an object of "+
			"that key"),
	fifoClause("FIFO-12", CapCore, srcCacheQueue,
		"HasSynced is false until something was queued or replaced"),
	fifoClause("FIFO-13", CapCore, srcCacheQueue,
		"HasSynced is true at once when the first call was an Add, an Update or a Delete, even a "+
			"Delete that is ignored"),
	fifoClause("FIFO-14", CapCore, srcCacheQueue,
		"When the first call was Replace, HasSynced becomes true exactly with the Pop that takes the "+
			"last of what that Replace left waiting, the deletions that it implied included"),
	fifoClause("FIFO-15", CapCore, srcBothFIFOs,
		"A first Replace that leaves nothing waiting makes HasSynced true at once; in class "+
			"in-order-atomic, where even an empty list is an event, once that event was popped"),
	fifoClause("FIFO-16", CapCore, srcBothFIFOs,
		"HasSynced never becomes false again, whatever a later Replace brings"),
	fifoClause("FIFO-17", CapCore, srcBothFIFOs,
		"HasSynced does not answer true before process has returned from the last item of the initial "+
			"list"),
	fifoClause("FIFO-18", CapCore, "client-go tools/cache/fifo.go (FIFO.Pop) and the_real_fifo.go",
		"The channel of HasSyncedChecker, where a FIFO has one, is closed neither before process has "+
			"returned from the last item of the initial list nor after that Pop has returned"),
	fifoClause("FIFO-19", CapCore, srcBothFIFOs,
		"Pop tells process isInInitialList exactly when HasSynced was false as the item was taken"),
	fifoClause("FIFO-20", CapCore, "design",
		"With any number of producers nothing is lost or handed out twice, and the events of one "+
			"producer on one key stay in order"),
	fifoClause("FIFO-21", CapCore, "design; "+srcCacheQueue,
		"Waiting Pops share what arrives: each event goes to exactly one of them, and none sleeps on "+
			"while something waits"),
	fifoClause("FIFO-22", CapCore, "client-go tools/cache/controller.go, processDeltas",
		"A consumer that applies what it pops to its store, which is the KnownObjects, ends with the "+
			"state of the source, though relists, missed events and resyncs came between"),
	fifoClause("FIFO-23", CapCore, srcDeltaFIFO+", the threading note on NewDeltaFIFO",
		"KnownObjects is never consulted while process runs, so that process may change it; class "+
			"in-order-atomic never consults it"),
	fifoClause("FIFO-24", CapCore, "design; "+srcRealFIFO+" (it clears popped slots)",
		"However objects came and were popped, alone, in a list or in a batch, at most 16 of those "+
			"popped are still reachable from the FIFO"),
	fifoClause("FIFO-25", CapCore, "design",
		"Whatever the history of calls, the deltas that come out, their grouping, their order, the "+
			"initial-list flag and HasSynced are those of the simple model of the class"),

	fifoClause("FIFO-26", CapCoalescing, srcDeltaFIFO,
		"What happens to a key while it waits comes out in one Deltas, oldest first"),
	fifoClause("FIFO-27", CapCoalescing, srcDeltaFIFO,
		"A waiting key keeps its place whatever is added to it, and goes to the end when it comes "+
			"again after it was popped"),
	fifoClause("FIFO-28", CapCoalescing, srcDeltaFIFO+", isDeletionDup",
		"Of deletions of one key in a row only the first is kept, unless it is a "+
			"DeletedFinalStateUnknown"),
	fifoClause("FIFO-29", CapCoalescing, srcDeltaFIFO+", isDeletionDup",
		"A DeletedFinalStateUnknown gives way to the deletion that follows it and never displaces the "+
			"deletion of an object"),
	fifoClause("FIFO-30", CapCoalescing, srcDeltaFIFO+", Delete",
		"A Delete of a key that neither waits nor is known is ignored without an error; with nil "+
			"KnownObjects no key is known"),
	fifoClause("FIFO-31", CapCoalescing, srcDeltaFIFO+", Delete",
		"A Delete of a key that is known is queued though the key does not wait, and so is one whose "+
			"look-up fails"),
	fifoClause("FIFO-32", CapCoalescing, srcDeltaFIFO+" with EmitDeltaTypeReplaced",
		"Replace queues a Replaced delta for each object of its list in order, two for a key that is "+
			"listed twice"),
	fifoClause("FIFO-33", CapCoalescing, srcDeltaFIFO+", Replace",
		"Replace deletes each waiting key that it does not list, by a DeletedFinalStateUnknown with "+
			"the newest object that waited, not the known one and never a tombstone within a tombstone"),
	fifoClause("FIFO-34", CapCoalescing, srcDeltaFIFO+", Replace",
		"Replace deletes each known key that is neither listed nor waiting, after the listed ones and "+
			"in the order of ListKeys, by a DeletedFinalStateUnknown with the known object, or with nil "+
			"if the look-up fails or finds nothing"),
	fifoClause("FIFO-35", CapCoalescing, srcDeltaFIFO+", Resync",
		"Resync queues a Sync delta for each known object whose key does not wait, in the order of "+
			"ListKeys, leaves out those that a look-up does not find, and does nothing with nil "+
			"KnownObjects"),

	fifoClause("FIFO-36", CapInOrder, srcRealFIFO,
		"Each event comes out in Deltas of its own, and none is merged or dropped: not a repeated "+
			"deletion, nor the deletion of an unknown key"),
	fifoClause("FIFO-37", CapInOrder, srcRealFIFO+", reconcileReplacement",
		"Unless events are atomic, Replace queues deletions (by DeletedFinalStateUnknown) of unlisted "+
			"waiting keys whose newest event is no deletion, in the order in which the keys began to "+
			"wait, then of unlisted known keys that do not wait, in the order of ListKeys, then a "+
			"Replaced delta for each listed object in order; a known object that a look-up does not find "+
			"is nil"),
	fifoClause("FIFO-38", CapInOrder, srcRealFIFO+", Resync",
		"Unless events are atomic, Resync queues a Sync delta for each known object whose key does "+
			"not wait, in the order of ListKeys, and leaves out those that a look-up does not find"),
	fifoClause("FIFO-39", CapAtomic, srcRealFIFO+", addReplaceToItemsLocked",
		"Replace queues one ReplacedAll delta whose ReplacedAllInfo has every object in order and the "+
			"resource version"),
	fifoClause("FIFO-40", CapAtomic, srcRealFIFO+", addResyncToItemsLocked",
		"Resync queues one SyncAll delta with a SyncAllInfo"),

	fifoClause("FIFO-41", CapBatch, srcRealFIFO+", PopBatch",
		"What PopBatch hands out, call after call, is what Pop would, in the same order and with the "+
			"deltas of a key together, and no processBatch is given a key twice"),
	fifoClause("FIFO-42", CapBatch, srcRealFIFO+", PopBatch",
		"PopBatch gives one event to processSingle as Deltas and several to processBatch, calls only "+
			"one of the two, once, and returns its error"),
	fifoClause("FIFO-43", CapBatch, srcRealFIFO+", PopBatch",
		"A ReplacedAll or a SyncAll delta is never in a batch with another"),
	fifoClause("FIFO-44", CapBatch, srcRealFIFO+", PopBatch",
		"No batch holds both events of the initial list and later ones, and HasSynced and "+
			"isInInitialList are as with Pop"),
	fifoClause("FIFO-45", CapBatch, srcRealFIFO+", PopBatch",
		"PopBatch waits, is woken, and returns ErrFIFOClosed as Pop does, and what other clauses say "+
			"of process holds of processBatch and processSingle, except that nothing is put back"),

	fifoClause("FIFO-46", CapKeyedQueue, srcKeyedV017+", Pop",
		"When process returns an ErrRequeue, or an error that wraps one, the Deltas are put back as "+
			"AddIfNotPresent would and Pop returns them with the inner error"),
	fifoClause("FIFO-47", CapKeyedQueue, srcKeyedV017+", AddIfNotPresent",
		"AddIfNotPresent queues Deltas at the end unless their key, that of the newest, waits, and "+
			"refuses what is not Deltas and, with a KeyError, empty Deltas and those without a key"),
	fifoClause("FIFO-48", CapKeyedQueue, srcKeyedV017,
		"ListKeys and List give each waiting key and its newest object once; Get, for an object or "+
			"for Deltas by the key of the newest, and GetByKey give the Deltas that wait, and "+
			"exists=false for any other key"),
	fifoClause("FIFO-49", CapKeyedQueue, srcKeyedV017+", copyDeltas",
		"What List, ListKeys, Get and GetByKey returned belongs to the caller: no later call changes "+
			"it, and changing it changes nothing that waits"),
	fifoClause("FIFO-50", CapKeyedQueue, srcKeyedV017+", Get",
		"Get returns a KeyError that carries the object when KeyFunc fails"),
	fifoClause("FIFO-51", CapKeyedQueue, srcKeyedV017+", AddIfNotPresent",
		"AddIfNotPresent as the first call makes HasSynced true at once"),
	fifoClause("FIFO-52", CapKeyedQueue, srcKeyedV017+", IsClosed",
		"IsClosed is false until Close and true from then on"),

	fifoClause("FIFO-53", CapTransform, srcBothFIFOs+"; TransformFunc",
		"The transformer is called once for each object given to Add, Update, Delete and Replace, and "+
			"what it returns is what is queued"),
	fifoClause("FIFO-54", CapTransform, srcBothFIFOs,
		"The transformer is called neither for a DeletedFinalStateUnknown nor for the objects of a "+
			"Resync"),
	fifoClause("FIFO-55", CapTransform, srcBothFIFOs,
		"When the transformer fails, the call returns its error and queues nothing of that object"),
	fifoClause("FIFO-56", CapTransform, "client-go tools/cache/reflector.go, TransformingStore",
		"Transformer returns the function that the FIFO was given"),

	fifoClause("FIFO-57", CapUnlocked,
		"https://github.com/kubernetes/kubernetes/issues/103789, "+
			"https://github.com/kubernetes/kubernetes/pull/136264",
		"No producing method waits for process, however much waits: Add, Update, Delete, Replace and "+
			"Resync return while it runs, also if process itself calls them"),
	fifoClause("FIFO-58", CapCore, srcDeltaFIFO+" (the lock is held while process runs)",
		"A Delete, Replace or Resync that comes while process runs has the outcome that it would have "+
			"once process has returned, and what comes behind it stays behind it: an item in flight is "+
			"what process makes of it, neither absent nor as it was"),
	fifoClause("FIFO-59", CapCore, srcBothFIFOs,
		"What comes for a key while process has it comes out later, and the Deltas that process has "+
			"do not change"),
	fifoClause("FIFO-60", CapCore, srcBothFIFOs+" (the lock is held while process runs)",
		"What is in flight when the first Replace comes does not count as part of the initial list"),
	fifoClause("FIFO-61", CapKeyedQueue, srcKeyedV017+", Pop",
		"What comes for a key while process has it, and process returns an ErrRequeue, comes out "+
			"after what is put back, or in its place"),
	fifoClause("FIFO-62", CapBatch, srcRealFIFO+", PopBatch",
		"A batch of PopBatch ends only before a key that it has, a key that waits with several "+
			"deltas, a ReplacedAll or SyncAll delta, at the end of the initial list or of what waits, or "+
			"at a bound of no less than 100 events"),
	fifoClause("FIFO-63", CapCore, "design",
		"While every waiting event has a key of its own, Len, where a FIFO has one, is the number of "+
			"waiting events; with CapUnlocked it does not wait for process, and each producing call that "+
			"came meanwhile counts for one or more"),
}

func fifoClause(id string, capability Capability, source, rule string) Clause {
	return Clause{ID: id, Component: ComponentFIFO, Capability: capability, Rule: rule, Source: source}
}
