package informer

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// SharedInformerFactory keeps one informer for each key, starts them together and waits
// for them: what client-go's factories have in common. The factories of packages
// informer/informers (a clientset's types), informer/dynamicinformer and
// informer/metadatainformer (resources by group, version and resource) are built on it,
// with client-go's interfaces. Use it by itself for informers with sources of your own. The
// zero value is an empty factory.
//
// Methods may be called by any number of goroutines at once.
type SharedInformerFactory[K comparable] struct {
	running sync.WaitGroup

	mu struct {
		sync.Mutex
		informers map[K]cache.SharedIndexInformer
		started   map[K]bool
		// shuttingDown keeps informers from starting, so that running only falls.
		shuttingDown bool
	}
}

// InformerFor returns the informer of that key. The first call for a key makes
// it with newInformer, which must not call the factory. Handlers can be added at
// once; the informer runs from the next Start on.
func (f *SharedInformerFactory[K]) InformerFor(key K,
	newInformer func() cache.SharedIndexInformer) cache.SharedIndexInformer {
	f.mu.Lock()
	defer f.mu.Unlock()
	if informer, ok := f.mu.informers[key]; ok {
		return informer
	}
	informer := newInformer()
	if f.mu.informers == nil {
		f.mu.informers, f.mu.started = map[K]cache.SharedIndexInformer{}, map[K]bool{}
	}
	f.mu.informers[key] = informer
	return informer
}

// Start is StartWithContext with a channel in place of the context.
func (f *SharedInformerFactory[K]) Start(stopCh <-chan struct{}) {
	f.StartWithContext(wait.ContextForChannel(stopCh))
}

// StartWithContext runs every informer that was made and not yet started, each in a
// goroutine of its own until ctx ends, and returns at once. Call it again when InformerFor
// has made more informers. After Shutdown it does nothing.
func (f *SharedInformerFactory[K]) StartWithContext(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.shuttingDown {
		return
	}
	for key, informer := range f.mu.informers {
		if !f.mu.started[key] {
			f.mu.started[key] = true
			f.running.Go(func() { informer.RunWithContext(ctx) })
		}
	}
}

// Shutdown keeps further informers from starting and waits until every informer has ended,
// its handlers included. It does not end them: the caller must end the contexts or channels
// of their starts, before or meanwhile. It may be called more than once, also concurrently.
func (f *SharedInformerFactory[K]) Shutdown() {
	f.mu.Lock()
	f.mu.shuttingDown = true
	f.mu.Unlock()
	f.running.Wait()
}

// WaitForCacheSync is WaitForCacheSyncWithContext with a channel in place of the
// context, and without its cause.
func (f *SharedInformerFactory[K]) WaitForCacheSync(stopCh <-chan struct{}) map[K]bool {
	synced, _ := f.WaitForCacheSyncWithContext(wait.ContextForChannel(stopCh))
	return synced
}

// WaitForCacheSyncWithContext waits until the store of every started informer holds its
// source's first list, or until ctx ends. It returns which stores do and, if not all, the
// cause of the context's end. Handlers may not have been told by then: see HasSynced of
// their registrations.
func (f *SharedInformerFactory[K]) WaitForCacheSyncWithContext(ctx context.Context) (map[K]bool,
	error) {
	started := f.startedInformers()
	checks := make([]cache.DoneChecker, 0, len(started))
	for _, informer := range started {
		checks = append(checks, informer.HasSyncedChecker())
	}
	cache.WaitFor(ctx, "", checks...)
	var cause error
	synced := make(map[K]bool, len(started))
	for key, informer := range started {
		if synced[key] = informer.HasSynced(); !synced[key] {
			cause = context.Cause(ctx)
		}
	}
	return synced, cause
}

func (f *SharedInformerFactory[K]) startedInformers() map[K]cache.SharedIndexInformer {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make(map[K]cache.SharedIndexInformer, len(f.mu.started))
	for key := range f.mu.started {
		out[key] = f.mu.informers[key]
	}
	return out
}
