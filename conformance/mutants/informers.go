package mutants

import (
	"context"
	"errors"
	"maps"
	goruntime "runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// Informers returns the broken informers: client-go's, with one mistake each.
func Informers() []Mutant { return slices.Concat(handlerMutants(), lifeMutants(), serverMutants()) }

// handlerMutants are those whose mistake is in what the store or the handlers get.
func handlerMutants() []Mutant {
	return []Mutant{
		asking("first event lost", "the first event of each watch is skipped",
			"INFORMER-1 INFORMER-29",
			func(s *source) { s.pass = func(n int, _ watch.Event) bool { return n > 0 } }),
		informerMutant("one index is lost", "of several indexers one is used", "INFORMER-2",
			onlyOneIndexer),
		telling("add after a gap",
			"an update that skips versions, as after a list, comes as an add", "INFORMER-3",
			func(h eventHandler) eventHandler {
				return handler{eventHandler: h, update: func(old, obj any) {
					if versionOf(obj) > versionOf(old)+1 {
						h.OnAdd(obj, false)
						return
					}
					h.OnUpdate(old, obj)
				}}
			}),
		telling("last update lost",
			"updates within 10 ms of the one before are dropped, the last of them too", "INFORMER-4",
			func(h eventHandler) eventHandler {
				var last time.Time
				return handler{eventHandler: h, update: func(old, obj any) {
					if time.Since(last) >= 10*time.Millisecond {
						last = time.Now()
						h.OnUpdate(old, obj)
					}
				}}
			}),
		telling("old is new", "OnUpdate is given the new object as the old one", "INFORMER-5",
			func(h eventHandler) eventHandler {
				return handler{eventHandler: h, update: func(_, obj any) { h.OnUpdate(obj, obj) }}
			}),
		telling("all deletions tombstones",
			"OnDelete is given a tombstone for deletions that were watched", "INFORMER-6",
			func(h eventHandler) eventHandler {
				return handler{eventHandler: h, delete: func(obj any) {
					if key, err := cache.MetaNamespaceKeyFunc(obj); err == nil {
						obj = cache.DeletedFinalStateUnknown{Key: key, Obj: obj}
					}
					h.OnDelete(obj)
				}}
			}),
		telling("unknown deletion untold", "a deletion of what the store does not hold is told to nobody",
			"INFORMER-37", func(h eventHandler) eventHandler {
				var known sync.Map
				return handler{eventHandler: h, add: func(obj any, initial bool) {
					if key, err := cache.MetaNamespaceKeyFunc(obj); err == nil {
						known.Store(key, true)
					}
					h.OnAdd(obj, initial)
				}, delete: func(obj any) {
					key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
					if _, told := known.LoadAndDelete(key); err == nil && !told {
						return
					}
					h.OnDelete(obj)
				}}
			}),
		telling("tombstone as object",
			"a deletion that was missed comes as if it had been watched", "INFORMER-7",
			func(h eventHandler) eventHandler {
				return handler{eventHandler: h, delete: func(obj any) {
					if tomb, ok := obj.(cache.DeletedFinalStateUnknown); ok {
						obj = tomb.Obj
					}
					h.OnDelete(obj)
				}}
			}),
		telling("missed deletion untold", "a deletion that only a list shows is told to nobody",
			"INFORMER-7 INFORMER-4 INFORMER-29", func(h eventHandler) eventHandler {
				return handler{eventHandler: h, delete: func(obj any) {
					if _, ok := obj.(cache.DeletedFinalStateUnknown); !ok {
						h.OnDelete(obj)
					}
				}}
			}),
		telling("never initial", "OnAdd is never told isInInitialList", "INFORMER-8",
			func(h eventHandler) eventHandler {
				return handler{eventHandler: h, add: func(obj any, _ bool) { h.OnAdd(obj, false) }}
			}),
		answering("added meanwhile",
			"what is added to the store while a handler is being added is told to all others", "INFORMER-13",
			func(i *informer) {
				i.wrap = func(h eventHandler, running bool) eventHandler {
					if !running {
						return h
					}
					seen := map[string]bool{}
					for _, key := range i.SharedIndexInformer.GetStore().ListKeys() {
						seen[key] = true
					}
					goruntime.Gosched()
					return handler{eventHandler: h, add: func(obj any, initial bool) {
						if key, err := cache.MetaNamespaceKeyFunc(obj); err != nil || !initial || seen[key] {
							h.OnAdd(obj, initial)
						}
					}}
				}
			}).real("https://github.com/ovn-kubernetes/ovn-kubernetes/issues/", "1043"),
		telling("panic ends handler", "a handler that panicked is not called again", "INFORMER-17",
			func(h eventHandler) eventHandler {
				dead := false
				return around(h, func(f func()) {
					if dead {
						return
					}
					dead = true
					f()
					dead = false
				})
			}),
		answering("one at a time",
			"handlers are called one after the other, so that one which does not return holds all up",
			"INFORMER-18", func(i *informer) {
				turn := make(chan struct{}, 1)
				i.wrap = func(h eventHandler, _ bool) eventHandler {
					return around(h, func(f func()) {
						turn <- struct{}{}
						defer func() { <-turn }()
						f()
					})
				}
			}),
		telling("goroutine per call", "each call of a handler is made by a goroutine of its own",
			"INFORMER-26",
			func(h eventHandler) eventHandler { return around(h, func(f func()) { go f() }) }),
		informerMutant("type unchecked", "watch events of any type are taken in", "INFORMER-28",
			func(lw cache.ListerWatcher, _ runtime.Object, resync time.Duration,
				indexers contract.Indexers) cache.SharedIndexInformer {
				return cache.NewSharedIndexInformer(lw, nil, resync, indexers)
			}),
		answering("store read late",
			"readers are given a copy of the store that is renewed once a second", "INFORMER-22",
			func(i *informer) { i.store = &lateStore{Store: i.SharedIndexInformer.GetStore()} }),
		answering("transform forgotten", "SetTransform takes the transform and forgets it",
			"INFORMER-16",
			func(i *informer) { i.setTransform = func(cache.TransformFunc) error { return nil } }),
		informerMutant("transformed twice",
			"as client-go: objects of a streaming list are transformed once more",
			"INFORMER-31", cache.NewSharedIndexInformer),
	}
}

func versionOf(obj any) int {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return 0
	}
	v := 0
	for _, digit := range p.ResourceVersion {
		v = 10*v + int(digit-'0')
	}
	return v
}

// onlyOneIndexer gives client-go's informer the last of the indexers by name.
func onlyOneIndexer(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
	indexers contract.Indexers) cache.SharedIndexInformer {
	if len(indexers) > 1 {
		name := slices.Max(slices.Collect(maps.Keys(indexers)))
		indexers = contract.Indexers{name: indexers[name]}
	}
	return cache.NewSharedIndexInformer(lw, example, resync, indexers)
}

// lateStore answers GetByKey from a copy.
type lateStore struct {
	cache.Store
	mu    sync.Mutex
	at    time.Time
	items map[string]any
}

func (s *lateStore) GetByKey(key string) (item any, exists bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.at) >= time.Second {
		s.at, s.items = time.Now(), map[string]any{}
		for _, obj := range s.List() {
			s.items[keyOf(obj)] = obj
		}
	}
	item, exists = s.items[key]
	return item, exists, nil
}

// syncedEarly says that it has synced as soon as the source has answered.
func syncedEarly(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
	indexers contract.Indexers) cache.SharedIndexInformer {
	early := &answer{make(chan struct{})}
	var once atomic.Bool
	over := constructOver(func(s *source) {
		s.unsupported = func() bool { return true }
		s.list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := s.ListerWatcherWithContext.ListWithContext(ctx, o)
			if err == nil && once.CompareAndSwap(false, true) {
				close(early.done)
			}
			return list, err
		}
	})(lw, example, resync, indexers)
	i := newInformer(over)
	i.synced = early
	return i
}

// lifeMutants are those whose mistake is in how the informer starts, answers and stops.
func lifeMutants() []Mutant {
	blind := informerMutant("blind detector", "the mutation detector compares an object with itself",
		"INFORMER-30", cache.NewSharedIndexInformer)
	blind.MutationDetecting = func(func(message string)) contract.NewInformer {
		return cache.NewSharedIndexInformer
	}
	return []Mutant{
		blind,
		informerMutant("synced with the answer",
			"HasSynced is true when the list has come, before it is in the store", "INFORMER-9",
			syncedEarly),
		answering("handler synced with informer",
			"a registration has synced when its informer has, whatever its handler was told",
			"INFORMER-10 INFORMER-36", func(i *informer) { i.handleSynced = true }),
		answering("period doubled", "the next resync is counted from the one after the last",
			"INFORMER-11", func(i *informer) {
				i.period = func(d *time.Duration) *time.Duration {
					if d == nil {
						return nil
					}
					twice := 2 * *d
					return &twice
				}
			}),
		answering("resync for all", "a resync that is due for one handler is told to all",
			"INFORMER-12",
			func(i *informer) { i.period = func(*time.Duration) *time.Duration { return nil } }),
		answering("removed handler stays",
			"RemoveEventHandler forgets the registration and not the handler", "INFORMER-14 INFORMER-29",
			func(i *informer) { i.kept = true }),
		answering("index of what comes",
			"an index that is added to a filled store has only what is written from then on", "INFORMER-15",
			func(i *informer) {
				i.addIndexers = func(indexers contract.Indexers) error {
					var ready atomic.Bool
					late := contract.Indexers{}
					for name, f := range indexers {
						late[name] = func(obj any) ([]string, error) {
							if !ready.Load() {
								return nil, nil
							}
							return f(obj)
						}
					}
					defer ready.Store(true)
					return i.SharedIndexInformer.AddIndexers(late)
				}
			}),
		answering("transform at any time", "SetTransform says nothing when it comes too late",
			"INFORMER-16", func(i *informer) {
				i.setTransform = func(f cache.TransformFunc) error {
					_ = i.SharedIndexInformer.SetTransform(f)
					return nil
				}
			}),
		answering("never stopped", "IsStopped answers for a stop that nobody notes", "INFORMER-20",
			func(i *informer) { i.stopped = func() bool { return false } }),
		answering("handler after the end",
			"a handler is taken when the informer has stopped, and hears nothing", "INFORMER-20",
			func(i *informer) {
				i.refused = func() (cache.ResourceEventHandlerRegistration, error) {
					return registration{informer: i}, nil
				}
			}),
		answering("stopped in other words",
			"what a stopped informer refuses is refused in words of its own", "INFORMER-34",
			func(i *informer) {
				i.refused = func() (cache.ResourceEventHandlerRegistration, error) { return nil, errOver }
				i.addIndexers = func(indexers contract.Indexers) error {
					if i.SharedIndexInformer.AddIndexers(indexers) != nil {
						return errOver
					}
					return nil
				}
			}),
		answering("started in other words",
			"what a started informer refuses is refused in words of its own", "INFORMER-35",
			func(i *informer) {
				i.setTransform = func(f cache.TransformFunc) error {
					if i.SharedIndexInformer.SetTransform(f) != nil {
						return errOver
					}
					return nil
				}
			}),
		answering("errors unheard", "the watch error handler is never called", "INFORMER-21",
			func(i *informer) {
				i.watchErrors = func(cache.WatchErrorHandlerWithContext) error { return nil }
			}),
		answering("returns at once", "Run returns when it is told to stop, not when all has stopped",
			"INFORMER-24", func(i *informer) {
				i.run = func(ctx context.Context) {
					go i.SharedIndexInformer.RunWithContext(ctx)
					<-ctx.Done()
				}
			}),
		answering("second run waits", "a second Run waits for the end", "INFORMER-25", func(i *informer) {
			i.run = func(ctx context.Context) {
				i.SharedIndexInformer.RunWithContext(ctx)
				<-ctx.Done()
			}
		}),
		asking("one pause for all",
			"a list that fails is tried again every 6 s, however long it fails", "INFORMER-27",
			func(s *source) {
				s.list = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
					for {
						list, err := s.ListerWatcherWithContext.ListWithContext(ctx, o)
						if err == nil || ctx.Err() != nil {
							return list, err
						}
						select {
						case <-ctx.Done():
						case <-time.After(6 * time.Second):
						}
					}
				}
			}),
		asking("no back-off", "a list that fails is tried again at once, many times",
			"INFORMER-27", func(s *source) {
				s.list = func(ctx context.Context, o metav1.ListOptions) (list runtime.Object, err error) {
					for range 20 {
						if list, err = s.ListerWatcherWithContext.ListWithContext(ctx, o); err == nil {
							break
						}
					}
					return list, err
				}
			}),
	}
}

// errOver says it in other words than client-go.
var errOver = errors.New("too late")
