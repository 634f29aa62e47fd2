package informertest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/load/synthetic"
)

// gate is the connection between an informer and its source. It can be cut and held. It can
// also make the source behave like another server that the API allows.
type gate struct {
	setup
	source  *synthetic.Source
	problem func(clause, format string, args ...any)
	over    <-chan struct{} // closed when the world ends

	mu struct {
		sync.Mutex
		down     error         // the answer to every request while the connection is cut
		deaf     error         // the answer to watches while lists still work
		brief    bool          // whether watches end as soon as they have begun
		hold     chan struct{} // requests wait until it is closed; nil lets them pass
		watches  []context.CancelFunc
		open     int // watches that have not ended
		requests []time.Time
		refused  refusals
		atOnce   int                // requests since the time last moved
		hot      bool               // there were more than mostAtOnce at some instant
		stale    *metainternal.List // the answer to a list of any version; nil asks the source
		torn     []int              // the numbers of events after which the next streaming lists end
		between  func()             // runs before the next page that is not a first page
	}
}

// refusals are the numbers of requests that were answered with the error of cut. A streaming
// list is a watch here.
type refusals struct{ lists, watches int }

var (
	_ cache.ListerWatcher            = (*gate)(nil)
	_ cache.ListerWatcherWithContext = (*gate)(nil)
)

// IsWatchListSemanticsUnSupported tells client-go's Reflector whether to avoid streaming
// lists.
func (g *gate) IsWatchListSemanticsUnSupported() bool { return g.listing }

// cut ends every watch, and answers every request with err until mend is called.
func (g *gate) cut(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.down = err
	g.endWatchesLocked()
}

// refuseWatches ends every watch, and answers every further watch with err until mend is
// called. If err is nil, further watches end without an error as soon as they have begun.
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

// hold makes requests wait until the returned function is called.
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

// lag answers lists of any version ("0") from a replica that stays at the present state
// until catchUp is called.
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

// tear makes one more streaming list end after the given number of events.
func (g *gate) tear(events int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.torn = append(g.mu.torn, events)
}

// between runs f once, when a further page of a list is asked for.
func (g *gate) between(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.between = f
}

// requests returns the times of the requests so far.
func (g *gate) requests() []time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.mu.requests)
}

// forgetRequests drops the recorded requests.
func (g *gate) forgetRequests() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.requests = nil
}

// refused returns the numbers of requests so far that were answered with the error of cut.
func (g *gate) refused() refusals {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mu.refused
}

// refuse counts a request that is answered with the error of cut, unless its caller has
// given it up.
func (g *gate) refuse(ctx context.Context, n *int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if ctx.Err() == nil {
		*n++
	}
}

// openWatches returns the number of watches that were neither stopped nor ended.
func (g *gate) openWatches() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mu.open
}

// mostAtOnce is the most requests at one instant. An informer that asks again and again
// without a pause stops the time of its bubble, which would then run for ever.
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
		g.refuse(ctx, &g.mu.refused.lists)
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
		// A server that answers from its watch cache does not use pages.
		return &metainternal.List{ListMeta: stale.ListMeta, Items: slices.Clone(stale.Items)}, nil
	}
	if g.page > 0 && o.Limit > g.page {
		o.Limit = g.page // a server may return fewer objects than the limit
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

func (g *gate) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface,
	error) {
	if err := g.pass(ctx); err != nil {
		g.refuse(ctx, &g.mu.refused.watches)
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
	if g.mu.down != nil { // the connection was cut meanwhile
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

// line is a watch that passes through the gate.
type line struct {
	gate   *gate
	source watch.Interface
	cancel context.CancelFunc
	most   int // number of events after which it ends; -1 for no end

	result  chan watch.Event
	once    sync.Once
	stopped chan struct{}
}

func (l *line) ResultChan() <-chan watch.Event { return l.result }

func (l *line) Stop() { l.once.Do(func() { close(l.stopped) }) }

// run forwards the events of the source. With intrude, it sends after each object one of
// another type with the same name and version. With linger, the watch stays open after an
// error event, until it is stopped.
func (l *line) run(ctx context.Context) {
	defer func() {
		l.gate.mu.Lock()
		defer l.gate.mu.Unlock()
		l.gate.mu.open--
	}()
	defer l.cancel()
	defer close(l.result)
	for n := 0; n != l.most; n++ {
		var e watch.Event
		var ok bool
		select {
		case e, ok = <-l.source.ResultChan():
		case <-l.stopped:
		}
		if !ok || !l.send(ctx, e) {
			return
		}
		if p, ok := e.Object.(*corev1.Pod); ok && l.gate.intrude && e.Type != watch.Bookmark {
			stranger := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name,
					ResourceVersion: p.ResourceVersion}}
			if !l.send(ctx, watch.Event{Type: watch.Modified, Object: stranger}) {
				return
			}
		}
		if e.Type == watch.Error && l.gate.linger {
			select {
			case <-l.stopped:
			case <-ctx.Done():
			case <-l.gate.over:
			}
			return
		}
	}
}

// send sends e and reports whether the watch goes on.
func (l *line) send(ctx context.Context, e watch.Event) bool {
	select {
	case l.result <- e:
		return true
	case <-l.stopped:
	case <-ctx.Done():
	}
	return false
}
