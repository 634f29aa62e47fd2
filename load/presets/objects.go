package presets

import (
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
)

// objectsStaleness is informerStaleness with pods that clients decode and that keepers keep.
func objectsStaleness() load.Preset {
	w := informerStaleness()
	w.Name, w.Sweep.Values = "objects-staleness", []int{0, informerListers}
	w.Objects = synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: informerObjects,
		Decoded: true, Production: true}
	return load.Preset{
		Name: "objects-staleness",
		Description: "10,000 events a second of 10,000 pods of 9.7 KB by protobuf, each decoded from " +
			"bytes of its own, with 0 and 10 goroutines that list everything: how long until the store " +
			"shows an event, and until the handler is told, by how an informer keeps objects?",
		Source:    "https://github.com/kubernetes/perf-tests/pull/3947 for the size of a pod",
		Workloads: []load.Workload{w},
	}
}

// objects is the preset for ways to keep objects.
func objects() load.Preset {
	kept := func(name, description string, kind synthetic.ObjectKind, count int,
		ops ...load.Op) load.Workload {
		return load.Workload{Name: name, Description: description,
			Component: contract.ComponentObjects, Duration: 12 * time.Millisecond, Ops: ops,
			Objects: synthetic.ObjectSpec{Kind: kind, Count: count, Production: true}}
	}
	return load.Preset{
		Name: "objects",
		Description: "What an object costs, by how it is kept: bytes and heap objects, a Get of what a " +
			"reader holds and of what none does, a List, a ByIndex, and an Update from bytes. Pods of 64 " +
			"templates, 9.7 KB by protobuf, typed and unstructured; nodes of 50 KB. Each was decoded from " +
			"bytes of its own.",
		Source: "https://github.com/kubernetes/perf-tests/pull/3947 for the size of a pod, " +
			"https://github.com/NVIDIA/NVSentinel/issues/1705 for a node",
		Workloads: []load.Workload{
			kept("objects", "2,000 typed pods.", synthetic.KindPod, 2_000, load.OpGet, load.OpGetCold,
				load.OpList, load.OpByIndex, load.OpUpdate),
			kept("objects-unstructured", "1,000 unstructured pods.", synthetic.KindUnstructured, 1_000,
				load.OpGetCold, load.OpList, load.OpUpdate),
			kept("objects-nodes", "1,000 nodes.", synthetic.KindNode, 1_000, load.OpGetCold,
				load.OpUpdate),
		},
	}
}
