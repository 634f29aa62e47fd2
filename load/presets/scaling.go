package presets

import (
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
)

// scaling uses whole pods, as the other presets do. Pods share their templates, so a
// million take 1.4 GB, hardly more than pods with metadata only (1.3 GB). Each node has 30
// pods at every size, so that ByIndex always finds equally many.
func scaling() load.Preset {
	sizes := []int{1_000, 10_000, 100_000, 1_000_000}
	return load.Preset{
		Name: "scaling",
		Description: "How the cost of each operation grows with 1,000 to 1,000,000 objects or waiting " +
			"items.",
		Source: "k8s.io/client-go@v0.37.2/tools/cache/listers_test.go " +
			"BenchmarkLister_Match_1k_100 to _1M_100 for the sizes",
		Workloads: []load.Workload{
			{
				Name: "store-scaling", Description: "Each operation of a store with nothing else going on.",
				Component: contract.ComponentStore,
				Objects:   synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: sizes[0]},
				Ops: []load.Op{load.OpGet, load.OpList, load.OpByIndex, load.OpUpdate, load.OpUpdateIndex,
					load.OpAddDelete},
				Sweep:    load.Sweep{Vary: load.VaryObjects, Values: sizes},
				Duration: 100 * time.Millisecond,
			},
			{
				Name: "delay-scaling", Description: "A heap of waiting items, one goroutine.",
				Component: contract.ComponentDelay,
				Objects:   synthetic.ObjectSpec{Kind: synthetic.KindKey, Count: sizes[0]}, Waiting: sizes[0],
				Ahead:    10 * time.Minute,
				Ops:      []load.Op{load.OpAdd, load.OpPop},
				Sweep:    load.Sweep{Vary: load.VaryWaiting, Values: sizes},
				Duration: 100 * time.Millisecond,
			},
		},
	}
}
