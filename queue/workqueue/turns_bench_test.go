package workqueue_test

// AddAfter beside client-go's queue, in turns.
//
//	go test -run='^$' -bench=AddAfterInTurns -benchtime=20x -count=6 ./queue/workqueue

import (
	"fmt"
	"hash/maphash"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	clientgo "k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/inturns"
	"github.com/informerbench/informerbench/queue/delay"
	"github.com/informerbench/informerbench/queue/workqueue"
)

// BenchmarkAddAfterInTurns reports the times of AddAfters to client-go's. With
// shape=million, 1,000,000 strings wait in each queue, and a round makes 100,000 of them come
// earlier. With shape=empty, a round adds 100,000 strings to an empty queue, due after 1 ms,
// and one worker takes all of them out. bare is a bareDelay for each producer, and bare-shared is
// one sharedDelay for all.
func BenchmarkAddAfterInTurns(b *testing.B) {
	const inRound = 100_000
	for _, producers := range []int{1, 8} {
		b.Run(fmt.Sprintf("shape=million/producers=%d", producers), func(b *testing.B) {
			const waiting = 1_000_000
			keys := benchKeys(waiting)
			// The key of the n-th AddAfter, counted over all rounds. The numbers of producers divide
			// inRound and waiting, so each producer has keys of its own.
			at := func(n int) int { return n * 7919 % waiting }
			var runs []inturns.Run
			for _, a := range newAdders(b, producers) {
				for i := range waiting {
					key := at(i)
					a.queues[i%producers].AddAfter(keys[key], millionDelay(key, 0))
				}
				runs = append(runs, inturns.Run{Name: a.name, Round: func(round int) {
					var all sync.WaitGroup
					for p, queue := range a.queues {
						all.Go(func() {
							for i := p; i < inRound; i += producers {
								n := (round-1)*inRound + i
								queue.AddAfter(keys[at(n)], millionDelay(at(n), 1+n/waiting))
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
		for _, a := range newAdders(b, 1) {
			queue := a.queues[0]
			runs = append(runs, inturns.Run{Name: a.name, Round: func(int) {
				for _, key := range keys {
					queue.AddAfter(key, time.Millisecond)
				}
				for range keys {
					item, _ := queue.Get()
					queue.Done(item)
				}
			}})
		}
		inturns.Compare(b, runs...)
	})
}

// millionDelay is the delay of a key in a lap. It falls by 2 percent with each of 45 laps,
// so a lap moves each item by another distance.
func millionDelay(key, lap int) time.Duration {
	return 10*time.Minute + time.Duration(key)*time.Millisecond*time.Duration(
		1000-20*min(lap, 45))/1000
}

// adder is a queue, once for each producer.
type adder struct {
	name   string
	queues []delaying
}

// delaying is what the benchmark calls.
type delaying interface {
	AddAfter(item string, d time.Duration)
	Get() (item string, shutdown bool)
	Done(item string)
}

func newAdders(b *testing.B, producers int) []adder {
	c := clientgo.NewTypedDelayingQueue[string]()
	q := workqueue.NewDelaying(newQuadHeap, workqueue.Config[string]{})
	b.Cleanup(c.ShutDown)
	b.Cleanup(q.ShutDown)
	adders := []adder{
		{"clientgo", slices.Repeat([]delaying{c}, producers)},
		{"workqueue", slices.Repeat([]delaying{q}, producers)},
		{"bare-shared", slices.Repeat([]delaying{newSharedDelay()}, producers)},
		{name: "bare"},
	}
	bare := &adders[len(adders)-1]
	for range producers {
		bare.queues = append(bare.queues, newBareDelay())
	}
	return adders
}

// bareDelay is what a delaying queue does at least: it reads the clock, hands 16 items at a
// time to the heap, and keeps an item that it took out in a map until it is done. It has no
// lock and no goroutine: only one goroutine may use it, and Get does not wait.
type bareDelay struct {
	heap  *delay.QuadHeap[string]
	items []contract.Waiting[string]
	out   map[string]struct{}
}

func newBareDelay() *bareDelay {
	return &bareDelay{heap: delay.NewQuadHeap[string](),
		items: make([]contract.Waiting[string], 0, 16), out: map[string]struct{}{}}
}

func (q *bareDelay) AddAfter(item string, d time.Duration) {
	q.items = append(q.items, contract.Waiting[string]{Item: item, ReadyAt: time.Now().Add(d)})
	if len(q.items) == cap(q.items) {
		q.push()
	}
}

func (q *bareDelay) push() {
	q.heap.AddMany(q.items)
	q.items = q.items[:0]
}

func (q *bareDelay) Get() (item string, shutdown bool) {
	q.push()
	readyAt, _ := q.heap.Next()
	item, _ = q.heap.PopReady(readyAt)
	q.out[item] = struct{}{}
	return item, false
}

func (q *bareDelay) Done(item string) { delete(q.out, item) }

// sharedDelay is what several producers need beyond a bareDelay: they may AddAfter at once, and
// an item that waits already is found whoever added it. So there are several bareDelays, each
// behind a mutex, and the item's hash chooses one. Get does not wait; only one goroutine may Get
// and Done.
type sharedDelay struct {
	seed  maphash.Seed
	parts []sharedPart
	next  int // the part that the next Get looks into first
}

type sharedPart struct {
	sync.Mutex
	*bareDelay
	_ [64]byte // the next part's lock lies on another cache line
}

func newSharedDelay() *sharedDelay {
	q := &sharedDelay{seed: maphash.MakeSeed(), parts: make([]sharedPart, 2*runtime.GOMAXPROCS(0))}
	for i := range q.parts {
		q.parts[i].bareDelay = newBareDelay()
	}
	return q
}

func (q *sharedDelay) of(item string) *sharedPart {
	return &q.parts[maphash.String(q.seed, item)%uint64(len(q.parts))]
}

func (q *sharedDelay) AddAfter(item string, d time.Duration) {
	part := q.of(item)
	part.Lock()
	part.bareDelay.AddAfter(item, d)
	part.Unlock()
}

// Get takes from one part after the other, so items do not come out in the order of their times.
func (q *sharedDelay) Get() (item string, shutdown bool) {
	for {
		part := &q.parts[q.next%len(q.parts)]
		q.next++
		part.Lock()
		part.push()
		if part.heap.Len() > 0 {
			item, shutdown = part.bareDelay.Get()
			part.Unlock()
			return item, shutdown
		}
		part.Unlock()
	}
}

func (q *sharedDelay) Done(item string) {
	part := q.of(item)
	part.Lock()
	part.bareDelay.Done(item)
	part.Unlock()
}
