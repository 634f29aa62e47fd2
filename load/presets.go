package load

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/synthetic"
)

// DefaultPreset is the preset of a run that names none.
const DefaultPreset = "quick"

// Presets returns every preset, with the defaults filled in. The workloads of a preset have
// its source. Each is valid and may be changed by the caller.
func Presets() []Preset {
	presets := []Preset{
		quick(), everyOperation(),
		lockStarvation(), stores(), storesScaling(), informerReaders(), kcm150k(), indexSelectivity(),
		relist(),
		fifoFlood(), slowHandler(),
		delayMillion(), delayScaling(), requeueStorm(),
		scaling(),
		informers(),
	}
	presets = append(presets, informerPresets()...)
	for i := range presets {
		p := &presets[i]
		for j, w := range p.Workloads {
			w.Source = p.Source
			p.Workloads[j] = w.WithDefaults()
		}
	}
	return presets
}

// LookupPreset finds a preset. The error names the existing presets.
func LookupPreset(name string) (Preset, error) {
	all := Presets()
	if i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name }); i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	return Preset{}, fmt.Errorf("unknown preset %q: have %s", name, strings.Join(names, ", "))
}

// The numbers of quick, to be tuned in one place: about 30 cells of six forks each, and more
// for what they leave inconclusive, must fit into three minutes.
const (
	quickObjects  = 10_000
	quickWaiting  = 100_000
	quickListers  = 4
	quickRate     = 5_000
	quickDuration = 200 * time.Millisecond
	quickOp       = 20 * time.Millisecond
	quickWarmup   = 50 * time.Millisecond
	quickBudget   = 55 * time.Second
)

func quick() Preset {
	pods := synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: quickObjects}
	keys := synthetic.ObjectSpec{Kind: synthetic.KindKey, Count: quickWaiting}
	return Preset{
		Name:        "quick",
		Budget:      quickBudget,
		Description: "Every component alone and under contention, in about three minutes.",
		Source: "design: the shapes of the other presets at a size that a laptop does while one " +
			"waits",
		Workloads: []Workload{
			{
				Name: "store-ops", Description: "Each operation of a store with nothing else going on.",
				Component: contract.ComponentStore, Objects: pods,
				Ops:      []Op{OpGet, OpList, OpByIndex, OpUpdate, OpUpdateIndex, OpAddDelete, OpReplace},
				Duration: quickOp,
			},
			{
				Name: "store-contended", Description: "One writer at a fixed rate while goroutines list " +
					"everything.",
				Component: contract.ComponentStore, Objects: pods,
				Groups: []Group{
					{Name: "writer", Op: OpUpdate, Goroutines: 1, Rate: quickRate},
					{Name: "listers", Op: OpList, Goroutines: quickListers},
				},
				Duration: quickDuration, Warmup: quickWarmup,
			},
			{
				Name: "fifo-ops", Description: "Each operation of a FIFO with nothing else going on.",
				Component: contract.ComponentFIFO, Objects: pods,
				Ops:      []Op{OpAddPop, OpReplace, OpResync},
				Duration: quickOp,
			},
			{
				Name: "fifo-contended", Description: "Producers at a fixed rate and one consumer.",
				Component: contract.ComponentFIFO, Objects: pods,
				Groups: []Group{
					{Name: "producers", Op: OpAdd, Goroutines: quickListers, Rate: 20 * quickRate},
					{Name: "consumer", Op: OpPop, Goroutines: 1},
				},
				Duration: quickDuration, Warmup: quickWarmup,
			},
			{
				Name: "delay-ops", Description: "A heap of waiting items, one goroutine.",
				Component: contract.ComponentDelay, Objects: keys, Waiting: quickWaiting,
				Ahead:    10 * time.Minute,
				Ops:      []Op{OpAdd, OpPop, OpMixed},
				Duration: quickOp,
			},
			{
				Name: "delay-contended", Description: "A heap at its working load: items are added at a " +
					"fixed rate and popped when due.",
				Component: contract.ComponentDelay, Objects: keys, Waiting: quickWaiting / 2,
				Ahead: 10 * time.Minute,
				Groups: []Group{
					{Name: "adders", Op: OpAdd, Goroutines: quickListers, Rate: 20 * quickRate,
						Ahead: 50 * time.Millisecond},
					{Name: "popper", Op: OpPop, Goroutines: 1},
				},
				Duration: quickDuration, Warmup: quickWarmup,
			},
			{
				Name: "queue-ops", Description: "Each operation of a queue with nothing else going on.",
				Component: contract.ComponentQueue, Objects: keys,
				Ops:      []Op{OpAddGetDone, OpAddAfter, OpAddRateLimited},
				Duration: quickOp,
			},
			{
				Name: "queue-contended", Description: "Event handlers that add, workers that get and are done.",
				Component: contract.ComponentQueue, Objects: keys,
				Groups: []Group{
					{Name: "adders", Op: OpAdd, Goroutines: quickListers, Rate: 20 * quickRate},
					{Name: "workers", Op: OpGetDone, Goroutines: quickListers},
				},
				Duration: quickDuration, Warmup: quickWarmup,
			},
			quickInformer(),
		},
	}
}

// everyOperation measures all operations, for comparisons with the baselines: no
// implementation can look good by the choice of operations.
func everyOperation() Preset {
	single := func(c contract.Component) []Op {
		var ops []Op
		for _, o := range Operations(c) {
			if o.Single {
				ops = append(ops, o.Op)
			}
		}
		return ops
	}
	keys := synthetic.ObjectSpec{Kind: synthetic.KindKey, Count: quickWaiting}
	return Preset{
		Name: "operations",
		Description: "Every operation of every component with nothing else going on, by one goroutine " +
			"and by two where the component allows it.",
		Source: "design: the table of what was measured before this project began",
		Workloads: []Workload{
			{
				Name: "store-operations", Component: contract.ComponentStore,
				Objects: synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: 100_000, Namespaces: 50},
				Ops:     single(contract.ComponentStore), Parallel: []int{1, 2},
				Duration: 100 * time.Millisecond,
			},
			{
				Name: "fifo-operations", Component: contract.ComponentFIFO,
				Objects: synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: 100_000, Namespaces: 50},
				Ops:     single(contract.ComponentFIFO), Duration: 200 * time.Millisecond,
			},
			{
				Name: "delay-operations", Component: contract.ComponentDelay,
				Objects: keys, Waiting: quickWaiting, Ahead: 10 * time.Minute,
				Ops: single(contract.ComponentDelay), Duration: 200 * time.Millisecond,
			},
			{
				Name: "queue-operations", Component: contract.ComponentQueue, Objects: keys,
				Ops: single(contract.ComponentQueue), Parallel: []int{1, 2}, Duration: 100 * time.Millisecond,
			},
		},
	}
}

func informerReaders() Preset {
	return Preset{
		Name: "informer-readers",
		Description: "client-go's own benchmark of a shared informer, at the store: readers list one " +
			"namespace, one writer as fast as it can.",
		Source: "k8s.io/client-go@v0.37.2/tools/cache/shared_informer_bench_test.go " +
			"BenchmarkSharedIndexInformer",
		Workloads: []Workload{{
			Name:      "informer-readers",
			Component: contract.ComponentStore,
			Objects:   synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: 10_000, Namespaces: 1},
			Index:     synthetic.IndexNamespace,
			Groups: []Group{
				{Name: "writer", Op: OpUpdate, Goroutines: 1},
				{Name: "readers", Op: OpByIndex, Goroutines: 1},
			},
			Sweep:    Sweep{Vary: "readers.goroutines", Values: []int{0, 1, 10, 20, 40, 80}},
			Duration: 2 * time.Second, Warmup: 200 * time.Millisecond,
		}},
	}
}

func kcm150k() Preset {
	objects := synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: 50 * 3_000, Namespaces: 50,
		Nodes: 5_000}
	background := []Group{
		{Name: "lister", Op: OpList, Goroutines: 1, Rate: 100},
		{Name: "by-node", Op: OpByIndex, Goroutines: 1, Rate: 100, Index: synthetic.IndexNode},
	}
	traffic := func(name, description string, op Op) Workload {
		return Workload{
			Name: name, Description: description,
			Component: contract.ComponentStore, Objects: objects,
			Groups:   append([]Group{{Name: "writers", Op: op, Goroutines: 25}}, background...),
			Duration: 3 * time.Second, Warmup: 200 * time.Millisecond,
		}
	}
	return Preset{
		Name: "kcm-150k",
		Description: "The largest supported cluster: 50 namespaces of 3,000 pods on 5,000 nodes, 25 " +
			"writers that patch or delete and create, a lister every 10 ms.",
		Source: "https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/storage/testing/store_benchmarks.go RunBenchmarkWriteThroughput",
		Workloads: []Workload{
			traffic("kcm-150k-patch", "Writers that change a pod and leave its node.", OpUpdate),
			traffic("kcm-150k-delete-create", "Writers that delete a pod and create it again.", OpAddDelete),
		},
	}
}

func indexSelectivity() Preset {
	return Preset{
		Name: "index-selectivity",
		Description: "100 matches among 1,000 to 1,000,000 objects: a good index does not feel the " +
			"others.",
		Source: "k8s.io/client-go@v0.37.2/tools/cache/listers_test.go " +
			"BenchmarkLister_Match_1k_100 to _1M_100, with an index in place of the selector",
		Workloads: []Workload{{
			Name:      "index-selectivity",
			Component: contract.ComponentStore,
			Objects:   synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: 1_000, PerNode: 100},
			Index:     synthetic.IndexNode,
			Ops:       []Op{OpByIndex, OpIndexKeys},
			Sweep:     Sweep{Vary: "objects", Values: []int{1_000, 10_000, 100_000, 1_000_000}},
			Duration:  250 * time.Millisecond,
		}},
	}
}

func relist() Preset {
	return Preset{
		Name: "relist",
		Description: "A whole list of 100,000 objects replaces the store while goroutines Get: how " +
			"long do they wait?",
		Source: "k8s.io/client-go@v0.37.2/tools/cache/thread_safe_store.go Replace (the write " +
			"lock is held while every index is rebuilt), " +
			"https://github.com/kubernetes/kubernetes/issues/130767",
		Workloads: []Workload{{
			Name:      "relist",
			Component: contract.ComponentStore,
			Objects:   synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: 100_000, Namespaces: 50},
			Groups: []Group{
				{Name: "relister", Op: OpReplace, Goroutines: 1, Rate: 2},
				{Name: "readers", Op: OpGet, Goroutines: 4, Rate: 20_000},
			},
			Duration: 3 * time.Second, Warmup: 200 * time.Millisecond,
		}},
	}
}

// fifoFlood has every row of the comparison of FIFOs, except the slow handler's.
func fifoFlood() Preset {
	objects := synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: 100_000, Namespaces: 50}
	against := func(name, description string, producers int) Workload {
		return Workload{
			Name: name, Description: description,
			Component: contract.ComponentFIFO, Objects: objects,
			Groups: []Group{
				{Name: "producers", Op: OpAdd, Goroutines: producers},
				{Name: "consumer", Op: OpPop, Goroutines: 1, Batch: 1},
			},
			// The size of a popped batch is up to the FIFO; a value above 1 requests
			// batches.
			Sweep:    Sweep{Vary: "consumer.batch", Values: []int{1, 1000}},
			Duration: 2 * time.Second, Warmup: 100 * time.Millisecond,
		}
	}
	return Preset{
		Name:    "fifo-flood",
		Designs: true,
		Description: "FIFOs: one goroutine that adds and pops, a whole list with known objects, one " +
			"producer and 100 as fast as they can against one consumer, one event and a batch at a time.",
		Source: "https://github.com/kubernetes/kubernetes/pull/132240",
		Workloads: []Workload{
			{
				Name: "fifo-alone", Description: "Add then Pop by one goroutine, and Replace of 100,000 " +
					"known objects until all are popped.",
				Component: contract.ComponentFIFO, Objects: objects,
				Ops: []Op{OpAddPop, OpReplace}, Duration: 200 * time.Millisecond,
			},
			against("fifo-apart", "One producer as fast as it can against one consumer.", 1),
			against("fifo-flood", "100 producers as fast as they can against one consumer.", 100),
		},
	}
}

func slowHandler() Preset {
	return Preset{
		Name:        "slow-handler",
		Designs:     true,
		Description: "A handler that takes 1 ms: does the producer wait for it?",
		Source: "k8s.io/client-go@v0.37.2/tools/cache/controller_bench_test.go " +
			"BenchmarkAddWithSlowHandlers, https://github.com/kubernetes/kubernetes/pull/136264",
		Workloads: []Workload{{
			Name:      "slow-handler",
			Component: contract.ComponentFIFO,
			Objects:   synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: 10_000, Namespaces: 1},
			Groups: []Group{
				{Name: "producer", Op: OpAdd, Goroutines: 1, Rate: 1_000},
				{Name: "consumer", Op: OpPop, Goroutines: 1, Work: time.Millisecond},
			},
			Duration: 3 * time.Second, Warmup: 200 * time.Millisecond,
		}},
	}
}

func requeueStorm() Preset {
	return Preset{
		Name: "requeue-storm",
		Description: "1,000,000 items in the queue, 1,000 workers that take 1 ms and put each item " +
			"back, a handler that adds the same 1,000 items over and over; and a queue that is nearly " +
			"empty, alone and between eight producers and eight workers.",
		Source: "https://github.com/kubernetes-sigs/controller-runtime/pull/3415 " +
			"BenchmarkAddLockContended, kept full",
		Workloads: []Workload{queueRequeueStorm(), queueEight()},
	}
}
