package presets

import (
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
)

// The workloads for queues, in the presets delay-million and requeue-storm.

func queueDelayMillion(objects synthetic.ObjectSpec) load.Workload {
	return load.Workload{
		Name:        "queue-delay-million",
		Description: "AddAfter on a queue in which 1,000,000 items wait; the memory of each.",
		Component:   contract.ComponentQueue, Objects: objects, Waiting: 1_000_000,
		Ahead: 10 * time.Minute,
		Ops:   []load.Op{load.OpAddAfter},
	}
}

// queueDueStorm measures one of the two seconds in which its items come due, from half a second
// after the first or later. These begin two seconds after the filling does, because filling a
// slow queue and stamping its items takes a second and a half. So no queue begins with a
// backlog. A queue that is filled sooner waits, at most as long as the warm-up.
func queueDueStorm() load.Workload {
	const rate = 200_000
	return load.Workload{
		Name: "queue-due-storm", Description: "200,000 items come due in each second: how late does a " +
			"worker have them?",
		Component: contract.ComponentQueue,
		Objects:   synthetic.ObjectSpec{Kind: synthetic.KindKey, Count: 2 * rate},
		Waiting:   2 * rate, Ahead: 4 * time.Second,
		Groups:   []load.Group{{Name: "workers", Op: load.OpGetDone, Goroutines: 8}},
		Duration: time.Second, Warmup: 1500 * time.Millisecond,
	}
}

// queueRequeueStorm has an adder that adds without pause if the rate is 0.
func queueRequeueStorm(name, description string, rate float64, work time.Duration) load.Workload {
	return load.Workload{
		Name: name, Description: description,
		Component: contract.ComponentQueue,
		Objects:   synthetic.ObjectSpec{Kind: synthetic.KindKey, Count: 1_000_000},
		Waiting:   1_000_000,
		Groups: []load.Group{
			{Name: "adder", Op: load.OpAdd, Goroutines: 1, Keys: 1_000, Rate: rate},
			{Name: "workers", Op: load.OpGetDone, Goroutines: 1_000, Work: work, Requeue: true},
		},
		Duration: 3 * time.Second, Warmup: 200 * time.Millisecond,
	}
}

func queueEight() load.Workload {
	return load.Workload{
		Name: "queue-eight", Description: "Add, Get and Done alone and by eight goroutines; eight " +
			"producers and eight workers as fast as they can.",
		Component: contract.ComponentQueue,
		Objects:   synthetic.ObjectSpec{Kind: synthetic.KindKey, Count: quickWaiting},
		Ops:       []load.Op{load.OpAddGetDone}, Parallel: []int{1, 8},
		Groups: []load.Group{
			{Name: "producers", Op: load.OpAdd, Goroutines: 8},
			{Name: "workers", Op: load.OpGetDone, Goroutines: 8},
		},
		Duration: time.Second, Warmup: 200 * time.Millisecond,
	}
}
