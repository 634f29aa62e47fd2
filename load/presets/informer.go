package presets

import (
	"fmt"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
)

// The presets for whole informers, client-go's beside this project's on the same source:
// from an event at the watch to the store and the handlers.

const (
	informerSource = "k8s.io/client-go@v0.37.2/tools/cache/shared_informer_bench_test.go " +
		"BenchmarkSharedIndexInformer"
	informerObjects = 10_000
	informerListers = 10
	informerWorkers = 10
	// informerGets is the rate of all getters together: five for each event.
	informerGets     = 50_000
	informerDuration = 2 * time.Second
	informerWarmup   = 500 * time.Millisecond
	// informerRate is the offered rate where staleness is measured, in events per second.
	informerRate = 10_000
)

// informerPods are the objects of client-go's benchmark: metadata only, one namespace.
func informerPods() synthetic.ObjectSpec {
	return synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: informerObjects, Namespaces: 1}
}

// informerPresets are the detailed presets.
func informerPresets() []load.Preset {
	return []load.Preset{
		{
			Name: "informer-contended",
			Description: "client-go's own benchmark of a shared informer: 0 to 80 readers list a " +
				"namespace of 10,000 pods, and 10 one of 160,000, against one writer that is at most 10 " +
				"events ahead of the handler. And events in bursts, to 1 and 10 handlers.",
			Source:    informerSource,
			Workloads: []load.Workload{informerContended(), informerContendedLarge(), informerEvents()},
		},
		{
			Name: "informer-staleness",
			Description: "10,000 events a second offered to an informer of 10,000 pods with 0, 1 and 10 " +
				"goroutines that list everything, and with 10 workers that get single keys, also with " +
				"100,000 pods: how long until the store shows an event, and until the " +
				"handler is told?",
			Source: "https://github.com/kubernetes/kubernetes/issues/130767",
			Workloads: []load.Workload{
				informerStaleness(),
				informerGetters(),
				informerGettersLarge(),
			},
		},
		{
			Name: "informer-sync",
			Description: "The initial sync of 10,000 and 150,000 pods by list, and of 150,000 by " +
				"streaming list: " +
				"time until everything is in the store and the handler has been told, memory at its peak " +
				"and kept per object. And a relist of 10,000 that all have changed, after the watch ended " +
				"with a 410, with 0 and 10 readers: time until the handler was told, and the longest that a " +
				"reader waits.",
			Source: "https://kubernetes.io/docs/setup/best-practices/cluster-large/ for the size of " +
				"the largest cluster",
			Workloads: []load.Workload{
				informerSync("informer-sync", load.OpSync, 10_000, 150_000),
				informerSync("informer-sync-stream", load.OpSyncStream, 150_000),
				informerRelist(),
			},
		},
		{
			Name: "informer-arrivals",
			Description: "Lists of 10,000 pods that arrive, as requests do at a server that lists for " +
				"each, at 50, 80 and 95 percent of the rate at which client-go's informer does them in a " +
				"loop on the machine of results/: from arrival to result.",
			Source:    informerSource,
			Workloads: []load.Workload{informerArrivals()},
		},
		{
			Name: "informer-quiet",
			Description: "Small and quiet, as most programs are: 1,000 pods, ten events a second, one " +
				"reader that gets or ten that list, with pauses; and 10,000 pods with 500 events a second.",
			Source:    "design: three of the loads of informer-every",
			Workloads: informerQuiet(),
		},
		{
			Name: "informer-every",
			Description: "100, 1,000 and 10,000 pods; 10, 500 and 2,000 events a second; none, one and " +
				"ten readers that list, or get by key; and 1,000 pods read by an index, by namespace, and with 1 " +
				"and 100 events a second: 51 loads, for an hour.",
			Source:    "design: every combination, so that none is left out",
			Workloads: informerEvery(),
		},
	}
}

// informerArrivals shares its requests among 80 goroutines, so that one of them has a request in
// 17 ms or more. A request that is due while its goroutine still lists waits, and its time counts.
func informerArrivals() load.Workload {
	return load.Workload{
		Name: "informer-arrivals",
		Description: "Goroutines that list everything when a request arrives, " +
			"beside 500 events a second.",
		Component: contract.ComponentInformer, Objects: informerPods(),
		Groups:   informerAtRate(500, load.Group{Name: "listers", Op: load.OpList, Goroutines: 80}),
		Sweep:    load.Sweep{Vary: "listers.rate", Values: []int{2_400, 3_850, 4_570}},
		Duration: 3 * time.Second, Warmup: informerWarmup,
	}
}

// The rates of readers that pause, of all together. In two seconds a p99 has 1,000 values or more.
const (
	quietLists = 500
	quietGets  = 5_000
)

// quiet is a load that leaves the processors idle most of the time.
func quiet(name string, events float64, readers load.Group, sizes ...int) load.Workload {
	w := load.Workload{
		Name: name, Description: "Events at a low rate beside readers that pause.",
		Component: contract.ComponentInformer, Objects: informerPods(),
		Groups:   informerAtRate(events, readers),
		Duration: informerDuration, Warmup: 300 * time.Millisecond,
	}
	w.Objects.Count = sizes[0]
	if len(sizes) > 1 {
		w.Sweep = load.Sweep{Vary: load.VaryObjects, Values: sizes}
	}
	return w
}

// quietReaders are readers that do op at the rate of quiet loads, all together.
func quietReaders(op load.Op, goroutines int) load.Group {
	g := load.Group{Name: "readers", Op: op, Goroutines: goroutines, Rate: quietLists}
	if op == load.OpGet {
		g.Rate = quietGets
	}
	return g
}

func informerQuiet() []load.Workload {
	return []load.Workload{
		quiet("quiet-get", 10, quietReaders(load.OpGet, 1), 1_000),
		quiet("quiet-list", 10, quietReaders(load.OpList, 10), 1_000),
		quiet("busier-list", 500, quietReaders(load.OpList, 10), 10_000),
	}
}

func informerEvery() []load.Workload {
	readers := []load.Group{quietReaders(load.OpGet, 0), quietReaders(load.OpGet, 1),
		quietReaders(load.OpGet, 10),
		quietReaders(load.OpList, 1), quietReaders(load.OpList, 10)}
	var every []load.Workload
	for _, events := range []float64{10, 500, 2_000} {
		for _, r := range readers {
			every = append(every, quiet(fmt.Sprintf("every-%s-%d-events-%g", r.Op, r.Goroutines, events),
				events, r, 100, 1_000, 10_000))
		}
	}
	byIndex := quietReaders(load.OpByIndex, 1)
	byIndex.Index = synthetic.IndexNode
	for _, events := range []float64{1, 100} {
		for _, op := range []load.Op{load.OpGet, load.OpList} {
			every = append(every, quiet(fmt.Sprintf("every-%s-1-events-%g", op, events), events,
				quietReaders(op, 1), 1_000))
		}
	}
	return append(every,
		quiet("every-by-index-1-events-10", 10, byIndex, 1_000),
		quiet("every-list-namespace-1-events-10", 10, quietReaders(load.OpListNamespace, 1), 1_000))
}

func informerContended() load.Workload {
	return load.Workload{
		Name: "informer-contended", Description: "Goroutines that list a namespace of 10,000 pods " +
			"against one writer, at most 10 events ahead of the handler.",
		Component: contract.ComponentInformer, Objects: informerPods(),
		Groups: informerAgainst(informerListers),
		Sweep:  load.Sweep{Vary: "listers.goroutines", Values: []int{0, 1, informerListers, 80}},
		// Long enough for an informer with a dozen writes a second.
		Duration: 3 * time.Second, Warmup: informerWarmup,
	}
}

func informerContendedLarge() load.Workload {
	w := informerContended()
	w.Name, w.Description = "informer-contended-large",
		"The same with 10 readers, and 160,000 pods."
	w.Objects.Count, w.Sweep = 160_000, load.Sweep{}
	return w
}

// informerAgainst is the shape of client-go's benchmark.
func informerAgainst(listers int) []load.Group {
	return []load.Group{
		{Name: "writer", Op: load.OpUpdate, Goroutines: 1},
		{Name: "handlers", Op: load.OpHandle, Goroutines: 1},
		{Name: "listers", Op: load.OpListNamespace, Goroutines: listers},
	}
}

func informerEvents() load.Workload {
	return load.Workload{
		Name: "informer-events", Description: "MODIFIED events, in bursts of 1,024, to different " +
			"numbers of handlers.",
		Component: contract.ComponentInformer, Objects: informerPods(),
		Ops: []load.Op{load.OpDeliver}, Parallel: []int{1, 10},
		Duration: 200 * time.Millisecond,
	}
}

// informerStaleness has the listers of lock-starvation, which list everything.
func informerStaleness() load.Workload {
	return load.Workload{
		Name: "informer-staleness", Description: "10,000 events a second while goroutines list " +
			"everything: from when an event was due to when the store shows it (writer), and to when the " +
			"handler is told (handlers).",
		Component: contract.ComponentInformer, Objects: informerPods(),
		Groups: informerAtRate(informerRate,
			load.Group{Name: "listers", Op: load.OpList, Goroutines: informerListers}),
		Sweep:    load.Sweep{Vary: "listers.goroutines", Values: []int{0, 1, informerListers}},
		Duration: informerDuration, Warmup: informerWarmup,
	}
}

// informerAtRate has a writer of rate events a second, a handler that is told of them, and readers.
func informerAtRate(rate float64, readers load.Group) []load.Group {
	return []load.Group{
		{Name: "writer", Op: load.OpUpdate, Goroutines: 1, Rate: rate},
		{Name: "handlers", Op: load.OpHandle, Goroutines: 1},
		readers,
	}
}

// informerGetters has the workers of a controller, which get the object of each key that a handler
// queued, and a few that it refers to.
func informerGetters() load.Workload {
	return load.Workload{
		Name: "informer-getters", Description: "10,000 events a second while workers get 50,000 " +
			"single keys a second: from when an event was due to when the store shows it (writer), and " +
			"to when the handler is told (handlers); and what a Get takes.",
		Component: contract.ComponentInformer, Objects: informerPods(),
		Groups: informerAtRate(informerRate,
			load.Group{Name: "getters", Op: load.OpGet, Goroutines: informerWorkers, Rate: informerGets}),
		Sweep:    load.Sweep{Vary: "getters.goroutines", Values: []int{informerWorkers}},
		Duration: informerDuration, Warmup: informerWarmup,
	}
}

func informerGettersLarge() load.Workload {
	w := informerGetters()
	w.Name, w.Description = "informer-getters-large", "The same with 10 workers, and 100,000 pods."
	w.Objects.Count, w.Sweep = 100_000, load.Sweep{}
	return w
}

// informerSync uses whole pods: a peak matters in relation to the objects' own size.
func informerSync(name string, op load.Op, sizes ...int) load.Workload {
	return load.Workload{
		Name: name, Description: "New informers with one handler, one after the other, until " +
			"everything is in the store and the handler has been told.",
		Component: contract.ComponentInformer,
		Objects:   synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: sizes[0]},
		Ops:       []load.Op{op},
		Sweep:     load.Sweep{Vary: load.VaryObjects, Values: sizes},
		Duration:  500 * time.Millisecond,
	}
}

// informerRelist lasts for a few relists: client-go waits 0.8 to 1.6 s before each.
func informerRelist() load.Workload {
	return load.Workload{
		Name: "informer-relist", Description: "Everything has changed when an informer lists again: " +
			"until the handler has been told of each object, while goroutines list everything.",
		Component: contract.ComponentInformer, Objects: informerPods(),
		Groups: []load.Group{
			{Name: "relister", Op: load.OpRelist, Goroutines: 1},
			{Name: "listers", Op: load.OpList, Goroutines: informerListers},
		},
		Sweep:    load.Sweep{Vary: "listers.goroutines", Values: []int{0, informerListers}},
		Duration: 4 * time.Second, Warmup: 100 * time.Millisecond,
	}
}

// quickInformer is the informer workload of the brief preset.
func quickInformer() load.Workload {
	return load.Workload{
		Name: "informer", Description: "Events through a whole informer: alone to one handler, and " +
			"from one writer against goroutines that list a namespace.",
		Component: contract.ComponentInformer, Objects: informerPods(),
		Ops:      []load.Op{load.OpDeliver},
		Groups:   informerAgainst(quickListers),
		Duration: quickDuration / 2, Warmup: quickWarmup,
	}
}
