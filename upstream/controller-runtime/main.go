// Command controller-runtime shows what workers get from a queue while one goroutine adds
// without a pause, as an informer does on a relist or a controller that watches many
// objects. Run it in the repository's root:
//
//	go run ./upstream/controller-runtime
//
// It holds client-go's workqueue against controller-runtime's priority queue, in turns, of
// the versions that go.mod requires. Each worker calls Get and Done and does nothing else.
// The items are 100,000 keys, added one after the other, again and again. client-go's queue
// and controller-runtime's B-tree hold each key once; the buffer before the B-tree holds each
// Add.
//
// controller-runtime's Add appends the item to a buffer and does not wait. Another goroutine
// of the queue moves the whole buffer into a B-tree, and it does so under the lock that
// Get needs and that items are handed out under. An adder that does not stop fills the
// buffer again meanwhile. client-go's Add takes the lock of Get, so adder and workers take
// turns.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informerbench/informerbench/measure/stats"
)

// subject is one queue. The queues have no names, so that neither keeps metrics.
type subject struct {
	name string
	make func() workqueue.TypedInterface[reconcile.Request]
}

var subjects = []subject{
	{"client-go: workqueue.NewTyped", func() workqueue.TypedInterface[reconcile.Request] {
		return workqueue.NewTyped[reconcile.Request]()
	}},
	{"controller-runtime: priorityqueue.New", func() workqueue.TypedInterface[reconcile.Request] {
		return priorityqueue.New[reconcile.Request]("")
	}},
}

func main() {
	workers := flag.Int("workers", 4, "goroutines that get items")
	rounds := flag.Int("rounds", 5, "turns of each queue")
	turn := flag.Duration("turn", 2*time.Second, "the time of one turn")
	flag.Parse()
	if *workers < 1 || *rounds < 1 || *turn <= 0 {
		fmt.Fprintln(os.Stderr, "controller-runtime: -workers, -rounds and -turn must be above 0")
		os.Exit(2)
	}
	fmt.Printf("%d workers, one goroutine that adds without a pause; %d turns of %v each, some %v "+
		"in all; GOMAXPROCS %d, %s\n\n",
		*workers, *rounds, *turn, time.Duration(len(subjects)**rounds)**turn, runtime.GOMAXPROCS(0),
		runtime.Version())

	keys := makeKeys(100_000)
	added, got := make([][]float64, len(subjects)), make([][]float64, len(subjects))
	for range *rounds {
		for i, s := range subjects {
			a, g := measure(s.make(), keys, *workers, *turn)
			added[i], got[i] = append(added[i], a), append(got[i], g)
		}
	}

	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "queue\tAdds per second, median\titems per second that workers got, "+
		"median\tin each turn")
	for i, s := range subjects {
		each := make([]string, len(got[i]))
		for round, rate := range got[i] {
			each[round] = fmt.Sprintf("%.0f", rate)
		}
		fmt.Fprintf(table, "%s\t%.0f\t%.0f\t%s\n", s.name, stats.MedianOf(added[i]),
			stats.MedianOf(got[i]), strings.Join(each, " "))
	}
	if err := table.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "controller-runtime:", err)
		os.Exit(1)
	}
}

func makeKeys(n int) []reconcile.Request {
	keys := make([]reconcile.Request, n)
	for i := range keys {
		keys[i].NamespacedName = types.NamespacedName{Namespace: fmt.Sprintf("namespace-%d", i%50),
			Name: fmt.Sprintf("object-%d", i)}
	}
	return keys
}

// measure returns the Adds and the items handed out, both per second of one turn.
func measure(q workqueue.TypedInterface[reconcile.Request], keys []reconcile.Request, workers int,
	turn time.Duration) (added, got float64) {
	var items, adds atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for {
				item, down := q.Get()
				if down {
					return
				}
				items.Add(1)
				q.Done(item)
			}
		})
	}
	done := make(chan struct{})
	start := time.Now()
	all.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				q.Add(keys[i%len(keys)])
				adds.Add(1)
			}
		}
	})
	<-time.After(turn)
	// The counts are of the turn. The queue may need long to work off what was added.
	seconds := time.Since(start).Seconds()
	added, got = float64(adds.Load())/seconds, float64(items.Load())/seconds
	close(done)
	q.ShutDown()
	all.Wait()
	return added, got
}
