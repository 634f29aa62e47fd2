package informertest

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/load"
)

// gate is the line between an informer and its source. It can be cut, and held.
type gate struct {
	source  *load.Source
	listing bool // the client knows no streaming lists
	// intrude makes each watch send an object of another type after every event.
	intrude bool

	mu struct {
		sync.Mutex
		down     error         // what requests are answered while the line is cut
		hold     chan struct{} // requests wait until it is closed; nil lets them pass
		watches  []context.CancelFunc
		requests []time.Time
		lists    int
	}
}

var (
	_ cache.ListerWatcher            = (*gate)(nil)
	_ cache.ListerWatcherWithContext = (*gate)(nil)
)

// IsWatchListSemanticsUnSupported is what client-go's Reflector asks for.
func (g *gate) IsWatchListSemanticsUnSupported() bool { return g.listing }

// cut ends every watch, and answers every request with err until mend.
func (g *gate) cut(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.down = err
	for _, cancel := range g.mu.watches {
		cancel()
	}
	g.mu.watches = nil
}

func (g *gate) mend() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.down = nil
}

// hold lets requests wait until the function that it returns is called.
func (g *gate) hold() (release func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	held := make(chan struct{})
	g.mu.hold = held
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.mu.hold = nil
		close(held)
	})
}

// requests returns when each request came so far.
func (g *gate) requests() []time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]time.Time(nil), g.mu.requests...)
}

func (g *gate) pass(ctx context.Context) error {
	g.mu.Lock()
	g.mu.requests = append(g.mu.requests, time.Now())
	held := g.mu.hold
	g.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mu.down
}

func (g *gate) List(o metav1.ListOptions) (runtime.Object, error) {
	return g.ListWithContext(context.Background(), o)
}

func (g *gate) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return g.WatchWithContext(context.Background(), o)
}

func (g *gate) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if err := g.pass(ctx); err != nil {
		return nil, err
	}
	return g.source.ListWithContext(ctx, o)
}

func (g *gate) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if err := g.pass(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	w, err := g.source.WatchWithContext(ctx, o)
	if err != nil {
		cancel()
		return nil, err
	}
	g.mu.Lock()
	g.mu.watches = append(g.mu.watches, cancel)
	g.mu.Unlock()
	if g.intrude {
		return intruded(w), nil
	}
	return w, nil
}

// intruded sends what w sends, and after each object one of another type that has its
// name and version.
func intruded(w watch.Interface) watch.Interface {
	out := make(chan watch.Event)
	stopped := make(chan struct{})
	proxy := watch.NewProxyWatcher(out)
	go func() {
		<-proxy.StopChan()
		close(stopped)
		w.Stop()
	}()
	send := func(e watch.Event) bool {
		select {
		case out <- e:
			return true
		case <-stopped:
			return false
		}
	}
	go func() {
		defer proxy.Stop()
		defer close(out)
		for e := range w.ResultChan() {
			if !send(e) {
				return
			}
			if p, ok := e.Object.(*corev1.Pod); ok && e.Type != watch.Bookmark {
				stranger := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, ResourceVersion: p.ResourceVersion}}
				if !send(watch.Event{Type: watch.Modified, Object: stranger}) {
					return
				}
			}
		}
	}()
	return proxy
}
