package mutants

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// serverMutants are those whose mistake is in how the source is asked, and in what is
// made of its answers.
func serverMutants() []Mutant {
	return []Mutant{
		informerMutant("list at any version",
			"a list after the first takes any version that a server has at hand", "INFORMER-5 INFORMER-29",
			constructOver(func(s *source) {
				s.list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
					if o.Continue == "" {
						o.ResourceVersion, o.Limit = "0", 0
					}
					return s.ListerWatcherWithContext.ListWithContext(ctx, o)
				}
			})).real(inKubernetes, "59848"),
		informerMutant("list at the version that is known",
			"a list after the first asks for exactly the version that the informer knows", "INFORMER-33",
			constructOver(func(s *source) {
				s.list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
					if o.ResourceVersion != "" && o.ResourceVersion != "0" {
						o.ResourceVersionMatch = metav1.ResourceVersionMatchExact
					}
					return s.ListerWatcherWithContext.ListWithContext(ctx, o)
				}
			})),
		informerMutant("list in pages at the version that is known",
			"as client-go: a relist in pages asks for exactly the version that the informer knows",
			"INFORMER-33",
			cache.NewSharedIndexInformer).real(inKubernetes, "133810"),
		informerMutant("watch from now",
			"a watch that follows a list begins at the source's newest version, not at the list's",
			"INFORMER-1", watchFromNow),
		informerMutant("page kept", "when the token of a list expires, what its first pages held "+
			"stays in", "INFORMER-1",
			afterExpiry(keepPages)),
		informerMutant("version of the first page",
			"when the token of a list expires, the next one is given the version of the first", "INFORMER-5",
			afterExpiry(func(pages, again *internalversion.List) {
				again.ResourceVersion = pages.ResourceVersion
			})),
		informerMutant("torn stream", "a streaming list that ends before its bookmark counts as whole",
			"INFORMER-7 INFORMER-9 INFORMER-29", overWatches(tornStream)),
		informerMutant("bookmarks passed over", "bookmarks do not move the version on", "INFORMER-19",
			constructOver(func(s *source) {
				s.pass = func(_ int, e watch.Event) bool { return e.Type != watch.Bookmark }
			})),
		informerMutant("spec as it was", "an update that is watched leaves the spec as it was",
			"INFORMER-1", specAsItWas),
		informerMutant("watches without back-off",
			"a watch that is refused is tried again at once, many times", "INFORMER-27",
			constructOver(func(s *source) {
				s.watch = func(ctx context.Context, o metav1.ListOptions) (w watch.Interface, err error) {
					for range 20 {
						if w, err = s.ListerWatcherWithContext.WatchWithContext(ctx, o); err == nil || streams(o) {
							break
						}
					}
					return w, err
				}
			})),
		informerMutant("watch after watch", "a watch that ends at once is begun again at once",
			"INFORMER-27",
			constructOver(func(s *source) {
				s.watch = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
					return watchAfterWatch(ctx, o, func() (watch.Interface, error) {
						return s.ListerWatcherWithContext.WatchWithContext(ctx, o)
					})
				}
			})),
		informerMutant("watch after an error", "a watch is not stopped when an error event has come",
			"INFORMER-32",
			withoutEnd(leftOpen)).real(inKubernetes, "6488"),
		informerMutant("watch of the end", "the watch is not stopped when the informer is", "INFORMER-32",
			withoutEnd(func(ctx context.Context, _ metav1.ListOptions, w watch.Interface) watch.Interface {
				return through(func() (watch.Event, bool) {
					e, ok := <-w.ResultChan()
					return e, ok
				}, func() {
					if ctx.Err() == nil {
						w.Stop()
					}
				})
			})),
		informerMutant("resync left", "the goroutine of the resyncs does not end with its watch",
			"INFORMER-23",
			construct(func(i *informer) {
				i.run = func(ctx context.Context, run func(context.Context)) {
					go func() {
						for range time.Tick(time.Minute) {
							_ = i.HasSynced()
						}
					}()
					run(ctx)
				}
			})).real(inKubernetes, "35015"),
		informerMutant("waits for a watch",
			"a goroutine that waits until watches are answered again does not hear of the end",
			"INFORMER-23 INFORMER-29",
			constructOver(func(s *source) {
				answered := make(chan struct{}) // of the Reflector's goroutine
				s.watch = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
					w, err := s.ListerWatcherWithContext.WatchWithContext(ctx, o)
					switch {
					case err == nil:
						close(answered)
						answered = make(chan struct{})
					case !streams(o):
						go func(c <-chan struct{}) { <-c }(answered)
					}
					return w, err
				}
			})),
	}
}

// afterExpiry calls change with the pages of a list whose token expired and the list that
// was made in its place.
func afterExpiry(change func(pages, again *internalversion.List)) contract.NewInformer {
	return constructOver(func(s *source) {
		var pages *internalversion.List
		expired := false
		s.list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			obj, err := s.ListerWatcherWithContext.ListWithContext(ctx, o)
			list, ok := obj.(*internalversion.List)
			switch {
			case err != nil:
				expired = o.Continue != "" && apierrors.IsResourceExpired(err)
			case !ok:
			case o.Continue != "":
				pages.Items = append(pages.Items, list.Items...)
			case expired:
				expired = false
				change(pages, list)
			default:
				pages = list.DeepCopy()
			}
			return obj, err
		}
	})
}

// keepPages adds to a list what an earlier one had.
func keepPages(pages, again *internalversion.List) {
	has := map[string]bool{}
	for _, obj := range again.Items {
		has[keyOf(obj)] = true
	}
	for _, obj := range pages.Items {
		if !has[keyOf(obj)] {
			again.Items = append(again.Items, obj)
		}
	}
}

func keyOf(obj runtime.Object) string {
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

// overWatches makes client-go's informer, and lets change replace each watch.
func overWatches(change changeWatch) contract.NewInformer {
	return constructOver(func(s *source) {
		s.watch = func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := s.ListerWatcherWithContext.WatchWithContext(ctx, o)
			if err != nil {
				return nil, err
			}
			return change(ctx, o, w), nil
		}
	})
}

// withoutEnd is overWatches with watches that do not end with the context of the request.
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

// specAsItWas gives each update the spec that the store has.
func specAsItWas(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
	indexers contract.Indexers) cache.SharedIndexInformer {
	var i cache.SharedIndexInformer
	i = overWatches(func(_ context.Context, _ metav1.ListOptions, w watch.Interface) watch.Interface {
		return through(func() (watch.Event, bool) {
			e, ok := <-w.ResultChan()
			if p, isPod := e.Object.(*corev1.Pod); isPod && e.Type == watch.Modified {
				if old, exists, _ := i.GetStore().GetByKey(keyOf(p)); exists {
					changed := *p
					changed.Spec = old.(*corev1.Pod).Spec
					e.Object = &changed
				}
			}
			return e, ok
		}, w.Stop)
	})(lw, example, resync, indexers)
	return i
}

// watchAfterWatch begins a watch again that ended without an event.
func watchAfterWatch(ctx context.Context, o metav1.ListOptions,
	open func() (watch.Interface, error)) (watch.Interface, error) {
	w, err := open()
	if err != nil || streams(o) {
		return w, err
	}
	events := 0
	return through(func() (watch.Event, bool) {
		for {
			e, ok := <-w.ResultChan()
			if ok {
				events++
				return e, ok
			}
			if events > 0 || ctx.Err() != nil {
				return e, ok
			}
			if w, err = open(); err != nil {
				return e, false
			}
		}
	}, func() {}), nil
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
