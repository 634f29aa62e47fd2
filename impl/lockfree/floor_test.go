package lockfree_test

// A store beside goroutines that list without a pause: the delay of its writer, and the lists a
// second. A floor that only copies a slice shows how much a store could gain.

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/lockfree"
)

// floor is no store: List copies a slice that never changes, and Update does nothing. List lets
// others run as often as lockfree's does, or the writer would wait for Go's time slices.
type floor struct {
	objects []any
	store   any          // what the garbage collector finds beside the objects
	admits  bool         // whether lists let each other end first, as lockfree's do
	long    atomic.Int32 // lists under way that were admitted
}

func (f *floor) List() []any {
	if f.admits {
		for turn := 0; turn < len(f.objects)/16 && f.long.Load() >= int32(runtime.GOMAXPROCS(0)); turn++ {
			runtime.Gosched()
		}
		f.long.Add(1)
		defer f.long.Add(-1)
	}
	list := make([]any, len(f.objects))
	const stretch = 4096
	for from := 0; from < len(list); from += stretch {
		copy(list[from:min(from+stretch, len(list))], f.objects[from:])
		runtime.Gosched()
	}
	return list
}

func (f *floor) Update(string, any) {}

// BenchmarkBesideListers offers 10,000 Updates a second beside goroutines that list 100,000
// objects. An op is a second. p99-ms is the delay of the Updates, each from when it was due
// until it was made.
//
// impl=floor-beside-store has two more things in common with lockfree. A full store that nobody
// uses is in the heap, so the garbage collector has as much to mark. And while as many lists run
// as there are processors, a further one lets them end first. With gc=rare the collector runs only
// when the heap has 4 GiB, so nearly all time is
// that of the lists.
func BenchmarkBesideListers(b *testing.B) {
	const objects, rate = 100_000, 10_000
	items, keys, list := make(map[string]any, objects), make([]string, objects), make([]any, objects)
	for i := range keys {
		o := &metav1.PartialObjectMetadata{
			ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprint("namespace-", i%50),
				Name: fmt.Sprint("pod-", i)}}
		keys[i], list[i] = o.Namespace+"/"+o.Name, o
		items[keys[i]] = o
	}
	type listUpdater interface {
		List() []any
		Update(key string, obj any)
	}
	indexers := contract.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	full := func(s interface {
		listUpdater
		Replace(items map[string]any, resourceVersion string)
	}) listUpdater {
		s.Replace(items, "1")
		return s
	}
	stores := []struct {
		name string
		make func() listUpdater
	}{
		{"clientgo", func() listUpdater {
			return full(cache.NewThreadSafeStore(indexers, cache.Indices{}))
		}},
		{"lockfree", func() listUpdater { return full(lockfree.New(indexers)) }},
		{"floor", func() listUpdater { return &floor{objects: list} }},
		{"floor-beside-store", func() listUpdater {
			return &floor{objects: list, store: full(lockfree.New(indexers)), admits: true}
		}},
	}
	for _, run := range []struct {
		gc      string
		listers int
	}{{"usual", 1}, {"usual", 10}, {"usual", 80}, {"rare", 80}} {
		for _, c := range stores {
			b.Run(fmt.Sprintf("gc=%s/listers=%d/impl=%s", run.gc, run.listers, c.name), func(b *testing.B) {
				store := c.make()
				runtime.GC()
				if run.gc == "rare" {
					defer debug.SetMemoryLimit(debug.SetMemoryLimit(4 << 30))
					defer debug.SetGCPercent(debug.SetGCPercent(-1))
				}
				stop := listByMany(store.List, run.listers)
				var delays []time.Duration
				for b.Loop() {
					delays = append(delays, offer(rate, func(i int) { store.Update(keys[i], list[i]) })...)
				}
				b.ReportMetric(float64(stop())/b.Elapsed().Seconds(), "lists/s")
				slices.Sort(delays)
				b.ReportMetric(delays[len(delays)*99/100].Seconds()*1000, "p99-ms")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// listByMany lists in goroutines until stop is called, which returns how many lists they made.
func listByMany(list func() []any, goroutines int) (stop func() int64) {
	var lists atomic.Int64
	var ended sync.WaitGroup
	done := make(chan struct{})
	for range goroutines {
		ended.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					list()
					lists.Add(1)
				}
			}
		})
	}
	return func() int64 {
		made := lists.Load()
		close(done)
		ended.Wait()
		return made
	}
}

// offer makes rate writes within a second, each when it is due or as soon as it can, and
// returns their delays. What was not made after two seconds counts with its delay so far.
func offer(rate int, write func(i int)) []time.Duration {
	delays := make([]time.Duration, 0, rate)
	start := time.Now()
	for i := range rate {
		due := time.Duration(i) * time.Second / time.Duration(rate)
		if early := due - time.Since(start); early > 0 {
			time.Sleep(early)
		}
		if time.Since(start) < 2*time.Second {
			write(i)
		}
		delays = append(delays, time.Since(start)-due)
	}
	return delays
}
