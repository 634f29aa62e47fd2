/*
Copyright The Kubernetes Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package cache

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	contentionObjects    = 100_000
	contentionNamespaces = 50 // of 2,000 objects
	contentionNodes      = 5_000
	contentionBatch      = 1_000  // as many as RealFIFO gives the store at once
	contentionRate       = 10_000 // writes per second that an open loop offers
	contentionWindow     = time.Second
	contentionPause      = 100 * time.Millisecond // between the reads of a paced reader
)

// BenchmarkThreadSafeStoreContention measures a store's one writer beside goroutines that
// read (kubernetes/kubernetes#130767). The parts of a row's name:
//
//   - loop=closed: the writer makes the next call when the last one has returned. ns/op is
//     the time of a call, and writes/s the writes in all calls.
//   - loop=open: 10,000 writes a second become due, whether the writer is ready or not. An
//     op is a window of one second. p50-ms and p99-ms are the delays of all writes of the
//     window, each from when it was due until it was made. A write that is still waiting
//     at the end counts with its delay so far. achieved-% is the share that was
//     made within the window.
//   - batch=1: one Update for each write. batch=1000: one Transaction for up to 1,000
//     writes. In a closed loop it is always 1,000; in an open loop it is what is due. So an
//     open loop shows the batches that a slow store makes the writer form, without a limit
//     on how far the source is ahead. batch-mean is their mean size. All keys of a batch
//     differ; RealFIFO ends a batch before the second event of a key.
//   - readers=list: each goroutine lists all 100,000 objects, without a pause.
//     readers=paced: each does so every 100 ms, or as often as it can; they begin one
//     after another, spread over the 100 ms. readers=index: each asks for the 2,000 objects
//     of a namespace, without a pause. reads/s is their own rate; read-p50-ms and
//     read-p99-ms are the times of a read.
func BenchmarkThreadSafeStoreContention(b *testing.B) {
	pool := contentionPool()
	for _, loop := range []string{"closed", "open"} {
		for _, batch := range []int{1, contentionBatch} {
			for _, readers := range []struct {
				kind string
				n    int
			}{{"none", 0}, {"list", 1}, {"list", 10}, {"list", 80}, {"paced", 10}, {"index", 10}} {
				name := fmt.Sprintf("loop=%s/batch=%d/readers=%s/goroutines=%d", loop, batch, readers.kind,
					readers.n)
				b.Run(name, func(b *testing.B) {
					store, objects := contentionStore(pool)
					w := &contentionWriter{store: store, objects: objects, batch: batch}
					stop := startReaders(b, store, readers.kind, readers.n)
					defer stop()
					if loop == "closed" {
						w.closedLoop(b)
					} else {
						w.openLoop(b)
					}
				})
			}
		}
	}
}

// BenchmarkThreadSafeStoreMemory measures what stores keep of 100,000 objects in all: keys,
// tables and indexes, without the objects. An op fills the stores by Replace, as an
// informer's first list does, and lists each once. heap-B/object is the median over the ops.
func BenchmarkThreadSafeStoreMemory(b *testing.B) {
	pool := contentionPool()
	for _, objects := range []int{10, 1_000, contentionObjects} {
		for _, indexes := range []int{0, 1, 2} {
			b.Run(fmt.Sprintf("objects=%d/indexes=%d", objects, indexes), func(b *testing.B) {
				var kept []int64
				for range b.N {
					before := contentionHeap()
					stores := contentionStores(pool[0], objects, indexes)
					kept = append(kept, contentionHeap()-before)
					runtime.KeepAlive(stores)
				}
				slices.Sort(kept)
				b.ReportMetric(float64(kept[len(kept)/2])/contentionObjects, "heap-B/object")
			})
		}
	}
	runtime.KeepAlive(pool)
}

// contentionStores returns stores of the given size. Together they hold all objects of the
// pool.
func contentionStores(pool []*metav1.PartialObjectMetadata, objects,
	indexes int) []ThreadSafeStore {
	stores := make([]ThreadSafeStore, 0, len(pool)/objects)
	for ; len(pool) > 0; pool = pool[objects:] {
		indexers := contentionIndexers()
		for _, name := range []string{NamespaceIndex, "node"}[indexes:] {
			delete(indexers, name)
		}
		items := make(map[string]interface{}, objects)
		for _, object := range pool[:objects] {
			items[object.Namespace+"/"+object.Name] = object
		}
		store := NewThreadSafeStore(indexers, Indices{})
		store.Replace(items, "1")
		store.List()
		stores = append(stores, store)
	}
	return stores
}

// contentionHeap returns the bytes of the live heap.
func contentionHeap() int64 {
	runtime.GC()
	runtime.GC() // what the first one found free in pools
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func contentionIndexers() Indexers {
	byNode := func(obj interface{}) ([]string, error) {
		return []string{obj.(*metav1.PartialObjectMetadata).Labels["node"]}, nil
	}
	return Indexers{NamespaceIndex: MetaNamespaceIndexFunc, "node": byNode}
}

// contentionPool has two versions of each object: writes exchange one for the other, so
// that the writer's own allocations are not measured.
func contentionPool() (versions [2][]*metav1.PartialObjectMetadata) {
	for version := range versions {
		versions[version] = make([]*metav1.PartialObjectMetadata, contentionObjects)
		for i := range versions[version] {
			versions[version][i] = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				Namespace:       fmt.Sprintf("namespace-%d", i%contentionNamespaces),
				Name:            fmt.Sprintf("pod-%d", i),
				Labels:          map[string]string{"node": fmt.Sprintf("node-%d", i%contentionNodes)},
				ResourceVersion: fmt.Sprint(version*contentionObjects + i + 1),
			}}
		}
	}
	return versions
}

// contentionObject is one key with both versions of its object.
type contentionObject struct {
	key      string
	versions [2]interface{}
}

// contentionStore returns a full store, and its objects in an order that is not that of
// their memory.
func contentionStore(pool [2][]*metav1.PartialObjectMetadata) (ThreadSafeStoreWithTransaction,
	[]contentionObject) {
	store := NewThreadSafeStore(contentionIndexers(), Indices{}).(ThreadSafeStoreWithTransaction)
	items := make(map[string]interface{}, contentionObjects)
	objects := make([]contentionObject, contentionObjects)
	for i := range objects {
		const step = 61_027 // a prime, so all objects are visited
		from := int(int64(i) * step % contentionObjects)
		first, second := pool[0][from], pool[1][from]
		key := first.Namespace + "/" + first.Name
		items[key] = first
		objects[i] = contentionObject{key, [2]interface{}{first, second}}
	}
	store.Replace(items, "1")
	store.List() // or writes would skip what a store does for readers before its first read
	runtime.GC()
	return store, objects
}

// startReaders starts goroutines that read, and returns once each has read once. The
// function it returns stops them, and reports their rate and the times of their reads.
func startReaders(b *testing.B, store ThreadSafeStore, kind string, n int) (stop func()) {
	var reads atomic.Int64
	var started, ended sync.WaitGroup
	done := make(chan struct{})
	times := make([][]time.Duration, n) // of each goroutine
	started.Add(n)
	for i := range n {
		ended.Go(func() {
			readOnce := func(round int) int { return len(store.List()) }
			want := contentionObjects
			if kind == "index" {
				want = contentionObjects / contentionNamespaces
				readOnce = func(round int) int {
					found, _ := store.ByIndex(NamespaceIndex,
						fmt.Sprintf("namespace-%d", (i+round)%contentionNamespaces))
					return len(found)
				}
			}
			var pause <-chan time.Time // nil for a reader that does not pause
			if kind == "paced" {
				time.Sleep(contentionPause * time.Duration(i) / time.Duration(n))
				ticker := time.NewTicker(contentionPause)
				defer ticker.Stop()
				pause = ticker.C
			}
			for round := 0; ; round++ {
				from := time.Now()
				if found := readOnce(round); found != want {
					b.Errorf("read %d objects, want %d", found, want)
				}
				times[i] = append(times[i], time.Since(from))
				if reads.Add(1); round == 0 {
					started.Done()
				}
				if pause != nil {
					select {
					case <-done:
						return
					case <-pause:
					}
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	started.Wait()
	before, from := reads.Load(), time.Now()
	return func() {
		rate := float64(reads.Load()-before) / time.Since(from).Seconds()
		close(done)
		ended.Wait()
		if n == 0 {
			return
		}
		b.ReportMetric(rate, "reads/s")
		all := slices.Concat(times...)
		slices.Sort(all)
		b.ReportMetric(contentionPercentile(all, 50), "read-p50-ms")
		b.ReportMetric(contentionPercentile(all, 99), "read-p99-ms")
	}
}

// contentionPercentile is that of sorted durations, in milliseconds.
func contentionPercentile(sorted []time.Duration, p int) float64 {
	return float64(sorted[(len(sorted)-1)*p/100].Microseconds()) / 1000
}

// contentionWriter is the one writer of a store.
type contentionWriter struct {
	store   ThreadSafeStoreWithTransaction
	objects []contentionObject
	batch   int
	made    int // writes so far
	calls   int
	txns    []ThreadSafeStoreTransaction
}

// write makes the next n writes in one call.
func (w *contentionWriter) write(n int) {
	next := func() (string, interface{}) {
		object := &w.objects[w.made%len(w.objects)]
		version := 1 - w.made/len(w.objects)%2
		w.made++
		return object.key, object.versions[version]
	}
	w.calls++
	if w.batch == 1 {
		w.store.Update(next())
		return
	}
	w.txns = w.txns[:0]
	for range n {
		key, obj := next()
		w.txns = append(w.txns, ThreadSafeStoreTransaction{Key: key,
			Transaction: Transaction{Type: TransactionTypeUpdate, Object: obj}})
	}
	w.store.Transaction(w.txns...)
}

func (w *contentionWriter) closedLoop(b *testing.B) {
	b.ResetTimer()
	for range b.N {
		w.write(w.batch)
	}
	b.StopTimer()
	b.ReportMetric(float64(w.made)/b.Elapsed().Seconds(), "writes/s")
}

func (w *contentionWriter) openLoop(b *testing.B) {
	var delays []time.Duration
	made := 0
	b.ResetTimer()
	for range b.N {
		window, done := w.window()
		delays, made = append(delays, window...), made+done
	}
	b.StopTimer()
	slices.Sort(delays)
	b.ReportMetric(0, "ns/op") // an op is a window
	b.ReportMetric(contentionPercentile(delays, 50), "p50-ms")
	b.ReportMetric(contentionPercentile(delays, 99), "p99-ms")
	b.ReportMetric(100*float64(made)/float64(len(delays)), "achieved-%")
	if w.batch > 1 {
		b.ReportMetric(float64(w.made)/float64(w.calls), "batch-mean")
	}
}

// window offers the writes of one window. It returns the delay of each, and how many were
// made in time.
func (w *contentionWriter) window() (delays []time.Duration, made int) {
	const interval = time.Second / contentionRate
	const offered = int(contentionWindow / interval)
	delays = make([]time.Duration, 0, offered)
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	start := time.Now()
	for len(delays) < offered {
		now := time.Since(start)
		if now >= contentionWindow {
			break
		}
		due := time.Duration(len(delays)) * interval
		if now < due {
			timer.Reset(due - now)
			<-timer.C
			continue
		}
		n := min(int((now-due)/interval)+1, w.batch, offered-len(delays))
		w.write(n)
		if now = time.Since(start); now <= contentionWindow {
			made += n
		}
		for range n {
			delays = append(delays, now-time.Duration(len(delays))*interval)
		}
	}
	for len(delays) < offered {
		delays = append(delays, contentionWindow-time.Duration(len(delays))*interval)
	}
	time.Sleep(contentionWindow - time.Since(start)) // an op is the whole window
	return delays, made
}
