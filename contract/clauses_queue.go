package contract

var queueClauses = []Clause{
	{"QUEUE-1", ComponentQueue, CapCore,
		"An item that is added again while it is ready is handed out once", srcWorkqueue},
	{"QUEUE-2", ComponentQueue, CapCore,
		"An item is never with two workers at once: added while it is processed, it comes again after " +
			"Done and not before", srcWorkqueue},
	{"QUEUE-3", ComponentQueue, CapCore,
		"Items that nobody processes come out in the order in which they were added", srcWorkqueue},
	{"QUEUE-4", ComponentQueue, CapCore,
		"An item that is added while it is processed goes to the end of the queue at its Done",
		srcWorkqueue},
	{"QUEUE-5", ComponentQueue, CapCore,
		"Get waits until an item is ready, and every item that becomes ready wakes a Get that waits",
		srcWorkqueue},
	{"QUEUE-6", ComponentQueue, CapCore,
		"Len counts the items that are ready: neither those being processed nor those that wait for " +
			"their time", srcWorkqueue},
	{"QUEUE-7", ComponentQueue, CapCore,
		"An item that is added while it is processed counts in Len from its Done on", srcWorkqueue},
	{"QUEUE-8", ComponentQueue, CapCore,
		"Done of an item that the queue does not hold changes nothing", srcWorkqueue},
	{"QUEUE-9", ComponentQueue, CapCore, "Done of an item that is ready leaves it ready, once",
		"design: follows from QUEUE-1 and QUEUE-2"},
	{"QUEUE-10", ComponentQueue, CapCore,
		"After ShutDown nothing new enters: Add and AddAfter are ignored", srcWorkqueue},
	{"QUEUE-11", ComponentQueue, CapCore,
		"After ShutDown Get hands out what is ready, and then the zero item with shutdown = true",
		srcWorkqueue},
	{"QUEUE-12", ComponentQueue, CapCore, "ShutDown wakes every Get that waits", srcWorkqueue},
	{"QUEUE-13", ComponentQueue, CapCore,
		"ShuttingDown is false until ShutDown or ShutDownWithDrain is called, and true from then on",
		srcWorkqueue},
	{"QUEUE-14", ComponentQueue, CapCore,
		"ShutDown may be called any number of times, by several goroutines at once", srcDelayingQueue},
	{"QUEUE-15", ComponentQueue, CapCore,
		"ShutDownWithDrain returns only when no item is being processed", srcWorkqueue},
	{"QUEUE-16", ComponentQueue, CapCore,
		"While ShutDownWithDrain waits, workers still get what is ready, and nothing new enters",
		srcWorkqueue},
	{"QUEUE-17", ComponentQueue, CapCore, "ShutDown ends the waiting of a ShutDownWithDrain",
		srcWorkqueue},
	{"QUEUE-18", ComponentQueue, CapCore,
		"Every ShutDownWithDrain that waits returns when the last item is done",
		"design: ShutDown and its kin may be called by several goroutines at once"},
	{"QUEUE-19", ComponentQueue, CapCore,
		"After ShutDown no goroutine of the queue is left, however its clock stands", srcDelayingQueue},
	{"QUEUE-20", ComponentQueue, CapCore,
		"After ShutDownWithDrain no goroutine of the queue is left, however its clock stands",
		"design: as QUEUE-19"},
	{"QUEUE-21", ComponentQueue, CapCore,
		"Nothing is lost: after every Add and AddAfter the item is handed out, with any number of " +
			"producers and workers", srcWorkqueue},
	{"QUEUE-22", ComponentQueue, CapCore,
		"AddAfter hands out an item once its delay has passed, and not before", srcDelayingQueue},
	{"QUEUE-23", ComponentQueue, CapCore, "AddAfter with a delay of zero or less adds at once",
		srcDelayingQueue},
	{"QUEUE-24", ComponentQueue, CapCore,
		"An item that is delayed twice comes once, at the earlier of the two times", srcDelayingQueue},
	{"QUEUE-25", ComponentQueue, CapCore, "Delayed items come out in the order of their times",
		srcDelayingQueue},
	{"QUEUE-26", ComponentQueue, CapCore,
		"ShutDown and ShutDownWithDrain drop the items that wait for their time", srcDelayingQueue},
	{"QUEUE-27", ComponentQueue, CapCore,
		"AddAfter does not wait for a worker, however many items wait for their time", srcDelayingQueue},
	{"QUEUE-28", ComponentQueue, CapRateLimiting,
		"AddRateLimited asks the limiter once and hands out the item, once, when the limiter's delay " +
			"has passed", srcRateLimiting},
	{"QUEUE-29", ComponentQueue, CapRateLimiting,
		"NumRequeues counts an item's AddRateLimited since its last Forget, and no other item's",
		srcRateLimiting},
	{"QUEUE-30", ComponentQueue, CapRateLimiting,
		"Forget clears the item's count and nothing else: the item stays where it is and still needs " +
			"Done", srcRateLimiting},
	{"QUEUE-31", ComponentQueue, CapPriority,
		"Get hands out an item of the highest priority that is ready, first in, first out within a " +
			"priority; it may hand out the item that has been ready longest instead after three Gets or " +
			"more by priority", srcPriorityQueue},
	{"QUEUE-32", ComponentQueue, CapPriority,
		"GetWithPriority gives the highest priority that the item was added with since it was last " +
			"handed out, zero where none was given", srcPriorityQueue},
	{"QUEUE-33", ComponentQueue, CapPriority,
		"A ready item that is added again with a higher priority goes to the end of that priority; " +
			"with a lower or an equal one it stays where it is", srcPriorityQueue},
	{"QUEUE-34", ComponentQueue, CapPriority,
		"An item that waits for its time and is added again takes the higher of the two priorities " +
			"and the earlier of the two times, and comes once", srcPriorityQueue},
	{"QUEUE-35", ComponentQueue, CapPriority,
		"An item that is added while it is processed comes again with the priority of that Add, not " +
			"with the one that it had", srcPriorityQueue},
	{"QUEUE-36", ComponentQueue, CapPriority,
		"AddWithOpts with RateLimited asks the limiter once for each item; with After as well the " +
			"shorter delay counts, and one below zero adds at once", srcPriorityQueue},
	{"QUEUE-37", ComponentQueue, CapPriority,
		"AddWithOpts adds every item that it is given; Add, AddAfter and AddRateLimited add with " +
			"priority zero", srcPriorityQueue},
	{"QUEUE-38", ComponentQueue, CapPriority,
		"No priority starves: an item is handed out after at most 64 Gets for itself and for each " +
			"item that became ready before it, whatever of higher priority keeps coming",
		"design: fairness; https://github.com/kubernetes-sigs/controller-runtime/issues/2374 has none"},
	{"QUEUE-39", ComponentQueue, CapCore, "No reference to an item is kept after its Done",
		"kubernetes#105031: slots of a queue that kept popped items alive"},
	{"QUEUE-40", ComponentQueue, CapPriority,
		"Items of one priority that are due at the same instant, and were added once each, come out " +
			"in the order in which they were added", srcPriorityQueue},
	{"QUEUE-41", ComponentQueue, CapConfigured,
		"A queue with a name and a metrics provider makes each metric once, under that name; a queue " +
			"without a name makes none", srcQueueMetrics},
	{"QUEUE-42", ComponentQueue, CapConfigured,
		"The metrics count: adds is how many items became ready or are to be at their Done, depth is " +
			"how many of them no worker took yet, retries is how many were delayed (a queue without " +
			"priorities may count AddAfter without a delay too); what comes after ShutDown is not counted",
		srcQueueMetrics},
	{"QUEUE-43", ComponentQueue, CapConfigured,
		"The metrics measure, in seconds: latency from Add to Get, work duration from Get to Done, " +
			"and at least once a second how long the items that workers have are with them, the sum and " +
			"the longest, until ShutDown", srcQueueMetrics},
	{"QUEUE-44", ComponentQueue, CapConfigured,
		"An order that the queue is given decides which ready item is next: it gets each one by Push " +
			"and hears by Touch of one that is added again while it is ready, before Add returns (before " +
			"Done returns if a worker had the item), and gives the next by Pop; the queue makes one call " +
			"of it at a time", srcWorkqueue},
	{"QUEUE-45", ComponentQueue, CapConfigured,
		"Where the metrics provider tells priorities apart, the depth of a queue with priorities is " +
			"that of each priority, and that of another queue one number", srcPriorityQueue},
	{"QUEUE-46", ComponentQueue, CapCore,
		"What passes through leaves nothing: the memory that a queue takes does not grow with how " +
			"many items it has handed out", "design"},
	{"QUEUE-47", ComponentQueue, CapConfigured,
		"A queue with priorities that is given a Turn: when Turn-1 Gets in a row have passed over the " +
			"item that has been ready longest, the next Get returns it; no other Get goes by age, and " +
			"with a Turn below zero none does", "design: fairness, exactly as it is asked for"},
	{"QUEUE-48", ComponentQueue, CapCore,
		"A queue that has nothing to do does nothing: while it waits for an Add or for a time, it " +
			"reads the clock, sets a timer or is woken by one at most ten times a second, and a Get that " +
			"waits does not ask again and again", srcDelayingQueue},
	{"QUEUE-49", ComponentQueue, CapConfigured,
		"An order or a metric that panics ends the call that needed it, and not the queue: no lock " +
			"stays held, workers that wait get what is ready, other items come as before, an item whose " +
			"Add a metric has ended so may be added again, and ShutDownWithDrain waits for no item that " +
			"no worker has", srcWorkqueue},
}
