package mutants

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

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
