package mutants

// Queues that are wrong in what comes later.

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// delayQueues are wrong in AddAfter.
func delayQueues() []Mutant {
	return []Mutant{
		queueOf("a delay is cut by a quarter", "a delay is rounded down", "QUEUE-22",
			func(b *brokenQueue, ok okQueue) {
				b.addAfter = func(item string, d time.Duration) { ok.AddAfter(item, d*3/4) }
			}),
		queueOf("a short delay waits for the long one before it",
			"the timer is set for the first item and not for the earliest", "QUEUE-22",
			func(b *brokenQueue, ok okQueue) {
				var mu sync.Mutex
				var latest time.Duration
				b.addAfter = func(item string, d time.Duration) {
					mu.Lock()
					defer mu.Unlock()
					latest = max(latest, d)
					ok.AddAfter(item, latest)
				}
			}),
		queueOf("a deadline overflows",
			"the time at which an item is due is a sum of nanoseconds since 1970", "QUEUE-22",
			func(b *brokenQueue, ok okQueue) {
				b.addAfter = func(item string, d time.Duration) {
					if due := b.clock.Now().UnixNano() + int64(d); due < b.clock.Now().UnixNano() {
						d = 0
					}
					ok.AddAfter(item, d)
				}
			}),
		queueOf("no delay is no add", "AddAfter without a delay does nothing", "QUEUE-23",
			func(b *brokenQueue, ok okQueue) {
				b.addAfter = func(item string, d time.Duration) {
					if d > 0 {
						ok.AddAfter(item, d)
					}
				}
			}),
		queueOf("the later of two times wins", "a second AddAfter puts the item off", "QUEUE-24",
			func(b *brokenQueue, ok okQueue) {
				var mu sync.Mutex
				newest := map[string]time.Time{}
				b.addAfter = func(item string, d time.Duration) {
					mu.Lock()
					defer mu.Unlock()
					at := b.clock.Now().Add(d)
					if !at.After(newest[item]) {
						return
					}
					newest[item] = at
					alarm := b.clock.After(d)
					go func() {
						<-alarm
						mu.Lock()
						defer mu.Unlock()
						if newest[item].Equal(at) {
							ok.Add(item)
						}
					}()
				}
			}),
		queueOf("both times count", "an item that is delayed twice comes twice", "QUEUE-24",
			func(b *brokenQueue, ok okQueue) {
				b.addAfter = func(item string, d time.Duration) {
					alarm := b.clock.After(d)
					go func() { <-alarm; ok.Add(item) }()
				}
			}),
		queueOf("what is due comes in any order",
			"delays are rounded, and what is due together comes by the length of its name", "QUEUE-25",
			func(b *brokenQueue, ok okQueue) {
				const tick = 10 * time.Millisecond // of the suite's fake clock
				b.addAfter = func(item string, d time.Duration) {
					ok.AddAfter(item, d.Round(20*tick)+tick*time.Duration(len(item)))
				}
			}),
		queueOf("a full batch is the last",
			"of what is due together 256 are moved, and the timer is set for what is not due yet",
			"QUEUE-21", func(b *brokenQueue, ok okQueue) {
				var mu sync.Mutex
				due := map[time.Time]int{}
				b.addAfter = func(item string, d time.Duration) {
					mu.Lock()
					defer mu.Unlock()
					at := b.clock.Now().Add(d)
					if due[at]++; due[at] > 256 {
						d += time.Hour
					}
					ok.AddAfter(item, d)
				}
			}),
		queueOf("keeps what it handed out", "the slot of an item that a worker took is not cleared",
			"QUEUE-39", func(b *brokenQueue, ok okQueue) {
				var mu sync.Mutex
				var slots []string
				b.get = func() (string, bool) {
					item, shutdown := ok.Get()
					mu.Lock()
					defer mu.Unlock()
					slots = append(slots, item)
					return item, shutdown
				}
			}),
		queueOf("ShutDown hands out delayed items", "what waits for its time is handed out at the end",
			"QUEUE-26", func(b *brokenQueue, ok okQueue) {
				delayed := make(chan string, 100)
				b.addAfter = func(item string, d time.Duration) { delayed <- item; ok.AddAfter(item, d) }
				b.get = func() (string, bool) {
					item, shutdown := ok.Get()
					if shutdown && len(delayed) > 0 {
						return <-delayed, false
					}
					return item, shutdown
				}
			}),
		queueOf("AddAfter waits for a worker",
			"what is delayed goes through a channel of a thousand that workers empty", "QUEUE-27",
			func(b *brokenQueue, ok okQueue) {
				room := make(chan struct{}, 1000)
				b.addAfter = func(item string, d time.Duration) { room <- struct{}{}; ok.AddAfter(item, d) }
				b.get = func() (string, bool) {
					item, shutdown := ok.Get()
					select {
					case <-room:
					default:
					}
					return item, shutdown
				}
			}),
	}
}

// rateQueues are wrong in what a limiter adds.
func rateQueues() []Mutant {
	return []Mutant{
		queueOf("the limiter is asked twice", "AddRateLimited asks the limiter again where it logs",
			"QUEUE-28", func(b *brokenQueue, ok okQueue) {
				b.addRateLimited = func(item string) { ok.AddRateLimited(item); ok.AddRateLimited(item) }
			}),
		queueOf("AddRateLimited only counts", "the limiter is asked and the item is not added",
			"QUEUE-28", func(b *brokenQueue, ok okQueue) {
				b.addRateLimited = func(item string) { ok.AddRateLimited(item + " ") }
			}),
		queueOf("one count for all items", "NumRequeues counts every AddRateLimited", "QUEUE-29",
			func(b *brokenQueue, ok okQueue) {
				var n atomic.Int64
				b.addRateLimited = func(item string) { n.Add(1); ok.AddRateLimited(item) }
				b.numRequeues = func(string) int { return int(n.Load()) }
			}),
		queueOf("counts are lost", "the count is read, and written later with one more", "QUEUE-29",
			func(b *brokenQueue, ok okQueue) {
				var counts sync.Map
				count := func(item string) int {
					n, _ := counts.LoadOrStore(item, 0)
					return n.(int)
				}
				b.addRateLimited = func(item string) {
					n := count(item)
					runtime.Gosched()
					ok.AddRateLimited(item)
					counts.Store(item, n+1)
				}
				b.numRequeues = count
				b.forget = func(item string) { counts.Store(item, 0); ok.Forget(item) }
			}),
		queueOf("Forget forgets nothing", "Forget does nothing", "QUEUE-30",
			func(b *brokenQueue, _ okQueue) {
				b.forget = func(string) {}
			}),
		queueOf("Forget is Done", "Forget is taken to end the item's processing", "QUEUE-30",
			func(b *brokenQueue, ok okQueue) {
				b.forget = func(item string) { ok.Forget(item); ok.Done(item) }
			}),
	}
}
