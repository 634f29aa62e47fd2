package informertest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/load"
)

// gate is the line between an informer and its source. It can be cut, and held, and it
// can make of the source another server that the API allows.
type gate struct {
	setup
	source  *load.Source
	problem func(clause, format string, args ...any)
	over    <-chan struct{} // closed when the world ends

	mu struct {
		sync.Mutex
		down     error         // what requests are answered while the line is cut
		deaf     error         // what watches are answered, while lists are
		brief    bool          // watches end as soon as they have begun
		hold     chan struct{} // requests wait until it is closed; nil lets them pass
		watches  []context.CancelFunc
		open     int // watches that have not ended
		requests []time.Time
		refused  int                // lists that were answered with down
		atOnce   int                // requests since the time last moved
		hot      bool               // there were too many once
		stale    *metainternal.List // what a list of any version is answered
		torn     []int              // after how many events the next streaming lists end
		between  func()             // runs before the next page but the first
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
	g.endWatchesLocked()
}

// refuseWatches ends every watch, and answers every further one with err until mend;
// with nil they end without a word as soon as they have begun.
func (g *gate) refuseWatches(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.deaf, g.mu.brief = err, err == nil
	g.endWatchesLocked()
}

func (g *gate) endWatchesLocked() {
	for _, cancel := range g.mu.watches {
		cancel()
	}
	g.mu.watches = nil
}

func (g *gate) mend() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.down, g.mu.deaf, g.mu.brief = nil, nil, false
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

// lag lets who asks for any version ("0") come to a replica that stands at the present
// state until catchUp.
func (g *gate) lag() {
	list := &metainternal.List{}
	for version := ""; version != g.source.ResourceVersion(); { // nobody wrote meanwhile
		version = g.source.ResourceVersion()
		objects := g.source.Snapshot()
		list.ResourceVersion, list.Items = version, nil
		for _, key := range slices.Sorted(maps.Keys(objects)) {
			list.Items = append(list.Items, objects[key])
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.stale = list
}

func (g *gate) catchUp() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.stale = nil
}

// tear ends one more streaming list after the given number of events.
func (g *gate) tear(events int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.torn = append(g.mu.torn, events)
}

// between lets f run when a further page of a list is asked for, once.
func (g *gate) between(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.between = f
}

// requests returns when each request came so far.
func (g *gate) requests() []time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.mu.requests)
}

// forgetRequests begins to count anew.
func (g *gate) forgetRequests() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.requests = nil
}

// refusedLists is how many lists were answered that the line is cut.
func (g *gate) refusedLists() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mu.refused
}

// openWatches is how many watches have neither been stopped nor ended.
func (g *gate) openWatches() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mu.open
}

// mostAtOnce is how many requests may come at one instant. Who asks again and again
// without a pause keeps the time of its bubble from moving, so that it would run for ever.
const mostAtOnce = 1000

func (g *gate) pass(ctx context.Context) error {
	g.mu.Lock()
	now := time.Now()
	if n := len(g.mu.requests); n > 0 && g.mu.requests[n-1].Equal(now) {
		g.mu.atOnce++
	} else {
		g.mu.atOnce = 1
	}
	g.mu.requests = append(g.mu.requests, now)
	g.mu.hot = g.mu.hot || g.mu.atOnce > mostAtOnce
	hot, held := g.mu.hot && g.mu.atOnce > 1, g.mu.hold
	g.mu.Unlock()
	if hot {
		g.problem("INFORMER-27", "%d requests came without a pause", mostAtOnce)
		pause := time.NewTimer(time.Second)
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
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
		g.mu.Lock()
		defer g.mu.Unlock()
		if ctx.Err() == nil {
			g.mu.refused++
		}
		return nil, err
	}
	g.mu.Lock()
	stale := g.mu.stale
	var before func()
	if o.Continue != "" {
		before, g.mu.between = g.mu.between, nil
	}
	g.mu.Unlock()
	if before != nil {
		before()
	}
	if stale != nil && o.ResourceVersion == "0" && o.Continue == "" {
		// From its memory a server answers without pages.
		return &metainternal.List{ListMeta: stale.ListMeta, Items: slices.Clone(stale.Items)}, nil
	}
	if g.page > 0 && o.Limit > g.page {
		o.Limit = g.page // a server may give less than it is asked for
	}
	o.FieldSelector = g.fieldSelector()
	return g.source.ListWithContext(ctx, o)
}

func (g *gate) fieldSelector() string {
	if g.namespace == "" {
		return ""
	}
	return "metadata.namespace=" + g.namespace
}

func (g *gate) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if err := g.pass(ctx); err != nil {
		return nil, err
	}
	l, err := g.newLine(o.SendInitialEvents != nil && *o.SendInitialEvents)
	if err != nil {
		return nil, err
	}
	ctx, l.cancel = context.WithCancel(ctx)
	o.FieldSelector = g.fieldSelector()
	if l.source, err = g.source.WatchWithContext(ctx, o); err != nil {
		l.cancel()
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mu.down != nil { // it was cut meanwhile
		l.cancel()
	}
	g.mu.watches = append(g.mu.watches, l.cancel)
	g.mu.open++
	go l.run(ctx)
	return l, nil
}

func (g *gate) newLine(streaming bool) (*line, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mu.deaf != nil {
		return nil, g.mu.deaf
	}
	l := &line{gate: g, most: -1, result: make(chan watch.Event), stopped: make(chan struct{})}
	if streaming && len(g.mu.torn) > 0 {
		l.most, g.mu.torn = g.mu.torn[0], g.mu.torn[1:]
	}
	if g.mu.brief {
		l.most = 0
	}
	return l, nil
}
