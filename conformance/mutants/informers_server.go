package mutants

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
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
