package presets

import (
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
)

// The presets for delay heaps, and for the queues over them.

func delayMillion() load.Preset {
	objects := synthetic.ObjectSpec{Kind: synthetic.KindKey, Count: 1_000_000}
	return load.Preset{
		Name: "delay-million",
		Description: "1,000,000 items that wait up to ten minutes, in the structure alone and behind " +
			"a delaying queue; and 200,000 items that come due in each second: how late are they?",
		Source: "k8s.io/client-go@v0.37.2/util/workqueue/delaying_queue_test.go " +
			"BenchmarkDelayingQueue_AddAfter, at the size of " +
			"https://github.com/kubernetes-sigs/controller-runtime/pull/3415",
		Workloads: []load.Workload{
			{
				Name: "delay-million", Description: "The structure alone: items out and in again, new " +
					"items, items that move to an earlier time, times that fall.",
				Component: contract.ComponentDelay, Objects: objects, Waiting: 1_000_000,
				Ahead: 10 * time.Minute,
				Ops:   []load.Op{load.OpAdd, load.OpPop, load.OpMixed, load.OpAddEarlier, load.OpAddFirst},
				// Restoring the number of waiting items takes several times as long as the
				// measured part.
				Duration: 200 * time.Millisecond,
			},
			queueDelayMillion(objects), queueDueStorm(),
		},
	}
}
