package presets

import (
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
)

// objects is the preset for ways to keep objects.
func objects() load.Preset {
	kept := func(name, description string, kind synthetic.ObjectKind, count int,
		ops ...load.Op) load.Workload {
		return load.Workload{Name: name, Description: description,
			Component: contract.ComponentObjects, Duration: 50 * time.Millisecond, Ops: ops,
			Objects: synthetic.ObjectSpec{Kind: kind, Count: count}}
	}
	return load.Preset{
		Name: "objects",
		Description: "What an object costs, by how it is kept: bytes and heap objects, a Get of what a " +
			"reader holds and of what none does, a List, a ByIndex, and an Update from bytes. Pods of 64 " +
			"templates, 10 KB as JSON, typed and unstructured; nodes. Each was decoded from bytes of its own.",
		Source: "https://github.com/kubernetes/perf-tests/pull/3947 for the size of a pod",
		Workloads: []load.Workload{
			kept("objects", "10,000 typed pods.", synthetic.KindPod, 10_000, load.OpGet, load.OpGetCold,
				load.OpList, load.OpByIndex, load.OpUpdate),
			kept("objects-unstructured", "2,000 unstructured pods.", synthetic.KindUnstructured, 2_000,
				load.OpGet, load.OpGetCold, load.OpList, load.OpByIndex, load.OpUpdate),
			kept("objects-nodes", "2,000 nodes.", synthetic.KindNode, 2_000, load.OpGet, load.OpGetCold,
				load.OpList, load.OpUpdate),
		},
	}
}
