// Package presets has the workloads that benchrun run --preset measures, each with its source. They
// are apart from package load, so that a new one makes no result of another outdated.
package presets

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
)

// Default is the preset of a run that names none.
const Default = "quick"

// All returns every preset, with the defaults filled in. The workloads of a preset have
// its source. Each is valid and may be changed by the caller.
func All() []load.Preset {
	presets := []load.Preset{
		quick(), lockStarvation(), stores(), kcm150k(), fifoFlood(), delayMillion(), requeueStorm(),
		scaling(), objects(), objectsStaleness(),
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

// Lookup finds a preset. The error names the existing presets.
func Lookup(name string) (load.Preset, error) {
	all := All()
	if i := slices.IndexFunc(all, func(p load.Preset) bool { return p.Name == name }); i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	return load.Preset{}, fmt.Errorf("unknown preset %q: have %s", name, strings.Join(names, ", "))
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
	quickBudget   = 20 * time.Second
)

func quick() load.Preset {
	pods := synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: quickObjects}
	keys := synthetic.ObjectSpec{Kind: synthetic.KindKey, Count: quickWaiting}
	return load.Preset{
		Name:        "quick",
		Budget:      quickBudget,
		Description: "Every component alone and under contention, in about three minutes.",
		Source: "design: the shapes of the other presets at a size that a laptop does while one " +
			"waits",
		Workloads: []load.Workload{
			{
				Name: "store-ops", Description: "Each operation of a store with nothing else going on.",
				Component: contract.ComponentStore, Objects: pods,
				Ops: []load.Op{load.OpGet, load.OpList, load.OpByIndex, load.OpUpdate,
					load.OpUpdateIndex, load.OpAddDelete, load.OpReplace},
				Duration: quickOp,
			},
			{
				Name: "store-contended", Description: "One writer of single updates at a fixed rate while " +
					"goroutines list everything. An informer writes in batches: see informer.",
				Component: contract.ComponentStore, Objects: pods,
				Groups: []load.Group{
					{Name: "writer", Op: load.OpUpdate, Goroutines: 1, Rate: quickRate},
					{Name: "listers", Op: load.OpList, Goroutines: quickListers},
				},
				Duration: quickDuration, Warmup: quickWarmup,
			},
			{
				Name: "fifo-ops", Description: "Each operation of a FIFO with nothing else going on.",
				Component: contract.ComponentFIFO, Objects: pods,
				Ops:      []load.Op{load.OpAddPop, load.OpReplace, load.OpResync},
				Duration: quickOp,
			},
			{
				Name: "fifo-contended", Description: "Producers at a fixed rate and one consumer that takes " +
					"batches, as client-go's informer does.",
				Component: contract.ComponentFIFO, Objects: pods,
				Groups: []load.Group{
					{Name: "producers", Op: load.OpAdd, Goroutines: quickListers, Rate: 20 * quickRate},
					{Name: "consumer", Op: load.OpPop, Goroutines: 1, Batch: 1000},
				},
				Duration: quickDuration, Warmup: quickWarmup,
			},
			{
				Name: "delay-ops", Description: "A heap of waiting items, one goroutine.",
				Component: contract.ComponentDelay, Objects: keys, Waiting: quickWaiting,
				Ahead:    10 * time.Minute,
				Ops:      []load.Op{load.OpAdd, load.OpPop, load.OpMixed},
				Duration: quickOp,
			},
			{
				Name: "delay-contended", Description: "A heap at its working load: items are added at a " +
					"fixed rate and popped when due.",
				Component: contract.ComponentDelay, Objects: keys, Waiting: quickWaiting / 2,
				Ahead: 10 * time.Minute,
				Groups: []load.Group{
					{Name: "adders", Op: load.OpAdd, Goroutines: quickListers, Rate: 20 * quickRate,
						Ahead: 50 * time.Millisecond},
					{Name: "popper", Op: load.OpPop, Goroutines: 1},
				},
				Duration: quickDuration, Warmup: quickWarmup,
			},
			{
				Name: "queue-ops", Description: "Each operation of a queue with nothing else going on.",
				Component: contract.ComponentQueue, Objects: keys,
				Ops:      []load.Op{load.OpAddGetDone, load.OpAddAfter, load.OpAddRateLimited},
				Duration: quickOp,
			},
			{
				Name: "queue-contended", Description: "Event handlers that add, workers that get and are done.",
				Component: contract.ComponentQueue, Objects: keys,
				Groups: []load.Group{
					{Name: "adders", Op: load.OpAdd, Goroutines: quickListers, Rate: 20 * quickRate},
					{Name: "workers", Op: load.OpGetDone, Goroutines: quickListers},
				},
				Duration: quickDuration, Warmup: quickWarmup,
			},
			quickInformer(),
		},
	}
}

func kcm150k() load.Preset {
	objects := synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: 50 * 3_000, Namespaces: 50,
		Nodes: 5_000}
	background := []load.Group{
		{Name: "lister", Op: load.OpList, Goroutines: 1, Rate: 100},
		{Name: "by-node", Op: load.OpByIndex, Goroutines: 1, Rate: 100, Index: synthetic.IndexNode},
	}
	traffic := func(name, description string, op load.Op) load.Workload {
		return load.Workload{
			Name: name, Description: description,
			Component: contract.ComponentStore, Objects: objects,
			Groups:   append([]load.Group{{Name: "writers", Op: op, Goroutines: 25}}, background...),
			Duration: 2 * time.Second, Warmup: 200 * time.Millisecond,
		}
	}
	return load.Preset{
		Name: "kcm-150k",
		Description: "The largest supported cluster: 50 namespaces of 3,000 pods on 5,000 nodes, 25 " +
			"writers that patch or delete and create, a lister every 10 ms.",
		Source: "https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/storage/testing/store_benchmarks.go RunBenchmarkWriteThroughput",
		Workloads: []load.Workload{
			traffic("kcm-150k-patch", "Writers that change a pod and leave its node.", load.OpUpdate),
			traffic("kcm-150k-delete-create", "Writers that delete a pod and create it again.", load.OpAddDelete),
		},
	}
}

// fifoFlood has every row of the comparison of FIFOs.
func fifoFlood() load.Preset {
	objects := synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: 100_000, Namespaces: 50}
	against := func(name, description string, producers int) load.Workload {
		return load.Workload{
			Name: name, Description: description,
			Component: contract.ComponentFIFO, Objects: objects,
			Groups: []load.Group{
				{Name: "producers", Op: load.OpAdd, Goroutines: producers},
				{Name: "consumer", Op: load.OpPop, Goroutines: 1, Batch: 1000},
			},
			Duration: 2 * time.Second, Warmup: 100 * time.Millisecond,
		}
	}
	return load.Preset{
		Name: "fifo-flood",
		Description: "FIFOs: one goroutine that adds and pops, a whole list with known objects, one " +
			"producer and 100 as fast as they can against one consumer that takes batches of up to 1,000, " +
			"as client-go's informer does.",
		Source: "https://github.com/kubernetes/kubernetes/pull/132240",
		Workloads: []load.Workload{
			{
				Name: "fifo-alone", Description: "Add then Pop by one goroutine, and Replace of 100,000 " +
					"known objects until all are popped.",
				Component: contract.ComponentFIFO, Objects: objects,
				Ops: []load.Op{load.OpAddPop, load.OpReplace}, Duration: 200 * time.Millisecond,
			},
			against("fifo-apart", "One producer as fast as it can against one consumer.", 1),
			against("fifo-flood", "100 producers as fast as they can against one consumer.", 100),
		},
	}
}

func requeueStorm() load.Preset {
	return load.Preset{
		Name: "requeue-storm",
		Description: "1,000,000 items in the queue, 1,000 workers that put each item back, and a handler " +
			"that adds the same 1,000 items: without pause beside workers that take 1 ms, and 200,000 a " +
			"second beside workers that take 10; and a queue that is nearly empty, alone and between eight " +
			"producers and eight workers.",
		Source: "https://github.com/kubernetes-sigs/controller-runtime/pull/3415 " +
			"BenchmarkAddLockContended, kept full",
		Workloads: []load.Workload{
			queueRequeueStorm("requeue-storm", "All as fast as they can.", 0, time.Millisecond),
			queueRequeueStorm("requeue-paced", "The same number of calls for each queue: from when an Add "+
				"was due to when it was done.", 200_000, 10*time.Millisecond),
			queueEight(),
		},
	}
}
