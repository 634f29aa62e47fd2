package mutants

import (
	"context"
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
