package load

import (
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/synthetic"
)

// Workload specifies a measurement: the component, its objects, the actors and the
// duration. It is data: the same value comes from a preset or from a YAML file, whose field
// names are those of the yaml tags.
//
// A workload has uncontended operations (Ops), actor groups (Groups), or both. The two are
// measured one after the other, never together.
type Workload struct {
	// Name is the workload's segment in a benchmark's name: lower case letters,
	// digits and dashes.
	Name string `yaml:"name"`
	// Source says where the numbers come from: a URL, an issue, a file.
	Source string `yaml:"source,omitempty"`
	// Description is one or two sentences for lists and reports.
	Description string `yaml:"description,omitempty"`
	// Component is the measured component: store, fifo, delay, queue or informer.
	Component contract.Component `yaml:"component"`
	// Objects are the objects that the component holds or is given.
	Objects synthetic.ObjectSpec `yaml:"objects"`
	// Index is the index that by-index, index and index-keys read where a group names none:
	// IndexNode or IndexNamespace. A store has both, and its default is IndexNode. An
	// informer's default is IndexNamespace, because generated informers have that index
	// alone; the informer also has the indexes that its groups read. Other components have
	// no index.
	Index string `yaml:"index,omitempty"`
	// Waiting is the number of items in a delay heap or a queue before the measurement
	// begins; at most Objects.Count.
	Waiting int `yaml:"waiting,omitempty"`
	// Ahead spreads the ready times of the waiting items evenly from now to Ahead. 0 means
	// that all are ready at once. In a queue with groups they lie in the second half of
	// that time; filling and warm-up take the first.
	Ahead time.Duration `yaml:"ahead,omitempty"`
	// Ops are single operations, each measured with nothing else going on.
	Ops []Op `yaml:"ops,omitempty,flow"`
	// Parallel are the numbers of goroutines with which each of Ops is measured; the
	// default is 1 alone. An informer's deliver has a handler for each goroutine.
	Parallel []int `yaml:"parallel,omitempty,flow"`
	// Groups are actors that work at the same time.
	Groups []Group `yaml:"groups,omitempty"`
	// Sweep repeats the workload for several values of one number.
	Sweep Sweep `yaml:"sweep,omitempty"`
	// Duration is how long one fork measures; the default is DefaultDuration.
	Duration time.Duration `yaml:"duration,omitempty"`
	// Warmup is how long the same load runs before the measurement.
	Warmup time.Duration `yaml:"warmup,omitempty"`
	// Faults strike the list/watch source when the workload runs over one.
	Faults []synthetic.Fault `yaml:"faults,omitempty"`
	// Seed determines objects, order and ready times; the default is 1.
	Seed uint64 `yaml:"seed,omitempty"`
}

// Group is a number of goroutines that do the same operation.
type Group struct {
	// Name is unique within the workload; lower case letters, digits and dashes.
	Name string `yaml:"name"`
	// Op is one of Operations(component).
	Op Op `yaml:"op"`
	// Goroutines is the number of goroutines. 0 leaves the group out, for sweeps that begin
	// at 0 readers.
	Goroutines int `yaml:"goroutines"`
	// Rate is the offered rate of the whole group, in operations per second, timed from
	// when each was due (open loop). 0 is a closed loop: each goroutine begins the next
	// operation when the last one is done. Consumers (pop, get-done, handle) have no rate:
	// they take what is there.
	Rate float64 `yaml:"rate,omitempty"`
	// Batch is the number of objects per operation: the writes of a transaction, or the
	// most that a PopBatch returns. The default is 1. A replace always takes all objects.
	Batch int `yaml:"batch,omitempty"`
	// Keys limits the group to the first Keys objects; 0 means all.
	Keys int `yaml:"keys,omitempty"`
	// Index is the index that Op reads, where it reads one; the default is the workload's.
	Index string `yaml:"index,omitempty"`
	// Work is how long the handler of a consumer (pop, get-done, handle) takes for each
	// item.
	Work time.Duration `yaml:"work,omitempty"`
	// Think is a pause between two operations of one goroutine in a closed loop.
	Think time.Duration `yaml:"think,omitempty"`
	// Ahead spreads the ready times that add (of a delay heap), mixed and add-after set,
	// evenly from now to Ahead.
	Ahead time.Duration `yaml:"ahead,omitempty"`
	// Requeue makes a queue's worker (get-done) add each item again when it is done, so
	// that the queue stays full.
	Requeue bool `yaml:"requeue,omitempty"`
}

// Sweep repeats a workload with one number changed. The zero Sweep changes nothing.
type Sweep struct {
	// Vary names the number: "objects" (Objects.Count), "waiting" (Waiting and,
	// if smaller, Objects.Count), "GROUP.goroutines", "GROUP.rate",
	// "GROUP.batch" or "procs" (GOMAXPROCS of the measuring process).
	Vary string `yaml:"vary"`
	// Values are the number's values, one after the other.
	Values []int `yaml:"values,flow"`
}

// IsZero reports whether nothing is swept; package yaml calls it.
func (s Sweep) IsZero() bool { return s.Vary == "" && len(s.Values) == 0 }

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

// Preset is one or more workloads under a name, with their source.
type Preset struct {
	Name        string
	Description string
	Source      string
	// Budget is the time for more processes of workloads with inconclusive comparisons, where
	// the user asks for no number of processes and no budget; 0 means none.
	Budget    time.Duration
	Workloads []Workload
}
