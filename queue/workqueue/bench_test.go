package workqueue_test

// For choosing between designs while they are made; what is published comes from
// benchrun, whose presets delay-million and requeue-storm have these shapes.

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientgo "k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/workqueue"
)

var benchQueues = []struct {
	name string
	make func() contract.DelayingQueue[string]
}{
	{"clientgo", func() contract.DelayingQueue[string] {
		return clientgo.NewTypedDelayingQueue[string]()
	}},
	{"workqueue", func() contract.DelayingQueue[string] {
		return workqueue.NewDelaying(newHeap, workqueue.Config[string]{})
	}},
	{"oneheap", func() contract.DelayingQueue[string] {
		return workqueue.NewDelaying(newHeap, workqueue.Config[string]{Heaps: 1})
	}},
	{"twoheaps", func() contract.DelayingQueue[string] {
		return workqueue.NewDelaying(newHeap, workqueue.Config[string]{Heaps: 2})
	}},
	{"priority", func() contract.DelayingQueue[string] {
		return newPriority(workqueue.Config[string]{})
	}},
	// The default heap, with its AddMany and without.
	{"quadheap", func() contract.DelayingQueue[string] {
		return workqueue.NewDelaying(newQuadHeap, workqueue.Config[string]{})
	}},
	{"quadheap-one-by-one", func() contract.DelayingQueue[string] {
		return workqueue.NewDelaying(func() contract.DelayHeap[string] {
			return oneByOne{newQuadHeap()}
		}, workqueue.Config[string]{})
	}},
}

// oneByOne hides a heap's AddMany.
type oneByOne struct{ contract.DelayHeap[string] }

func benchKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%03d/object-%08d", i%100, i)
	}
	return keys
}

func eachQueue(b *testing.B, run func(b *testing.B, q contract.DelayingQueue[string])) {
	for _, bq := range benchQueues {
		b.Run("impl="+bq.name, func(b *testing.B) {
			q := bq.make()
			defer q.ShutDown()
			b.ReportAllocs()
			run(b, q)
		})
	}
}

// every gives each n-th of the keys, from the first on.
func every(keys []string, n, first int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := first; i < len(keys) && yield(keys[i]); i += n {
		}
	}
}

func BenchmarkAddGetDone(b *testing.B) {
	keys := benchKeys(1 << 16)
	for _, goroutines := range []int{1, 2, 8} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			eachQueue(b, func(b *testing.B, q contract.DelayingQueue[string]) {
				var all sync.WaitGroup
				for g := range goroutines {
					all.Go(func() {
						own := slices.Collect(every(keys, goroutines, g))
						for i := range b.N {
							mine := &own[i%len(own)]
							q.Add(*mine)
							item, _ := q.Get()
							q.Done(item)
							*mine = item // as in package bench
						}
					})
				}
				all.Wait()
			})
		})
	}
}

// BenchmarkEight is eight producers and eight workers; ns/op is per item that a
// worker had. The producers together are some 6,400 items ahead at most, so that
// none is merged with one that waits.
func BenchmarkEight(b *testing.B) {
	keys := benchKeys(1 << 20)
	const each, credit = 8, 100
	eachQueue(b, func(b *testing.B, q contract.DelayingQueue[string]) {
		room := make(chan struct{}, 64)
		var producing, working sync.WaitGroup
		var had atomic.Int64
		for range each {
			working.Go(func() {
				for {
					item, shutdown := q.Get()
					if shutdown {
						return
					}
					q.Done(item)
					if had.Add(1)%credit == 0 {
						<-room
					}
				}
			})
		}
		rounds := b.N/(each*credit) + 1
		b.ResetTimer()
		for p := range each {
			producing.Go(func() {
				for i := range rounds * credit {
					if i%credit == 0 {
						room <- struct{}{}
					}
					q.Add(keys[(i*each+p)&(len(keys)-1)])
				}
			})
		}
		producing.Wait()
		for had.Load() < int64(rounds*credit*each) {
			runtime.Gosched()
		}
		b.StopTimer()
		q.ShutDown()
		working.Wait()
	})
}

// swapping is the other way that was looked at: producers append to a buffer, and
// one goroutine swaps it for an empty one and moves what it finds into the heap.
// It only takes in.
type swapping struct {
	contract.DelayingQueue[string] // nil
	heap                           contract.DelayHeap[string]
	token                          chan struct{}
	took                           sync.WaitGroup

	mu struct {
		sync.Mutex
		buffer []swapped
	}
}

type swapped struct {
	item string
	at   time.Time
}

func newSwapping() *swapping {
	q := &swapping{heap: newHeap(), token: make(chan struct{}, 1)}
	q.took.Go(func() {
		var spare []swapped
		for range q.token {
			q.mu.Lock()
			buffer := q.mu.buffer
			q.mu.buffer = spare[:0]
			q.mu.Unlock()
			for _, s := range buffer {
				q.heap.Add(s.item, s.at)
			}
			spare = buffer
		}
	})
	return q
}

func (q *swapping) AddAfter(item string, d time.Duration) {
	at := time.Now().Add(d)
	q.mu.Lock()
	q.mu.buffer = append(q.mu.buffer, swapped{item, at})
	first := len(q.mu.buffer) == 1
	q.mu.Unlock()
	if first {
		select {
		case q.token <- struct{}{}:
		default:
		}
	}
}

// ShutDown waits until everything is taken in, so that it is part of what is measured.
func (q *swapping) ShutDown() {
	q.token <- struct{}{}
	close(q.token)
	q.took.Wait()
}

func BenchmarkAddAfterMillion(b *testing.B) {
	const waiting = 1_000_000
	keys := benchKeys(waiting)
	for _, producers := range []int{1, 2, 8} {
		run := func(b *testing.B, q contract.DelayingQueue[string]) {
			for i, k := range keys {
				q.AddAfter(k, 10*time.Minute+time.Duration(i*7919%waiting)*time.Millisecond)
			}
			b.ResetTimer()
			var all sync.WaitGroup
			for p := range producers {
				all.Go(func() {
					for i := range b.N {
						at := (i*producers + p) * 7919 % waiting
						lap := time.Duration((i*producers+p)/waiting + 1)
						q.AddAfter(keys[at], 10*time.Minute+time.Duration(at)*time.Millisecond*(1000-20*lap)/1000)
					}
				})
			}
			all.Wait()
		}
		b.Run(fmt.Sprintf("producers=%d", producers), func(b *testing.B) {
			b.Run("impl=swapping", func(b *testing.B) {
				q := newSwapping()
				run(b, q)
				q.ShutDown()
			})
			eachQueue(b, run)
		})
	}
}
