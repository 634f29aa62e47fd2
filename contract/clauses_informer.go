package contract

// CapMutationDetection marks an informer that reports objects that were changed after it
// handed them out.
const CapMutationDetection Capability = "mutation-detection"

// The sources that most clauses of an informer share. All speak of client-go v0.37.2.
const (
	srcSharedInformer  = "client-go tools/cache/shared_informer.go"
	srcInformerDoc     = srcSharedInformer + ", the comments on SharedInformer"
	srcReflector       = "client-go tools/cache/reflector.go"
	srcMutation        = "client-go tools/cache/mutation_detector.go"
	srcHandlerContract = "client-go tools/cache/controller.go, the comments on ResourceEventHandler"
)

// informerClauses are the clauses of the informer. A new clause goes to the end, whatever
// its capability. At a quiet moment the source has nothing more to tell and every goroutine
// of the informer waits.
var informerClauses = []Clause{
	informerClause("INFORMER-1", srcInformerDoc,
		"At any quiet moment the store holds every object of the source at its newest version, and "+
			"nothing else; lists, look-ups, indexes and handlers give one object, not copies"),
	informerClause("INFORMER-2", srcSharedInformer,
		"At any quiet moment each index gives exactly the objects of the store that have the value"),
	informerClause("INFORMER-3", srcHandlerContract,
		"Of each object a handler sees an add first, then updates, then a delete, and no second add "+
			"or delete without the other between"),
	informerClause("INFORMER-4", srcInformerDoc,
		"At any quiet moment the last that a handler was told of each object is what the store holds"),
	informerClause("INFORMER-5", srcHandlerContract,
		"The old object of OnUpdate is in the state that the handler was given before, and the new "+
			"one is never older than it"),
	informerClause("INFORMER-6", srcHandlerContract,
		"A deletion that was watched reaches OnDelete as the object in its last state, not as a "+
			"tombstone"),
	informerClause("INFORMER-7", srcHandlerContract,
		"A deletion that only a list shows, and nothing that the source still has, reaches OnDelete "+
			"once, as a DeletedFinalStateUnknown with the key and the object last known"),
	informerClause("INFORMER-8", srcHandlerContract,
		"OnAdd is told isInInitialList for the objects of the first list, and for those that a "+
			"handler which is added later finds, and for no others"),
	informerClause("INFORMER-9", srcInformerDoc,
		"HasSynced and HasSyncedChecker of the informer answer true once every object of the first "+
			"list is in the store, never before, and from then on"),
	informerClause("INFORMER-10", srcInformerDoc,
		"HasSynced and HasSyncedChecker of a registration answer true once its handler has returned "+
			"from the last object of its initial list, never before, and from then on"),
	informerClause("INFORMER-11",
		srcSharedInformer+", sharedProcessor; the comments on SharedInformer also allow informers "+
			"that resync less often or never",
		"A handler with a resync period is given an update for every object of the store, with the "+
			"object as old and new, once in each period"),
	informerClause("INFORMER-12", srcSharedInformer+", sharedProcessor",
		"A resync that is due for one handler reaches no other, and a handler without a period gets none"),
	informerClause("INFORMER-13", srcSharedInformer+", AddEventHandlerWithOptions",
		"A handler that is added to a running informer is given an add for every object of the store, "+
			"then what happens next: nothing is missing and nothing comes twice"),
	informerClause("INFORMER-14", srcInformerDoc,
		"A handler that was removed is called no more once what was queued for it is worked off, the "+
			"others go on, and removing it again is no error; cache.ShutDownEventHandler returns nil "+
			"once the handler has returned from its last call"),
	informerClause("INFORMER-15", srcSharedInformer+", AddIndexers",
		"AddIndexers works before the start and on a filled store while the informer runs, and "+
			"refuses a name that is taken without changing anything"),
	informerClause("INFORMER-16", srcInformerDoc+" and TransformFunc",
		"The transform is applied to each object that the source sends before the store and the "+
			"handlers see it, and cannot be set once the informer runs"),
	informerClause("INFORMER-17",
		srcSharedInformer+", processorListener.run (with utilruntime.ReallyCrash off)",
		"A handler that panics is called again for what comes next, and neither the store nor the "+
			"other handlers miss anything"),
	informerClause("INFORMER-18", srcInformerDoc,
		"A handler that does not return delays neither the store nor the other handlers, and is given "+
			"all that it missed when it returns"),
	informerClause("INFORMER-19", srcInformerDoc,
		"LastSyncResourceVersion is empty before the first list, and at any quiet moment the version "+
			"of the last list, event or bookmark"),
	informerClause("INFORMER-20", srcInformerDoc,
		"IsStopped answers false until the informer is stopped and true from then on; a stopped "+
			"informer refuses handlers and indexers with an error"),
	informerClause("INFORMER-21", srcInformerDoc,
		"The watch error handler is called with the error of each list that fails, and of a watch "+
			"that cannot be opened unless the connection is refused or the server answers 429; it cannot "+
			"be set once the informer runs"),
	informerClause("INFORMER-22", srcInformerDoc,
		"A handler may read the store, and finds there what it is told or something newer"),
	informerClause("INFORMER-23", srcSharedInformer+", RunWithContext",
		"When Run has returned, none of the informer's goroutines is left, whatever state it was "+
			"stopped in; before Run is called there is none"),
	informerClause("INFORMER-24", srcSharedInformer+", RunWithContext",
		"When Run has returned, no handler is called any more"),
	informerClause("INFORMER-25", srcSharedInformer+", RunWithContext",
		"A second Run of an informer returns at once and disturbs nothing"),
	informerClause("INFORMER-26", srcInformerDoc,
		"Calls of one handler never overlap"),
	informerClause("INFORMER-27", srcReflector,
		"A source that fails is asked again until it answers, with pauses that grow and stay below a "+
			"minute; late in a long outage they are five seconds or more on average"),
	informerClause("INFORMER-28", srcReflector,
		"A watch event with an object of another type than the informer's is passed over, and the "+
			"watch goes on"),
	informerClause("INFORMER-29", "design",
		"After any history of writes, failing lists and watches, handlers that are slow, panic, come "+
			"and go, the clauses on store, handlers and HasSynced hold"),
	{"INFORMER-30", ComponentInformer, CapMutationDetection,
		"An object of the store that somebody changed is reported", srcMutation},
	informerClause("INFORMER-31",
		"design; "+srcReflector+" (watchList transforms before Replace does)",
		"The transform is given no object that it has made itself: what a list or a watch brings is "+
			"transformed once"),
	informerClause("INFORMER-32", srcReflector,
		"At any quiet moment one watch is open at most, and none once Run has returned: a watch that "+
			"is not read any more is stopped"),
	informerClause("INFORMER-33",
		"Kubernetes API concepts, semantics for get and list: a version with a limit and no match is "+
			"an exact version",
		"When a watch is answered 410, the next lists bring the source's present state, even while "+
			"the source still serves a list at exactly the version that cannot be watched any more"),
	informerClause("INFORMER-34", srcSharedInformer+", AddEventHandlerWithOptions and AddIndexers",
		"The errors with which a stopped informer refuses handlers and indexers contain \"has stopped "+
			"already\""),
	informerClause("INFORMER-35", srcSharedInformer+", SetTransform and SetWatchErrorHandler",
		"The errors with which a started informer refuses a transform or a watch error handler "+
			"contain \"informer has already started\""),
	informerClause("INFORMER-36", srcInformerDoc,
		"A registration has not synced while its handler is told of an object of its initial list, "+
			"even if the handler was done with all objects so far just before this one came"),
}

func informerClause(id, source, rule string) Clause {
	return Clause{ID: id, Component: ComponentInformer, Capability: CapCore, Rule: rule,
		Source: source}
}
