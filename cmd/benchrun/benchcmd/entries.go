package benchcmd

import (
	"time"

	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
)

// Entry is what a program gives to Main: an entry of the catalog, made by the constructor of its
// component.
type Entry = catalog.Entry

// Option sets a field of an entry.
type Option = catalog.Option

// The options of an entry.
var (
	Description = catalog.Description
	Guarantees  = catalog.Guarantees
	Waive       = catalog.Waive
	Class       = catalog.Class
)

// Store is catalog.Store.
func Store[S contract.Store](name string, newStore func(contract.Indexers) S,
	opts ...Option) Entry {
	return catalog.Store(name, newStore, opts...)
}

// FIFO is catalog.FIFO.
func FIFO[F contract.FIFO](name string, newFIFO func(contract.FIFOConfig) F, opts ...Option) Entry {
	return catalog.FIFO(name, newFIFO, opts...)
}

// DelayHeap is catalog.DelayHeap.
func DelayHeap[H contract.DelayHeap[string]](name string, newHeap func() H, opts ...Option) Entry {
	return catalog.DelayHeap(name, newHeap, opts...)
}

// Queue is catalog.Queue.
func Queue[Q contract.DelayingQueue[string]](name string, newQueue func(clock.WithTicker) Q,
	opts ...Option) Entry {
	return catalog.Queue(name, newQueue, opts...)
}

// Limiter is catalog.Limiter.
func Limiter[L contract.RateLimiter[string]](name string, newLimiter func() L,
	opts ...Option) Entry {
	return catalog.Limiter(name, newLimiter, opts...)
}

// Informer is catalog.Informer.
func Informer[I cache.SharedIndexInformer](name string,
	newInformer func(cache.ListerWatcher, apiruntime.Object, time.Duration, contract.Indexers) I,
	opts ...Option) Entry {
	return catalog.Informer(name, newInformer, opts...)
}

// Keeper is catalog.Keeper.
func Keeper[K contract.ObjectKeeper](name string, newKeeper func() K, opts ...Option) Entry {
	return catalog.Keeper(name, newKeeper, opts...)
}
