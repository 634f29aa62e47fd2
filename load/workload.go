package load

import (
	"time"

	"github.com/informerbench/informerbench/contract"
)

// Workload says what is measured: on which component, over which objects, by
// which actors and for how long. It is data: the same value comes from a preset
// or from a YAML file, whose field names are those of the yaml tags.
//
// A workload has uncontended operations (Ops), actor groups (Groups), or both;
// the two are measured one after the other, never together.
type Workload struct {
	// Name is the workload's segment in a benchmark's name: lower case letters,
	// digits and dashes.
	Name string `yaml:"name"`
	// Source says where the numbers come from: a URL, an issue, a file.
	Source string `yaml:"source,omitempty"`
	// Description is one or two sentences for lists and reports.
	Description string `yaml:"description,omitempty"`
	// Component is what is measured: store, fifo, delay, queue or informer.
	Component contract.Component `yaml:"component"`
	// Objects is what the component holds or is given.
	Objects ObjectSpec `yaml:"objects"`
	// Index is the index that by-index, index and index-keys read where a group
	// names none: IndexNode or IndexNamespace. The default is IndexNode for a store, which
	// has both, and IndexNamespace for an informer, which has it and those that its groups
	// read, as generated informers have that one alone. Nothing else has an index.
	Index string `yaml:"index,omitempty"`
	// Waiting is how many items a delay heap or a queue holds before the
	// measurement begins; at most Objects.Count.
	Waiting int `yaml:"waiting,omitempty"`
	// Ahead spreads the ready times of the waiting items evenly over the time
	// from now to Ahead. 0 means that all are ready at once. In a queue with groups
	// they lie in the second half of it: filling and warmup have the first.
	Ahead time.Duration `yaml:"ahead,omitempty"`
	// Ops are single operations, each measured with nothing else going on.
	Ops []Op `yaml:"ops,omitempty,flow"`
	// Parallel is the numbers of goroutines that each of Ops is measured with;
	// the default is 1 alone. An informer's deliver has a handler for each.
	Parallel []int `yaml:"parallel,omitempty,flow"`
	// Groups are actors that work at the same time.
	Groups []Group `yaml:"groups,omitempty"`
	// Sweep repeats the workload for several values of one number.
	Sweep Sweep `yaml:"sweep,omitempty"`
	// Duration is how long one fork measures; the default is DefaultDuration.
	Duration time.Duration `yaml:"duration,omitempty"`
	// Warmup runs the same load before, without measuring.
	Warmup time.Duration `yaml:"warmup,omitempty"`
	// Faults strike the list/watch source when the workload runs over one.
	Faults []Fault `yaml:"faults,omitempty"`
	// Seed makes objects, order and ready times; the default is 1.
	Seed uint64 `yaml:"seed,omitempty"`
}

// Group is a number of goroutines that do the same thing.
type Group struct {
	// Name is unique within the workload; lower case letters, digits and dashes.
	Name string `yaml:"name"`
	// Op is one of Operations(component).
	Op Op `yaml:"op"`
	// Goroutines is how many do it. 0 leaves the group out, which is what a
	// sweep from 0 readers needs.
	Goroutines int `yaml:"goroutines"`
	// Rate is how many operations per second the whole group is offered, timed
	// from when each was due (open loop). 0 is a closed loop: each goroutine
	// begins the next operation when the last one is done.
	Rate float64 `yaml:"rate,omitempty"`
	// Batch is how many objects one operation takes: the writes of a transaction
	// and the most that a PopBatch hands out. The default is 1. A replace always
	// takes all objects.
	Batch int `yaml:"batch,omitempty"`
	// Keys limits the group to that many of the objects; 0 means all.
	Keys int `yaml:"keys,omitempty"`
	// Index is the index that is read, where Op reads one; the default is the
	// workload's.
	Index string `yaml:"index,omitempty"`
	// Work is how long the handler of a consumer (pop, get-done, handle) takes for each item.
	Work time.Duration `yaml:"work,omitempty"`
	// Think is a pause between two operations of one goroutine in a closed loop.
	Think time.Duration `yaml:"think,omitempty"`
	// Ahead spreads the ready times that add (of a delay heap), mixed and
	// add-after give, evenly over the time from now to Ahead.
	Ahead time.Duration `yaml:"ahead,omitempty"`
	// Requeue makes a queue's worker (get-done) add each item again when it is
	// done, so that the queue stays full.
	Requeue bool `yaml:"requeue,omitempty"`
}

// Sweep repeats a workload with one number changed. The zero Sweep changes nothing.
type Sweep struct {
	// Vary names the number: "objects" (Objects.Count), "waiting" (Waiting and,
	// if smaller, Objects.Count), "GROUP.goroutines", "GROUP.rate",
	// "GROUP.batch" or "procs" (GOMAXPROCS of the measuring process).
	Vary string `yaml:"vary"`
	// Values are what it takes, one after the other.
	Values []int `yaml:"values,flow"`
}

// IsZero reports whether nothing is swept; yaml asks it.
func (s Sweep) IsZero() bool { return s.Vary == "" && len(s.Values) == 0 }

// FaultKind names what goes wrong in a [Source].
type FaultKind string

// The faults. An occasion is what After and Every count for that kind.
const (
	// FaultGone ends a watch with a 410 ERROR event and forgets the history, so
	// that the client must list again. Occasion: an event about to be sent.
	FaultGone FaultKind = "gone"
	// FaultClose closes a watch without a word, as a load balancer does.
	// Occasion: an event about to be sent; the event itself stays in the history.
	FaultClose FaultKind = "close"
	// FaultError ends a watch with a 500 ERROR event. Occasion: an event about to be sent.
	FaultError FaultKind = "error"
	// FaultDelay holds an event and those behind it back for Delay. Occasion: an
	// event about to be sent.
	FaultDelay FaultKind = "delay"
	// FaultDropBookmarks leaves a bookmark out, other than the one that ends the
	// initial events. Occasion: such a bookmark.
	FaultDropBookmarks FaultKind = "drop-bookmarks"
	// FaultExpireContinue answers a list that continues with 410. Occasion: such a list.
	FaultExpireContinue FaultKind = "expire-continue"
	// FaultTooLarge answers "too large resource version", as a cache that lags
	// does. Occasion: a list or a watch that asks for a version other than "" and "0".
	FaultTooLarge FaultKind = "too-large"
	// FaultListError answers a list with 500. Occasion: a list.
	FaultListError FaultKind = "list-error"
	// FaultWatchRefused answers a watch with 429. Occasion: the start of a watch.
	FaultWatchRefused FaultKind = "watch-refused"
	// FaultCacheRestart begins the watch cache anew at the present version, while the
	// storage keeps its history: the watch ends, and each watch from an older version is
	// answered 410, although a list at exactly that version is still served. A server
	// does so when it is restarted and when a custom resource definition changes.
	// Occasion: an event about to be sent; the event itself stays in the history.
	FaultCacheRestart FaultKind = "cache-restart"
	// FaultCacheFilling answers a list at version "0" from the storage, in pages as its
	// limit says, as a server does whose watch cache is not filled yet. Occasion: a list
	// at version "0" that has more objects than its limit.
	FaultCacheFilling FaultKind = "cache-filling"
)

// FaultKinds lists the kinds, for messages and checks.
func FaultKinds() []FaultKind {
	return []FaultKind{FaultGone, FaultClose, FaultError, FaultDelay, FaultDropBookmarks,
		FaultExpireContinue, FaultTooLarge, FaultListError, FaultWatchRefused,
		FaultCacheRestart, FaultCacheFilling}
}

// Fault says when a [Source] fails, and how. It strikes by count (AfterEvents,
// EveryEvents) or by time (After, Every), not both. With nothing but a Kind it
// strikes once, at the first occasion.
type Fault struct {
	Kind FaultKind `yaml:"kind"`
	// AfterEvents lets that many occasions pass before the first strike.
	AfterEvents int `yaml:"after_events,omitempty"`
	// EveryEvents strikes again at each EveryEvents-th occasion after the first strike.
	EveryEvents int `yaml:"every_events,omitempty"`
	// After is when the first strike is due, counted from the source's start; it
	// comes at the first occasion from then on.
	After time.Duration `yaml:"after,omitempty"`
	// Every makes a strike due again each Every after the first.
	Every time.Duration `yaml:"every,omitempty"`
	// Count is how often it strikes at most; 0 means once, or without end if
	// EveryEvents or Every is given.
	Count int `yaml:"count,omitempty"`
	// Delay is how long FaultDelay holds back.
	Delay time.Duration `yaml:"delay,omitempty"`
}

// Variant is a workload with the sweep resolved.
type Variant struct {
	Workload Workload // its Sweep is zero
	// Key and Value are a segment of the benchmark's name: {"listers", 10},
	// {"objects", 1000}. Key is "" if the workload sweeps nothing, or procs.
	Key   string
	Value int
	// Procs is the GOMAXPROCS to measure with; 0 leaves it to the run.
	Procs int
}

// Preset is one or more workloads under a name, with the place they come from.
type Preset struct {
	Name        string
	Description string
	Source      string
	// Brief says that the preset is to be done while one waits: implementations that
	// are there for study take part only if they are named.
	Brief     bool
	Workloads []Workload
}
