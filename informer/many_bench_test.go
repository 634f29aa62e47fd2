package informer_test

import (
	"runtime"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// BenchmarkThousandInformers is a program with very many kinds of objects, as Crossplane is: an
// informer of ten objects for each, with one handler. It reports what an informer keeps once all
// have synced and nothing happens; ns/op is the time until all have.
func BenchmarkThousandInformers(b *testing.B) {
	const informers, objects = 1000, 10
	pods := benchPods(objects)
	for _, impl := range impls {
		b.Run("impl="+impl.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				before := usage()
				b.StartTimer()
				var starting, told, stopped sync.WaitGroup
				told.Add(informers * objects)
				stops := make([]func(), informers)
				kept := make([]cache.SharedIndexInformer, informers)
				for i := range informers {
					starting.Go(func() {
						kept[i], stops[i] = startOn(b, impl.newInformer, pods, watch.NewFake())
						if _, err := kept[i].AddEventHandler(cache.ResourceEventHandlerFuncs{
							AddFunc: func(any) { told.Done() },
						}); err != nil {
							b.Error(err)
						}
					})
				}
				starting.Wait()
				told.Wait()
				b.StopTimer()
				after := usage()
				each := func(from, to uint64) float64 { return float64(to-from) / informers }
				b.ReportMetric(each(before.goroutines, after.goroutines), "goroutines/informer")
				b.ReportMetric(each(before.stacks, after.stacks), "stack-B/informer")
				b.ReportMetric(each(before.heap, after.heap), "heap-B/informer")
				runtime.KeepAlive(kept)
				for _, stop := range stops {
					stopped.Go(stop)
				}
				stopped.Wait()
				b.StartTimer()
			}
		})
	}
}

// used is what a program has: numbers, and bytes in use.
type used struct{ goroutines, stacks, heap uint64 }

// usage collects garbage, which also shrinks stacks.
func usage() used {
	runtime.GC()
	runtime.GC() // what pools hold for one more
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return used{uint64(runtime.NumGoroutine()), m.StackInuse, m.HeapAlloc}
}
