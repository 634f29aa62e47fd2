package presets

import (
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
)

// The presets for stores: the effect of readers on the one writer, and the cost of each
// operation alone.

// The namespace index finds starvedMatches of starvedObjects, in both presets.
const (
	starvedObjects = 100_000
	starvedMatches = 2_000
	starvedRate    = 10_000
)

func lockStarvation() load.Preset {
	objects := synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: starvedObjects,
		Namespaces: starvedObjects / starvedMatches}
	writer := load.Group{Name: "writer", Op: load.OpUpdate, Goroutines: 1, Rate: starvedRate}
	return load.Preset{
		Name: "lock-starvation",
		Description: "Goroutines that list everything, or look 2,000 objects up by index, against one " +
			"writer: how much of what it is offered does the writer get done?",
		Source: "https://github.com/kubernetes/kubernetes/issues/130767, " +
			"https://github.com/kubernetes/kubernetes/issues/139526",
		Workloads: []load.Workload{
			{
				Name:      "lock-starvation",
				Component: contract.ComponentStore,
				Objects:   objects,
				Groups:    []load.Group{writer, {Name: "listers", Op: load.OpList, Goroutines: 1}},
				Sweep:     load.Sweep{Vary: "listers.goroutines", Values: []int{0, 1, 10, 80}},
				Duration:  2 * time.Second, Warmup: 200 * time.Millisecond,
			},
			{
				Name:      "lock-starvation-by-index",
				Component: contract.ComponentStore,
				Objects:   objects,
				Index:     synthetic.IndexNamespace,
				Groups:    []load.Group{writer, {Name: "finders", Op: load.OpByIndex, Goroutines: 10}},
				// One value: it puts the number into the names, and --sweep can replace it.
				Sweep:    load.Sweep{Vary: "finders.goroutines", Values: []int{10}},
				Duration: 2 * time.Second, Warmup: 200 * time.Millisecond,
			},
		},
	}
}

// stores measures each operation on a store that only operations share which keep every
// object's index values. Otherwise Update would find objects that update-index moved, and
// move them back.
func stores() load.Preset {
	objects := synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: starvedObjects,
		Namespaces: starvedObjects / starvedMatches, Nodes: 5_000}
	alone := func(name, description, index string, parallel []int, ops ...load.Op) load.Workload {
		return load.Workload{
			Name: name, Description: description,
			Component: contract.ComponentStore, Objects: objects, Index: index,
			Ops: ops, Parallel: parallel, Duration: 200 * time.Millisecond,
		}
	}
	one, two := []int{1}, []int{1, 2}
	return load.Preset{
		Name: "stores",
		Description: "What each operation of a store of 100,000 pods costs with nothing else going " +
			"on, what it keeps per object, and how long a Get waits while the whole content is replaced " +
			"over and over. About 6 minutes for each store.",
		Source: "design: the table of what was measured before this project began; " +
			"https://github.com/kubernetes/kubernetes/pull/133241 for what the writes and the memory of " +
			"a lock-free store may cost",
		Workloads: []load.Workload{
			alone("stores-get", "Get of one key, by one goroutine and by two.", synthetic.IndexNode, two,
				load.OpGet),
			alone("stores-list", "List of everything, and ByIndex of the 2,000 objects of a namespace.",
				synthetic.IndexNamespace, one, load.OpList, load.OpByIndex),
			{
				Name: "stores-lister",
				Description: "A goroutine that lists everything in a loop, each List timed by itself: most " +
					"of them meet no garbage collection, which the mean that stores-list gives has in it.",
				Component: contract.ComponentStore, Objects: objects,
				Groups:   []load.Group{{Name: "lister", Op: load.OpList, Goroutines: 1}},
				Duration: 2 * time.Second, Warmup: 200 * time.Millisecond,
			},
			alone("stores-by-node", "ByIndex of the 20 objects of a node.", synthetic.IndexNode, one,
				load.OpByIndex),
			alone("stores-update", "Update that leaves the index values as they are.", synthetic.IndexNode,
				one, load.OpUpdate),
			alone("stores-update-index", "Update that moves the object to another node.",
				synthetic.IndexNode, one, load.OpUpdateIndex),
			alone("stores-write", "Delete and Add of a key, a Transaction of 1,000 updates, and Replace "+
				"of everything.", synthetic.IndexNode, one, load.OpAddDelete, load.OpTransaction,
				load.OpReplace),
			{
				Name: "stores-replace",
				Description: "A reader that Gets at a fixed rate, by itself and beside a goroutine that " +
					"replaces everything over and over: the first says what the machine adds.",
				Component: contract.ComponentStore, Objects: objects,
				Groups: []load.Group{
					{Name: "reader", Op: load.OpGet, Goroutines: 1, Rate: starvedRate},
					{Name: "relister", Op: load.OpReplace, Goroutines: 1},
				},
				Sweep:    load.Sweep{Vary: "relister.goroutines", Values: []int{0, 1}},
				Duration: 2 * time.Second, Warmup: 200 * time.Millisecond,
			},
		},
	}
}
