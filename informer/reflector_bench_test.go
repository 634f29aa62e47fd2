package informer

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/informerbench/informerbench/load/synthetic"
)

// newest is a store that knows only the newest version that it was told of.
type newest struct {
	nothing
	version atomic.Uint64
}

func (s *newest) Update(obj any) error {
	s.version.Store(synthetic.VersionOf(obj.(*corev1.Pod)))
	return nil
}

func (s *newest) Replace(_ []any, version string) error {
	s.version.Store(versionOf(version))
	return nil
}

func versionOf(text string) uint64 {
	v, _ := strconv.ParseUint(text, 10, 64) // 0 for "", before the first list
	return v
}

// oldSource makes a Reflector list in the place of streaming.
type oldSource struct{ *synthetic.Source }

func (oldSource) IsWatchListSemanticsUnSupported() bool { return true }

// stopper is a store that ends the run once it has the state.
type stopper struct {
	nothing
	stop context.CancelFunc
}

func (s *stopper) Replace(items []any, version string) error {
	defer s.stop()
	return s.nothing.Replace(items, version)
}

// BenchmarkReflectorSync fetches the state once, into a store that forgets it: what
// the Reflector itself costs, client-go's beside ours.
func BenchmarkReflectorSync(b *testing.B) {
	for _, objects := range []int{10_000, 100_000} {
		source := synthetic.NewSource(
			synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindSmall, Count: objects}, 1).All(),
			synthetic.SourceOptions{})
		defer source.Stop()
		run := map[string]func(context.Context, cache.ListerWatcher, *stopper) error{
			"informer": func(ctx context.Context, lw cache.ListerWatcher, store *stopper) error {
				return NewReflector(lw, &corev1.Pod{}, store,
					ReflectorOptions{Name: "bench"}).ListAndWatchWithContext(ctx)
			},
			"clientgo": func(ctx context.Context, lw cache.ListerWatcher, store *stopper) error {
				return cache.NewReflectorWithOptions(lw, &corev1.Pod{}, store,
					cache.ReflectorOptions{Name: "bench"}).ListAndWatchWithContext(ctx)
			},
		}
		for mode, lw := range map[string]cache.ListerWatcher{"stream": source,
			"list": oldSource{source}} {
			for _, impl := range []string{"clientgo", "informer"} {
				b.Run(fmt.Sprintf("mode=%s/objects=%d/impl=%s", mode, objects, impl), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						ctx, cancel := context.WithCancel(b.Context())
						store := &stopper{stop: cancel}
						if err := run[impl](ctx, lw, store); err != nil || store.replaced != objects {
							b.Fatalf("%d objects, error %v", store.replaced, err)
						}
						cancel()
					}
				})
			}
		}
	}
}

// BenchmarkReflectorEvents delivers events that are there already to a store that
// forgets them.
func BenchmarkReflectorEvents(b *testing.B) {
	const n = 10_000
	e := event("MODIFIED a 7")
	run := map[string]func(context.Context, cache.ListerWatcher, *nothing) error{
		"informer": func(ctx context.Context, lw cache.ListerWatcher, store *nothing) error {
			return NewReflector(lw, &corev1.Pod{}, store,
				ReflectorOptions{Name: "bench", UseWatchList: ptr.To(false)}).ListAndWatchWithContext(ctx)
		},
		"clientgo": func(ctx context.Context, lw cache.ListerWatcher, store *nothing) error {
			return cache.NewReflectorWithOptions(lw, &corev1.Pod{}, store,
				cache.ReflectorOptions{Name: "bench"}).ListAndWatchWithContext(ctx)
		},
	}
	for _, impl := range []string{"clientgo", "informer"} {
		b.Run("impl="+impl, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				w := &scriptWatch{result: make(chan watch.Event, n+1)}
				for range n {
					w.result <- e
				}
				w.result <- errorEvent(errGone)
				s := &oldClient{}
				s.lists = []listAnswer{gives("5", "", "a")}
				s.watches = []watchAnswer{func(context.Context) (watch.Interface, error) { return w, nil }}
				b.StartTimer()
				if err := run[impl](b.Context(), s, &nothing{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/event")
		})
	}
}
