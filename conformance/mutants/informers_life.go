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
		informerMutant("handler synced with informer",
			"a registration has synced when its informer has, whatever its handler was told",
			"INFORMER-10 INFORMER-36",
			construct(func(i *informer) { i.handleSynced = true })),
		informerMutant("period doubled", "the next resync is counted from the one after the last",
			"INFORMER-11", construct(func(i *informer) {
				i.period = func(d *time.Duration) *time.Duration {
					if d == nil {
						return nil
					}
					twice := 2 * *d
					return &twice
				}
			})),
		informerMutant("resync for all", "a resync that is due for one handler is told to all",
			"INFORMER-12", construct(func(i *informer) {
				i.period = func(*time.Duration) *time.Duration { return nil }
			})),
		informerMutant("removed handler stays",
			"RemoveEventHandler forgets the registration and not the handler", "INFORMER-14 INFORMER-29",
			construct(func(i *informer) { i.kept = true })),
		informerMutant("index of what comes",
			"an index that is added to a filled store has only what is written from then on", "INFORMER-15",
			construct(func(i *informer) {
				i.addIndexers = func(indexers contract.Indexers, add func(contract.Indexers) error) error {
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
					return add(late)
				}
			})),
		informerMutant("transform at any time", "SetTransform says nothing when it comes too late",
			"INFORMER-16",
			construct(func(i *informer) {
				i.setTransform = func(f cache.TransformFunc, set func(cache.TransformFunc) error) error {
					_ = set(f)
					return nil
				}
			})),
		informerMutant("version of the first list", "LastSyncResourceVersion is not moved on by events",
			"INFORMER-19",
			construct(func(i *informer) {
				var first string
				i.lastVersion = func(version string) string {
					if first == "" {
						first = version
					}
					return first
				}
			})),
		informerMutant("never stopped", "IsStopped answers for a stop that nobody notes", "INFORMER-20",
			construct(func(i *informer) { i.stopped = func() bool { return false } })),
		informerMutant("handler after the end",
			"a handler is taken when the informer has stopped, and hears nothing", "INFORMER-20",
			construct(func(i *informer) {
				i.refused = func() (cache.ResourceEventHandlerRegistration, error) {
					return registration{informer: i}, nil
				}
			})),
		informerMutant("stopped in other words",
			"what a stopped informer refuses is refused in words of its own", "INFORMER-34",
			construct(func(i *informer) {
				i.refused = func() (cache.ResourceEventHandlerRegistration, error) { return nil, errOver }
				i.addIndexers = func(indexers contract.Indexers, add func(contract.Indexers) error) error {
					if add(indexers) != nil {
						return errOver
					}
					return nil
				}
			})),
		informerMutant("started in other words",
			"what a started informer refuses is refused in words of its own", "INFORMER-35",
			construct(func(i *informer) {
				i.setTransform = func(f cache.TransformFunc, set func(cache.TransformFunc) error) error {
					if set(f) != nil {
						return errOver
					}
					return nil
				}
			})),
		informerMutant("errors unheard", "the watch error handler is never called", "INFORMER-21",
			construct(func(i *informer) {
				i.watchErrors = func(cache.WatchErrorHandlerWithContext) cache.WatchErrorHandlerWithContext {
					return func(context.Context, *cache.Reflector, error) {}
				}
			})),
		informerMutant("errors told once",
			"the watch error handler hears of an error once, however often it comes again", "INFORMER-21",
			construct(func(i *informer) {
				i.watchErrors = func(h cache.WatchErrorHandlerWithContext) cache.WatchErrorHandlerWithContext {
					last := ""
					return func(ctx context.Context, r *cache.Reflector, err error) {
						if err.Error() != last {
							last = err.Error()
							h(ctx, r, err)
						}
					}
				}
			})),
		informerMutant("returns at once", "Run returns when it is told to stop, not when all has stopped",
			"INFORMER-24",
			construct(func(i *informer) {
				i.run = func(ctx context.Context, run func(context.Context)) {
					go run(ctx)
					<-ctx.Done()
				}
			})),
		informerMutant("second run waits", "a second Run waits for the end", "INFORMER-25",
			construct(func(i *informer) {
				i.run = func(ctx context.Context, run func(context.Context)) {
					run(ctx)
					<-ctx.Done()
				}
			})),
		informerMutant("one pause for all",
			"a list that fails is tried again every 6 s, however long it fails", "INFORMER-27",
			constructOver(func(s *source) {
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
			})),
		informerMutant("no back-off", "a list that fails is tried again at once, many times",
			"INFORMER-27",
			constructOver(func(s *source) {
				s.list = func(ctx context.Context, o metav1.ListOptions) (list runtime.Object, err error) {
					for range 20 {
						if list, err = s.ListerWatcherWithContext.ListWithContext(ctx, o); err == nil {
							break
						}
					}
					return list, err
				}
			})),
	}
}

// errOver says it in other words than client-go.
var errOver = errors.New("too late")
