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
		quick(), lockStarvation(), stores(), kcm150k(), fifoFlood(), delayMillion(), requeueStorm(),
		scaling(), informers(),
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
				Name: "store-contended", Description: "One writer of single updates at a fixed rate while " +
					"goroutines list everything. An informer writes in batches: see informer.",
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
				Name: "fifo-contended", Description: "Producers at a fixed rate and one consumer that takes " +
					"batches, as client-go's informer does.",
				Component: contract.ComponentFIFO, Objects: pods,
				Groups: []Group{
					{Name: "producers", Op: OpAdd, Goroutines: quickListers, Rate: 20 * quickRate},
					{Name: "consumer", Op: OpPop, Goroutines: 1, Batch: 1000},
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
			Duration: 2 * time.Second, Warmup: 200 * time.Millisecond,
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

// fifoFlood has every row of the comparison of FIFOs.
func fifoFlood() Preset {
	objects := synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: 100_000, Namespaces: 50}
	against := func(name, description string, producers int) Workload {
		return Workload{
			Name: name, Description: description,
			Component: contract.ComponentFIFO, Objects: objects,
			Groups: []Group{
				{Name: "producers", Op: OpAdd, Goroutines: producers},
				{Name: "consumer", Op: OpPop, Goroutines: 1, Batch: 1000},
			},
			Duration: 2 * time.Second, Warmup: 100 * time.Millisecond,
		}
	}
	return Preset{
		Name: "fifo-flood",
		Description: "FIFOs: one goroutine that adds and pops, a whole list with known objects, one " +
			"producer and 100 as fast as they can against one consumer that takes batches of up to 1,000, " +
			"as client-go's informer does.",
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

func requeueStorm() Preset {
	return Preset{
		Name: "requeue-storm",
		Description: "1,000,000 items in the queue, 1,000 workers that put each item back, and a handler " +
			"that adds the same 1,000 items: without pause beside workers that take 1 ms, and 200,000 a " +
			"second beside workers that take 10; and a queue that is nearly empty, alone and between eight " +
			"producers and eight workers.",
		Source: "https://github.com/kubernetes-sigs/controller-runtime/pull/3415 " +
			"BenchmarkAddLockContended, kept full",
		Workloads: []Workload{
			queueRequeueStorm("requeue-storm", "All as fast as they can.", 0, time.Millisecond),
			queueRequeueStorm("requeue-paced", "The same number of calls for each queue: from when an Add "+
				"was due to when it was done.", 200_000, 10*time.Millisecond),
			queueEight(),
		},
	}
}
