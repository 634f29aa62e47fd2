package mutants

// client-go's informer with places to break it at: the handlers that it is given, the
// source that it lists and watches, and what it answers.

import (
	"context"
	"errors"
	"time"

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
