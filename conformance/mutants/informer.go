package mutants

// client-go's informer with places to break it at: the handlers that it is given, the
// source that it lists and watches, and what it answers.

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// informer is client-go's, sound but for what its fields change.
type informer struct {
	cache.SharedIndexInformer
	// wrap changes each handler; running says that the informer has synced already.
	wrap func(h eventHandler, running bool) eventHandler
	// period changes the resync period that a handler asks for; nil is the informer's.
	period func(*time.Duration) *time.Duration
	// refused is called when the informer refuses a handler; nil returns the error.
	refused func() (cache.ResourceEventHandlerRegistration, error)

	synced       *answer // what HasSynced goes by; nil is client-go's
	handleSynced bool    // registrations have synced with the informer
	kept         bool    // removed handlers stay

	// These are methods of client-go's unless they are replaced.
	run          func(ctx context.Context)
	addIndexers  func(contract.Indexers) error
	setTransform func(cache.TransformFunc) error
	watchErrors  func(cache.WatchErrorHandlerWithContext) error
	stopped      func() bool
	store        cache.Store // what GetStore gives
}

// construct makes client-go's informer and lets break change it.
func construct(change func(*informer)) contract.NewInformer {
	return func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
		indexers contract.Indexers) cache.SharedIndexInformer {
		i := newInformer(cache.NewSharedIndexInformer(lw, example, resync, indexers))
		change(i)
		return i
	}
}

func newInformer(ok cache.SharedIndexInformer) *informer {
	return &informer{SharedIndexInformer: ok, run: ok.RunWithContext, addIndexers: ok.AddIndexers,
		setTransform: ok.SetTransform, watchErrors: ok.SetWatchErrorHandlerWithContext,
		stopped: ok.IsStopped, store: ok.GetStore()}
}

func (i *informer) AddEventHandler(h eventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(h, cache.HandlerOptions{})
}

func (i *informer) AddEventHandlerWithResyncPeriod(h eventHandler,
	d time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(h, cache.HandlerOptions{ResyncPeriod: &d})
}

func (i *informer) AddEventHandlerWithOptions(h eventHandler,
	o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	if i.wrap != nil {
		h = i.wrap(h, i.HasSynced())
	}
	if i.period != nil {
		o.ResyncPeriod = i.period(o.ResyncPeriod)
	}
	r, err := i.SharedIndexInformer.AddEventHandlerWithOptions(h, o)
	if err != nil && i.refused != nil {
		return i.refused()
	}
	if err == nil && i.handleSynced {
		r = registration{r, i}
	}
	return r, err
}

// registration has synced with its informer.
type registration struct {
	cache.ResourceEventHandlerRegistration
	informer cache.SharedIndexInformer
}

func (r registration) HasSynced() bool                     { return r.informer.HasSynced() }
func (r registration) HasSyncedChecker() cache.DoneChecker { return r.informer.HasSyncedChecker() }
func (r registration) ShutdownChan() <-chan struct{} {
	return r.ResourceEventHandlerRegistration.(interface {
		ShutdownChan() <-chan struct{}
	}).ShutdownChan()
}

func (i *informer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	if i.kept {
		return nil
	}
	if r, ok := handle.(registration); ok {
		handle = r.ResourceEventHandlerRegistration
	}
	return i.SharedIndexInformer.RemoveEventHandler(handle)
}

// answer is a cache.DoneChecker that somebody closes.
type answer struct{ done chan struct{} }

func (a *answer) Name() string          { return "mutant" }
func (a *answer) Done() <-chan struct{} { return a.done }

func (i *informer) HasSyncedChecker() cache.DoneChecker {
	if i.synced == nil {
		return i.SharedIndexInformer.HasSyncedChecker()
	}
	return i.synced
}

func (i *informer) HasSynced() bool { return cache.IsDone(i.HasSyncedChecker()) }

func (i *informer) Run(stop <-chan struct{}) { i.RunWithContext(wait.ContextForChannel(stop)) }

func (i *informer) RunWithContext(ctx context.Context)           { i.run(ctx) }
func (i *informer) AddIndexers(indexers contract.Indexers) error { return i.addIndexers(indexers) }
func (i *informer) SetTransform(f cache.TransformFunc) error     { return i.setTransform(f) }
func (i *informer) GetStore() cache.Store                        { return i.store }
func (i *informer) IsStopped() bool                              { return i.stopped() }

func (i *informer) SetWatchErrorHandlerWithContext(h cache.WatchErrorHandlerWithContext) error {
	return i.watchErrors(h)
}

// handler is what it wraps, but for the functions that are set.
type handler struct {
	eventHandler
	add    func(obj any, initial bool)
	update func(old, obj any)
	delete func(obj any)
}

type eventHandler = cache.ResourceEventHandler

func (h handler) OnAdd(obj any, initial bool) {
	if h.add == nil {
		h.add = h.eventHandler.OnAdd
	}
	h.add(obj, initial)
}

func (h handler) OnUpdate(old, obj any) {
	if h.update == nil {
		h.update = h.eventHandler.OnUpdate
	}
	h.update(old, obj)
}

func (h handler) OnDelete(obj any) {
	if h.delete == nil {
		h.delete = h.eventHandler.OnDelete
	}
	h.delete(obj)
}

// around makes a handler that calls h within call.
func around(h eventHandler, call func(f func())) handler {
	return handler{
		add:    func(obj any, initial bool) { call(func() { h.OnAdd(obj, initial) }) },
		update: func(old, obj any) { call(func() { h.OnUpdate(old, obj) }) },
		delete: func(obj any) { call(func() { h.OnDelete(obj) }) },
	}
}

// source is the source that an informer is given, but for the functions that are set.
type source struct {
	cache.ListerWatcherWithContext
	unsupported func() bool // whether streaming lists are unsupported
	list        func(context.Context, metav1.ListOptions) (runtime.Object, error)
	// watch replaces WatchWithContext, but for what pass does.
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
	// pass says of each event of a watch, of which n came before, whether it is let through.
	pass func(n int, e watch.Event) bool
}

// constructOver makes client-go's informer over a source that change changes.
func constructOver(change func(*source)) contract.NewInformer {
	return func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
		indexers contract.Indexers) cache.SharedIndexInformer {
		s := &source{ListerWatcherWithContext: cache.ToListerWatcherWithContext(lw),
			unsupported: func() bool { return false }}
		if u, ok := lw.(interface{ IsWatchListSemanticsUnSupported() bool }); ok {
			s.unsupported = u.IsWatchListSemanticsUnSupported
		}
		change(s)
		return cache.NewSharedIndexInformer(s, example, resync, indexers)
	}
}

var errNoContext = errors.New("the mutants' source wants a context")

func (s *source) List(metav1.ListOptions) (runtime.Object, error)   { return nil, errNoContext }
func (s *source) Watch(metav1.ListOptions) (watch.Interface, error) { return nil, errNoContext }

func (s *source) IsWatchListSemanticsUnSupported() bool { return s.unsupported() }

func (s *source) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object,
	error) {
	if s.list != nil {
		return s.list(ctx, o)
	}
	return s.ListerWatcherWithContext.ListWithContext(ctx, o)
}

func (s *source) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface,
	error) {
	open := s.ListerWatcherWithContext.WatchWithContext
	if s.watch != nil {
		open = s.watch
	}
	w, err := open(ctx, o)
	if err != nil || s.pass == nil || streams(o) {
		return w, err
	}
	n := -1
	return through(func() (watch.Event, bool) {
		for {
			e, ok := <-w.ResultChan()
			if n++; !ok || s.pass(n, e) {
				return e, ok
			}
		}
	}, w.Stop), nil
}

// streams reports whether a watch is to begin with a streaming list.
func streams(o metav1.ListOptions) bool {
	return o.SendInitialEvents != nil && *o.SendInitialEvents
}

// informerMutant makes a mutant of an informer.
func informerMutant(name, mistake, clauses string, newInformer contract.NewInformer) Mutant {
	m := mutant(contract.ComponentInformer, name, mistake, clauses)
	m.NewInformer = newInformer
	return m
}

// answering makes a mutant of what change makes of client-go's informer.
func answering(name, mistake, clauses string, change func(*informer)) Mutant {
	return informerMutant(name, mistake, clauses, construct(change))
}

// asking makes a mutant of client-go's informer over a source that change changes.
func asking(name, mistake, clauses string, change func(*source)) Mutant {
	return informerMutant(name, mistake, clauses, constructOver(change))
}

// telling makes a mutant of client-go's informer over handlers that wrap changes.
func telling(name, mistake, clauses string, wrap func(h eventHandler) eventHandler) Mutant {
	return informerMutant(name, mistake, clauses, wrapped(wrap))
}

// wrapped makes client-go's informer over handlers that wrap changes.
func wrapped(wrap func(h eventHandler) eventHandler) contract.NewInformer {
	return construct(func(i *informer) {
		i.wrap = func(h eventHandler, _ bool) eventHandler { return wrap(h) }
	})
}

// serverMutants are those whose mistake is in how the source is asked, and in what is
// made of its answers.
func serverMutants() []Mutant {
	return []Mutant{
		asking("list at any version",
			"a list after the first takes any version that a server has at hand", "INFORMER-5 INFORMER-29",
			func(s *source) {
				s.list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
					if o.Continue == "" {
						o.ResourceVersion, o.Limit = "0", 0
					}
					return s.ListerWatcherWithContext.ListWithContext(ctx, o)
				}
			}).real(inKubernetes, "59848"),
		informerMutant("list in pages at the version that is known",
			"as client-go: a relist in pages asks for exactly the version that the informer knows",
			"INFORMER-33", cache.NewSharedIndexInformer).real(inKubernetes, "133810"),
		informerMutant("watch from now",
			"a watch that follows a list begins at the source's newest version, not at the list's",
			"INFORMER-1", watchFromNow),
		informerMutant("torn stream", "a streaming list that ends before its bookmark counts as whole",
			"INFORMER-7 INFORMER-9 INFORMER-29", withoutEnd(tornStream)),
		asking("bookmarks passed over", "bookmarks do not move the version on", "INFORMER-19",
			func(s *source) {
				s.pass = func(_ int, e watch.Event) bool { return e.Type != watch.Bookmark }
			}),
		informerMutant("watch after an error", "a watch is not stopped when an error event has come",
			"INFORMER-32", withoutEnd(leftOpen)).real(inKubernetes, "6488"),
		answering("resync left", "the goroutine of the resyncs does not end with its watch",
			"INFORMER-23", func(i *informer) {
				i.run = func(ctx context.Context) {
					go func() {
						for range time.Tick(time.Minute) {
							_ = i.HasSynced()
						}
					}()
					i.SharedIndexInformer.RunWithContext(ctx)
				}
			}).real(inKubernetes, "35015"),
	}
}

func keyOf(obj any) string {
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		return ""
	}
	return key
}

// watchFromNow asks for the newest version before the watch that follows a list.
func watchFromNow(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
	indexers contract.Indexers) cache.SharedIndexInformer {
	return constructOver(func(s *source) {
		listed := false
		list := s.ListerWatcherWithContext.ListWithContext
		s.list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			obj, err := list(ctx, o)
			listed = listed || err == nil
			return obj, err
		}
		s.watch = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if listed && !streams(o) {
				listed = false
				if now, err := list(ctx, metav1.ListOptions{}); err == nil {
					o.ResourceVersion = now.(*internalversion.List).ResourceVersion
				}
			}
			return s.ListerWatcherWithContext.WatchWithContext(ctx, o)
		}
	})(lw, example, resync, indexers)
}

type changeWatch func(ctx context.Context, o metav1.ListOptions, w watch.Interface) watch.Interface

// withoutEnd makes client-go's informer, and lets change replace each watch. None ends with the
// context of its request.
func withoutEnd(change changeWatch) contract.NewInformer {
	return constructOver(func(s *source) {
		s.watch = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			own, cancel := context.WithCancel(context.WithoutCancel(ctx))
			opened := context.AfterFunc(ctx, cancel)
			w, err := s.ListerWatcherWithContext.WatchWithContext(own, o)
			if opened(); err != nil {
				cancel()
				return nil, err
			}
			return change(ctx, o, w), nil
		}
	})
}

// through is a watch that sends what next returns until that says that it has ended.
func through(next func() (watch.Event, bool), stop func()) watch.Interface {
	out := make(chan watch.Event)
	t := &passed{out: out, stopped: make(chan struct{}), stop: stop}
	go func() {
		defer close(out)
		for {
			e, ok := next()
			if !ok {
				return
			}
			select {
			case out <- e:
			case <-t.stopped:
				return
			}
		}
	}()
	return t
}

type passed struct {
	out     <-chan watch.Event
	once    sync.Once
	stopped chan struct{}
	stop    func()
}

func (p *passed) ResultChan() <-chan watch.Event { return p.out }

func (p *passed) Stop() {
	p.once.Do(func() {
		close(p.stopped)
		p.stop()
	})
}

// tornStream ends a streaming list that has no end.
func tornStream(_ context.Context, o metav1.ListOptions, w watch.Interface) watch.Interface {
	if !streams(o) {
		return w
	}
	newest, over, ended := 1, false, false
	return through(func() (watch.Event, bool) {
		e, ok := <-w.ResultChan()
		switch {
		case ok:
			newest = max(newest, versionOf(e.Object))
			over = over || e.Type == watch.Bookmark
		case !over && !ended:
			ended = true
			end := &corev1.Pod{}
			end.ResourceVersion = strconv.Itoa(newest)
			end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
			return watch.Event{Type: watch.Bookmark, Object: end}, true
		}
		return e, ok
	}, w.Stop)
}

// leftOpen is not stopped once an error event has come.
func leftOpen(_ context.Context, _ metav1.ListOptions, w watch.Interface) watch.Interface {
	var failed atomic.Bool
	return through(func() (watch.Event, bool) {
		e, ok := <-w.ResultChan()
		if ok && e.Type == watch.Error {
			failed.Store(true)
		}
		return e, ok
	}, func() {
		if !failed.Load() {
			w.Stop()
		}
	})
}
