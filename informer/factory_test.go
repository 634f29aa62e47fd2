package informer_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load/synthetic"
)

func TestFactoryStartsEachInformerOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := synthetic.NewSource([]runtime.Object{labelled("a", "1", "web")},
			synthetic.SourceOptions{})
		defer source.Stop()
		var made, adds atomic.Int64
		newInformer := func() cache.SharedIndexInformer {
			made.Add(1)
			return informer.NewSharedIndexInformer(source, &corev1.Pod{}, 0, cache.Indexers{})
		}
		var f informer.SharedInformerFactory[string]
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()

		first := f.InformerFor("pods", newInformer)
		if _, err := first.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
			adds.Add(1)
		}}); err != nil {
			t.Fatal(err)
		}
		if synced, err := f.WaitForCacheSyncWithContext(ctx); len(synced) != 0 || err != nil {
			t.Errorf("before Start: %v, %v", synced, err)
		}
		f.StartWithContext(ctx)
		f.StartWithContext(ctx)
		if again := f.InformerFor("pods", newInformer); again != first || made.Load() != 1 {
			t.Errorf("a key has %d informers", made.Load())
		}
		late := f.InformerFor("late", newInformer)
		if synced := f.WaitForCacheSync(ctx.Done()); len(synced) != 1 || !synced["pods"] {
			t.Errorf("what was started: %v", synced)
		}
		f.Start(ctx.Done())
		if synced := f.WaitForCacheSync(ctx.Done()); len(synced) != 2 || !synced["late"] ||
			!late.HasSynced() {
			t.Errorf("after the second Start: %v", synced)
		}
		synctest.Wait()
		if adds.Load() != 1 {
			t.Errorf("%d adds of one object: it ran twice or never", adds.Load())
		}

		// Shutdown waits for running informers, whichever goroutine calls it.
		var down atomic.Int64
		for range 3 {
			go func() { f.Shutdown(); down.Add(1) }()
		}
		synctest.Wait()
		if down.Load() != 0 {
			t.Error("Shutdown did not wait")
		}
		cancel()
		synctest.Wait()
		if down.Load() != 3 || !first.IsStopped() || !late.IsStopped() {
			t.Errorf("%d of 3 Shutdowns returned", down.Load())
		}
		never := f.InformerFor("never", newInformer)
		f.StartWithContext(t.Context())
		synctest.Wait()
		if synced := f.WaitForCacheSync(t.Context().Done()); len(synced) != 2 || never.HasSynced() {
			t.Error("something started after Shutdown")
		}
		f.Shutdown()
	})
}

func TestFactoryTellsWhatDidNotSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := synthetic.NewSource(nil,
			synthetic.SourceOptions{Example: &corev1.Pod{}, Faults: []synthetic.Fault{
				{Kind: synthetic.FaultListError, EveryEvents: 1},
				{Kind: synthetic.FaultWatchRefused, EveryEvents: 1}}})
		defer source.Stop()
		reason := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, reason)
		defer cancel()
		var f informer.SharedInformerFactory[string]
		f.InformerFor("pods", func() cache.SharedIndexInformer {
			return informer.NewSharedIndexInformer(source, &corev1.Pod{}, 0, cache.Indexers{})
		})
		f.StartWithContext(ctx)
		synced, err := f.WaitForCacheSyncWithContext(ctx)
		if ok, known := synced["pods"]; ok || !known || !errors.Is(err, reason) {
			t.Errorf("%v, %v", synced, err)
		}
		f.Shutdown()
	})
}

// A race for the race detector: everything at once.
func TestFactoryTakesCallsAtOnce(t *testing.T) {
	t.Parallel()
	source := newSource(t, 10)
	var f informer.SharedInformerFactory[int]
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			for k := range 5 {
				i := f.InformerFor((i+k)%6, func() cache.SharedIndexInformer {
					return informer.NewSharedIndexInformer(source, &corev1.Pod{}, 0, cache.Indexers{})
				})
				f.StartWithContext(ctx)
				f.WaitForCacheSync(ctx.Done())
				if n := len(i.GetStore().List()); n != 10 {
					t.Errorf("a synced store holds %d of 10", n)
				}
			}
		})
	}
	callers.Wait()
	callers.Go(f.Shutdown)
	callers.Go(func() { f.StartWithContext(ctx) })
	cancel()
	callers.Wait()
}
