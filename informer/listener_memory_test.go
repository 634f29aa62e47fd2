package informer_test

import (
	"runtime"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer"
)

// An idle handler keeps 2 KB of the heap at most, whatever it was told before.
func TestIdleHandlersKeepLittle(t *testing.T) {
	const handlers, most = 1000, 2048
	synctest.Test(t, func(t *testing.T) {
		inf := informer.NewSharedIndexInformer(newSource(t, 500), &corev1.Pod{}, 0, nil)
		start(t, inf)
		synctest.Wait()
		used := func() int {
			runtime.GC()
			runtime.GC() // what pools hold for one more
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return int(m.HeapAlloc)
		}
		before := used()
		for range handlers {
			must[cache.ResourceEventHandlerRegistration](t)(
				inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {}}))
		}
		synctest.Wait()
		if each := (used() - before) / handlers; each > most {
			t.Errorf("an idle handler keeps %d bytes, want %d at most", each, most)
		}
	})
}
