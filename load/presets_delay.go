package load

import (
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/synthetic"
)

// The presets for delay heaps, and for the queues over them.

func delayMillion() Preset {
	objects := synthetic.ObjectSpec{Kind: synthetic.KindKey, Count: 1_000_000}
	return Preset{
		Name:    "delay-million",
		Designs: true,
		Description: "1,000,000 items that wait up to ten minutes, in the structure alone and behind " +
			"a delaying queue; and 200,000 items that come due in each second: how late are they?",
		Source: "k8s.io/client-go@v0.37.2/util/workqueue/delaying_queue_test.go " +
			"BenchmarkDelayingQueue_AddAfter, at the size of " +
			"https://github.com/kubernetes-sigs/controller-runtime/pull/3415",
		Workloads: []Workload{
			{
				Name: "delay-million", Description: "The structure alone: items out and in again, new " +
					"items, items that move to an earlier time, times that fall.",
				Component: contract.ComponentDelay, Objects: objects, Waiting: 1_000_000,
				Ahead: 10 * time.Minute,
				Ops:   []Op{OpAdd, OpPop, OpMixed, OpAddEarlier, OpAddFirst},
				// Restoring the number of waiting items takes several times as long as the
				// measured part.
				Duration: 200 * time.Millisecond,
			},
			delayDue(objects),
			queueDelayMillion(objects), queueDueStorm(),
		},
	}
}

// delayDue has delays so short that an item is no longer waiting when a walk of 65,536
// items, or of four times as many, returns to it.
func delayDue(objects synthetic.ObjectSpec) Workload {
	return Workload{
		Name: "delay-due", Description: "200,000 items come due in each second among 1,000,000 that " +
			"wait: the structure under a mutex.",
		Component: contract.ComponentDelay, Objects: objects, Waiting: 1_000_000, Ahead: 10 * time.Minute,
		Groups: []Group{
			{Name: "adders", Op: OpAdd, Goroutines: 1, Rate: 200_000, Ahead: 250 * time.Millisecond},
			{Name: "taker", Op: OpPop, Goroutines: 1},
		},
		Duration: 3 * time.Second, Warmup: 500 * time.Millisecond,
	}
}

// delayScaling has the sizes of issue 5's table. Filling the largest takes most of its
// time.
func delayScaling() Preset {
	sizes := []int{1_000, 10_000, 100_000, 1_000_000, 10_000_000}
	return Preset{
		Name: "delay-scaling",
		Description: "How the cost of each operation on waiting items, and the memory for each, grows " +
			"from 1,000 items to 10,000,000. 4 GB of memory; some 80 seconds for each structure and " +
			"fork, most of it at 10,000,000.",
		Source: "the hold model: Jones, An Empirical Comparison of Priority-Queue and Event-Set " +
			"Implementations, CACM 29(4), 1986; the law that each structure promises: log for heaps, " +
			"flat for wheels",
		Workloads: []Workload{{
			Name: "delay-hold", Description: "Pop one item and add it again, the number that wait " +
				"unchanged (the hold model), new items, items that move to an earlier time, times that fall.",
			Component: contract.ComponentDelay,
			Objects:   synthetic.ObjectSpec{Kind: synthetic.KindKey, Count: sizes[0]}, Waiting: sizes[0],
			Ahead:    10 * time.Minute,
			Ops:      []Op{OpMixed, OpAdd, OpPop, OpAddEarlier, OpAddFirst},
			Sweep:    Sweep{Vary: varyWaiting, Values: sizes},
			Duration: 100 * time.Millisecond,
		}},
	}
}
