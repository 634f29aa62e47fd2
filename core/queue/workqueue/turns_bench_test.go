package workqueue_test

// AddAfter beside client-go's queue, in turns.
//
//	go -C core test -run='^$' -bench=AddAfterInTurns -benchtime=20x -count=6 ./queue/workqueue

import (
	"fmt"
	"sync"
	"testing"
	"time"

	clientgo "k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/core/internal/inturns"
	"github.com/informerbench/informerbench/core/queue/delay"
	"github.com/informerbench/informerbench/core/queue/workqueue"
)

// BenchmarkAddAfterInTurns reports the times of AddAfters to client-go's. With
// shape=million, 1,000,000 strings wait in each queue, and a round makes 100,000 of them come
// earlier. With shape=empty, a round adds 100,000 strings to an empty queue, due after 1 ms,
// and one worker takes all of them out.
func BenchmarkAddAfterInTurns(b *testing.B) {
	const inRound = 100_000
	for _, producers := range []int{1, 8} {
		b.Run(fmt.Sprintf("shape=million/producers=%d", producers), func(b *testing.B) {
			const waiting = 1_000_000
			keys := benchKeys(waiting)
			adders := newAdders(b)
			if producers == 1 {
				adders = append(adders, adder{"bare", newBareDelay()})
			}
			var runs []inturns.Run
			for _, a := range adders {
				for i, key := range keys {
					a.queue.AddAfter(key, millionDelay(i, 0))
				}
				runs = append(runs, inturns.Run{Name: a.name, Round: func(round int) {
					var all sync.WaitGroup
					for p := range producers {
						all.Go(func() {
							for i := p; i < inRound; i += producers {
								n := (round-1)*inRound + i
								at := n * 7919 % waiting
								a.queue.AddAfter(keys[at], millionDelay(at, 1+n/waiting))
							}
						})
					}
					all.Wait()
				}})
			}
			inturns.Compare(b, runs...)
		})
	}
	b.Run("shape=empty", func(b *testing.B) {
		keys := benchKeys(inRound)
		var runs []inturns.Run
		for _, a := range newAdders(b) {
			runs = append(runs, inturns.Run{Name: a.name, Round: func(int) {
				for _, key := range keys {
					a.queue.AddAfter(key, time.Millisecond)
				}
				for range keys {
					item, _ := a.queue.Get()
					a.queue.Done(item)
				}
			}})
		}
		inturns.Compare(b, runs...)
	})
}

// millionDelay is the delay of a key in a lap. It falls by 2 percent with each of 45 laps,
// so a lap moves each item by another distance.
func millionDelay(key, lap int) time.Duration {
	return 10*time.Minute + time.Duration(key)*time.Millisecond*time.Duration(1000-20*min(lap, 45))/1000
}

type adder struct {
	name  string
	queue contract.DelayingQueue[string]
}

func newAdders(b *testing.B) []adder {
	c := clientgo.NewTypedDelayingQueue[string]()
	q := workqueue.NewDelaying(newQuadHeap, workqueue.Config[string]{})
	b.Cleanup(c.ShutDown)
	b.Cleanup(q.ShutDown)
	return []adder{{"clientgo", c}, {"workqueue", q}}
}

// bareDelay is what AddAfter does at least: it reads the clock, and hands 16 items at a time
// to the heap. It has no lock and no goroutine, and no item comes out.
type bareDelay struct {
	contract.DelayingQueue[string] // nil
	heap                           *delay.QuadHeap[string]
	items                          []contract.Waiting[string]
}

func newBareDelay() *bareDelay {
	return &bareDelay{heap: delay.NewQuadHeap[string](), items: make([]contract.Waiting[string], 0, 16)}
}

func (q *bareDelay) AddAfter(item string, d time.Duration) {
	q.items = append(q.items, contract.Waiting[string]{Item: item, ReadyAt: time.Now().Add(d)})
	if len(q.items) == cap(q.items) {
		q.heap.AddMany(q.items)
		q.items = q.items[:0]
	}
}
