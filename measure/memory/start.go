package memory

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
)

// heap reads the heap of this process, without allocating.
type heap struct{ samples [3]metrics.Sample }

func newHeap() *heap {
	return &heap{[3]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"}, {Name: "/gc/heap/live:bytes"}}}
}

// read returns the bytes of objects, garbage included; of the spans that they lie in; and what the
// last collection found alive.
func (h *heap) read() (objects, inuse, live int64) {
	metrics.Read(h.samples[:])
	objects = int64(h.samples[0].Value.Uint64())
	return objects, objects + int64(h.samples[1].Value.Uint64()), int64(h.samples[2].Value.Uint64())
}

// settled collects garbage, and reads the heap. The second collection frees what the first one
// found through finalizers, and in sync.Pools.
func (h *heap) settled() (objects, inuse, live int64) {
	runtime.GC()
	runtime.GC()
	return h.read()
}

// alone is held while the heap is measured, which two cannot do at once.
var alone sync.Mutex

// start does what an informer does at its start: it decodes lists, of n objects together, and keeps
// what keeper returns for each object. It measures what stays, and the most that the heap holds on
// the way, both above what it held before. Each list is copied first, as a client has read it.
// phase, up to 1, is the share of its heap at which the first collection begins.
func start(f *form, bodies [][]byte, n int, phase float64,
	keeper func() func(apiruntime.Object) any) (stays, peak int64, err error) {
	alone.Lock()
	defer alone.Unlock()
	kept := make([]any, 0, n)
	h := newHeap()
	objects, inuse, live := h.settled()
	end := observe(inuse, live, phase)
	keep := keeper()
	for _, b := range bodies {
		var list apiruntime.Object
		if list, err = f.decode(bytes.Clone(b)); err != nil {
			break
		}
		var items []apiruntime.Object
		if items, err = meta.ExtractListWithAlloc(list); err != nil {
			break
		}
		for i, obj := range items {
			kept = append(kept, keep(obj))
			items[i] = nil
		}
	}
	peak = end()
	after, _, _ := h.settled()
	runtime.KeepAlive(kept)
	runtime.KeepAlive(keep)
	runtime.KeepAlive(bodies)
	return max(0, after-objects), max(peak, after-objects), err
}

// least is the heap below which Go does not collect, with GOGC=100.
const least = 4 << 20

// observe reads the heap each millisecond until end is called, which returns the most in use above
// inuse. It sets GOGC so that garbage has the share that it has at GOGC=100 in a
// process that holds nothing else: live bytes of this one are no part of it.
func observe(inuse, live int64, phase float64) (end func() (peak int64)) {
	percent := func(now int64) int {
		own := max(least, now-live)
		return int(max(1, 100*own/max(1, now)))
	}
	before := debug.SetGCPercent(max(1, int(phase*float64(percent(live)))))
	done := make(chan struct{})
	var peak int64
	var ended sync.WaitGroup
	h, marked := newHeap(), live
	look := func() {
		_, used, found := h.read()
		peak = max(peak, used-inuse)
		if found != marked {
			marked = found
			debug.SetGCPercent(percent(found))
		}
	}
	ended.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				look()
			}
		}
	})
	return func() int64 {
		close(done)
		ended.Wait()
		look()
		debug.SetGCPercent(before)
		return peak
	}
}
