package informer_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

// stalling is a source of one pod whose streaming lists go as stream says.
type stalling struct {
	// stream sends what a streaming list brings; it ends with ctx.
	stream func(ctx context.Context, w *watch.RaceFreeFakeWatcher)
	// refuse makes every other watch end with 410 after this time.
	refuse         time.Duration
	opens          bool // streaming lists are answered at all
	transform      cache.TransformFunc
	lists, streams int
	streamed       []time.Duration // since the start
	started        time.Time
}

func (s *stalling) ListWithContext(context.Context, metav1.ListOptions) (runtime.Object, error) {
	s.lists++
	return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "5"},
		Items: []corev1.Pod{*made("a", "1", time.Time{})}}, nil
}

func (s *stalling) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface,
	error) {
	w := watch.NewRaceFreeFake()
	switch {
	case !ptr.Deref(o.SendInitialEvents, false):
		if s.refuse > 0 {
			time.AfterFunc(s.refuse, func() {
				w.Error(ptr.To(apierrors.NewResourceExpired("gone").Status()))
			})
		}
	case !s.opens:
		<-ctx.Done()
		return nil, ctx.Err()
	default:
		s.streams++
		s.streamed = append(s.streamed, time.Since(s.started))
		go s.stream(ctx, w)
	}
	return w, nil
}

func (s *stalling) List(o metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), o)
}

func (s *stalling) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), o)
}

func made(name, version string, at time.Time) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name,
		ResourceVersion: version, CreationTimestamp: metav1.NewTime(at)}}
}

// every calls f at a period until ctx ends or f returns false.
func every(ctx context.Context, period time.Duration, f func(i int) bool) {
	for i := 0; f(i); i++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(period):
		}
	}
}

func nothingComes(context.Context, *watch.RaceFreeFakeWatcher) {}

// synced runs an informer over s until it has synced, and for as long after, and returns how long
// it took to sync.
func (s *stalling) synced(t *testing.T, after time.Duration) time.Duration {
	t.Helper()
	i := informer.New(s, &corev1.Pod{}, informer.Options{UseWatchList: ptr.To(true),
		Transform: s.transform})
	s.started = time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); i.RunWithContext(ctx) }()
	if !cache.WaitForCacheSync(ctx.Done(), i.HasSynced) {
		t.Fatal("the informer did not sync")
	}
	took := time.Since(s.started)
	time.Sleep(after)
	cancel()
	<-ended
	return took
}

// A streaming list that brings nothing more of the initial state and no bookmark that ends it is
// given up within 15 seconds (kubernetes#135895).
func TestStalledStreamFallsBack(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*stalling{
		"the request is not answered": {},
		"nothing comes":               {opens: true, stream: nothingComes},
		"only what is made later": {opens: true,
			stream: func(ctx context.Context, w *watch.RaceFreeFakeWatcher) {
				w.Add(made("a", "1", time.Now().Add(-time.Hour)))
				every(ctx, 2*time.Second, func(i int) bool {
					w.Add(made(fmt.Sprint("b", 100+i), fmt.Sprint(10+i), time.Now()))
					return i < 90
				})
			}},
		"only updates": {opens: true,
			stream: func(ctx context.Context, w *watch.RaceFreeFakeWatcher) {
				w.Add(made("a", "1", time.Time{}))
				every(ctx, time.Second, func(i int) bool {
					w.Modify(made("a", fmt.Sprint(10+i), time.Time{}))
					return i < 90
				})
			}},
		"updates faster than they are taken": {opens: true,
			stream: func(ctx context.Context, w *watch.RaceFreeFakeWatcher) {
				every(ctx, 95*time.Millisecond, func(i int) bool {
					w.Modify(made("a", fmt.Sprint(10+i), time.Time{}))
					return i < 200
				})
			},
			transform: func(obj any) (any, error) {
				time.Sleep(100 * time.Millisecond)
				return obj, nil
			}},
		"only bookmarks of another kind": {opens: true,
			stream: func(ctx context.Context, w *watch.RaceFreeFakeWatcher) {
				every(ctx, time.Second, func(i int) bool {
					w.Action(watch.Bookmark, made("", fmt.Sprint(10+i), time.Time{}))
					return i < 90
				})
			}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if took := s.synced(t, 0); took > 15*time.Second || s.lists != 1 {
					t.Errorf("synced after %s and %d lists", took, s.lists)
				}
			})
		})
	}
}

// A streaming list that goes on slowly is not given up.
func TestSlowStreamIsWaitedFor(t *testing.T) {
	t.Parallel()
	const objects, at, period = 100_000, 50, 3 * time.Second
	for name, created := range map[string]time.Time{"with times": time.Unix(1, 0),
		"without times": {}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stalling{opens: true}
				s.stream = func(ctx context.Context, w *watch.RaceFreeFakeWatcher) {
					every(ctx, period, func(i int) bool {
						for j := range at {
							w.Add(made(fmt.Sprintf("p%06d", at*i+j), "1", created))
						}
						return i < objects/at
					})
					end := made("", "7", time.Time{})
					end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
					w.Action(watch.Bookmark, end)
				}
				if took := s.synced(t, 0); took < objects/at*period || s.lists != 0 || s.streams != 1 {
					t.Errorf("synced after %s, %d lists and %d streams", took, s.lists, s.streams)
				}
			})
		})
	}
}

// After a streaming list that stalled, relists list for a minute, then for two, and so on.
func TestStalledStreamsBecomeRare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stalling{opens: true, stream: nothingComes, refuse: 5 * time.Second}
		s.synced(t, 10*time.Minute)
		if s.lists < 20 || s.streams < 3 || s.streams > 5 {
			t.Errorf("%d lists and streams after %v", s.lists, s.streamed)
		}
		for i := 2; i < len(s.streamed); i++ {
			if before, now := s.streamed[i-1]-s.streamed[i-2], s.streamed[i]-s.streamed[i-1]; now <= before {
				t.Errorf("the pauses do not grow: streams after %v", s.streamed)
			}
		}
	})
}

// quick answers every watch with one event and its end, and lists in pages that have no end.
type quick struct {
	stalling
	watches int
	endless bool
}

func (s *quick) ListWithContext(context.Context, metav1.ListOptions) (runtime.Object, error) {
	s.lists++
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "5"}}
	if s.endless {
		list.Continue = fmt.Sprint("token ", s.lists%3)
	}
	return list, nil
}

func (s *quick) WatchWithContext(context.Context, metav1.ListOptions) (watch.Interface, error) {
	s.watches++
	w := watch.NewRaceFreeFake()
	w.Add(made("a", fmt.Sprint(5+s.watches), time.Time{}))
	w.Stop()
	return w, nil
}

// A server that ends watches at once, or whose lists have no end, is not asked without a pause.
func TestLoopsPause(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*quick{"watches": {}, "lists": {endless: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := informer.New(s, &corev1.Pod{}, informer.Options{UseWatchList: ptr.To(false)})
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				i.RunWithContext(ctx)
				if s.watches+s.lists < 5 || s.watches+s.lists > 60 {
					t.Errorf("%d watches and %d lists in a minute", s.watches, s.lists)
				}
			})
		})
	}
}

// Over a FIFO that merges events the store has no version: older events of other keys may wait.
func TestVersionOverEachFIFO(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fifo func(contract.FIFOConfig) contract.FIFO
		want string
	}{
		"in order": {nil, "5"},
		"coalescing": {func(cfg contract.FIFOConfig) contract.FIFO {
			return deltafifo.NewCoalescing(cfg, deltafifo.Options{})
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := informer.New(&stalling{}, &corev1.Pod{},
					informer.Options{UseWatchList: ptr.To(false), NewFIFO: c.fifo})
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() { defer close(ended); i.RunWithContext(ctx) }()
				cache.WaitForCacheSync(ctx.Done(), i.HasSynced)
				if got := i.GetStore().LastStoreSyncResourceVersion(); got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
				cancel()
				<-ended
			})
		})
	}
}
