package informer_test

// The whole informer beside client-go's on the same watch. The measurements that count
// are benchrun's (component informer); these show allocations, and serve profiling:
//
//	go test ./informer -run '^$' -bench . -benchtime 2s

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/informer"
)

const benchNamespace = "default"

var impls = []struct {
	name        string
	newInformer contract.NewInformer
}{
	{"clientgo", cache.NewSharedIndexInformer},
	{"informerbench", informer.NewSharedIndexInformer},
}

func benchPods(n int) []corev1.Pod {
	pods := make([]corev1.Pod, n)
	for i := range pods {
		pods[i].Namespace, pods[i].Name = benchNamespace, fmt.Sprintf("pod-%06d-%016x", i, rand.Uint64())
	}
	return pods
}

// startOn runs an informer on a list and a watch until stop, and waits for the list.
func startOn(tb testing.TB, newInformer contract.NewInformer, pods []corev1.Pod,
	w watch.Interface) (inf cache.SharedIndexInformer, stop func()) {
	tb.Helper()
	lw := listWatch{&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (apiruntime.Object, error) {
			return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: pods}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			return w, nil
		},
	}}
	inf = newInformer(lw, &corev1.Pod{}, 0,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		inf.RunWithContext(ctx)
	}()
	<-inf.HasSyncedChecker().Done()
	return inf, func() {
		cancel()
		<-done
	}
}

// BenchmarkSharedIndexInformer has the shape of client-go's benchmark of this name: one
// goroutine offers updates, at most eleven of which are under way, to an informer in
// which others list a namespace without end.
func BenchmarkSharedIndexInformer(b *testing.B) {
	pods := benchPods(10_000)
	for _, readers := range []int{0, 10} {
		for _, impl := range impls {
			b.Run(fmt.Sprintf("podCount=%d/readers=%d/impl=%s", len(pods), readers, impl.name),
				func(b *testing.B) {
					w := watch.NewFakeWithChanSize(1, false)
					inf, stop := startOn(b, impl.newInformer, pods, w)
					defer stop()
					var writes, reads atomic.Int64
					got := make(chan struct{}, 10)
					_, err := inf.AddEventHandler(
						cache.ResourceEventHandlerDetailedFuncs{UpdateFunc: func(_, _ any) {
							writes.Add(1)
							select {
							case <-got:
							default:
							}
						}})
					if err != nil {
						b.Fatal(err)
					}
					p := pods[0]
					w.Modify(&p)
					for writes.Load() == 0 {
						time.Sleep(time.Millisecond)
					}
					var reading sync.WaitGroup
					var over atomic.Bool
					for range readers {
						reading.Go(func() {
							for !over.Load() {
								if err := cache.ListAllByNamespace(inf.GetIndexer(), benchNamespace, labels.Everything(),
									func(any) {}); err != nil {
									panic(err)
								}
								reads.Add(1)
							}
						})
					}
					writes.Store(0)
					reads.Store(0)
					b.ReportAllocs()
					for b.Loop() {
						p := pods[rand.IntN(len(pods))]
						w.Modify(&p)
						got <- struct{}{}
					}
					b.ReportMetric(float64(reads.Load())/b.Elapsed().Seconds(), "reads/s")
					b.ReportMetric(float64(writes.Load())/b.Elapsed().Seconds(), "writes/s")
					over.Store(true)
					reading.Wait()
				})
		}
	}
}

// pump sends n updates of pods, each with a version of its own, through an informer with
// one handler, and returns when the handler has had them all. The objects are made before;
// allocs counts the allocations of the informer and its watch.
func pump(tb testing.TB, newInformer contract.NewInformer, pods []corev1.Pod,
	n int) (allocs float64, took time.Duration) {
	tb.Helper()
	updates := make([]corev1.Pod, n)
	for i := range updates {
		updates[i] = pods[i%len(pods)]
		updates[i].ResourceVersion = strconv.Itoa(i + 2)
	}
	w := watch.NewFakeWithChanSize(100, false)
	inf, stop := startOn(tb, newInformer, pods, w)
	defer stop()
	left := n
	done := make(chan struct{})
	handle, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) {
		if left--; left == 0 {
			close(done)
		}
	}})
	if err != nil {
		tb.Fatal(err)
	}
	<-handle.HasSyncedChecker().Done()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	for i := range updates {
		w.Modify(&updates[i])
	}
	<-done
	took = time.Since(began)
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(n), took
}

// BenchmarkEvents is how many events go through one handler.
func BenchmarkEvents(b *testing.B) {
	pods := benchPods(10_000)
	for _, impl := range impls {
		b.Run("pods=10000/impl="+impl.name, func(b *testing.B) {
			const n = 200_000
			var allocs float64
			var took time.Duration
			for range b.N {
				a, t := pump(b, impl.newInformer, pods, n)
				allocs, took = allocs+a, took+t
			}
			b.ReportMetric(float64(b.N)*n/took.Seconds(), "events/s")
			b.ReportMetric(allocs/float64(b.N), "allocs/event")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkInitialSync is how long a list takes from the first request to the handler's
// last object.
func BenchmarkInitialSync(b *testing.B) {
	pods := benchPods(100_000)
	for _, impl := range impls {
		b.Run("pods=100000/impl="+impl.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				var seen atomic.Int64
				_, stop := startOn(
					b, func(lw cache.ListerWatcher, o apiruntime.Object, d time.Duration,
						i cache.Indexers) cache.SharedIndexInformer {
						inf := impl.newInformer(lw, o, d, i)
						_, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
							seen.Add(1)
						}})
						if err != nil {
							b.Fatal(err)
						}
						return inf
					}, pods, watch.NewFake())
				for seen.Load() < int64(len(pods)) {
					runtime.Gosched()
				}
				stop()
			}
		})
	}
}

// TestAllocationsPerEvent holds the informer to its promise: an update of an object costs
// at most four allocations from the watch to the handler, with one index.
func TestAllocationsPerEvent(t *testing.T) {
	allocs, _ := pump(t, informer.NewSharedIndexInformer, benchPods(1000), 50_000)
	t.Logf("%.2f allocations per event", allocs)
	if allocs > 4 {
		t.Errorf("%.2f allocations per event, at most 4 are promised", allocs)
	}
}
