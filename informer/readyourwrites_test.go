package informer_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load/apiserver"
	"github.com/informerbench/informerbench/load/synthetic"
)

var rywRounds = flag.Int("ryw.rounds", 0, "rounds of read-your-writes under every fault")

// A read that waits longer hangs: the back-off of a reflector is 30 s at most.
const hang = 3 * time.Minute

// consistent is a controller-runtime client that reads its own writes from a cache, and another
// client, which has no cache.
type consistent struct {
	client.Client
	other  typedcorev1.ConfigMapInterface
	source *synthetic.Source
	inf    cache.SharedIndexInformer
}

// newConsistent serves ConfigMaps over HTTP with faults, beside a client whose cache is of
// newInformer.
func newConsistent(t *testing.T, newInformer contract.NewInformer, transform cache.TransformFunc,
	server, source []synthetic.Fault) *consistent {
	t.Helper()
	c := &consistent{source: synthetic.NewSource(nil, synthetic.SourceOptions{
		Example: &corev1.ConfigMap{}, Faults: source})}
	t.Cleanup(c.source.Stop)
	gvr := corev1.SchemeGroupVersion.WithResource("configmaps")
	s := must[*apiserver.Server](t)(apiserver.New(
		map[schema.GroupVersionResource]*synthetic.Source{gvr: c.source},
		apiserver.Options{Faults: server}))
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	h := must[*http.Client](t)(rest.HTTPClientFor(s.RESTConfig()))
	t.Cleanup(h.CloseIdleConnections)
	clients := must[*kubernetes.Clientset](t)(kubernetes.NewForConfigAndClient(s.RESTConfig(), h))
	c.other = clients.CoreV1().ConfigMaps("ns")
	cached := must[ctrlcache.Cache](t)(ctrlcache.New(s.RESTConfig(), ctrlcache.Options{HTTPClient: h,
		Scheme: scheme.Scheme, DefaultTransform: transform,
		NewInformer: func(lw cache.ListerWatcher, obj runtime.Object, resync time.Duration,
			indexers cache.Indexers) cache.SharedIndexInformer {
			c.inf = newInformer(lw, obj, resync, indexers)
			return c.inf
		}}))
	c.Client = must[client.Client](t)(client.New(s.RESTConfig(), client.Options{HTTPClient: h,
		Scheme: scheme.Scheme, Cache: &client.CacheOptions{Reader: cached,
			EnableReadYourWritesConsistency: ptr.To(true)}}))
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = cached.Start(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return c
}

// try makes a request until no fault strikes it; a fault keeps it from having an effect.
func try(ctx context.Context, request func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, hang)
	defer cancel()
	for {
		err := request(ctx)
		var status apierrors.APIStatus
		if err == nil || ctx.Err() != nil ||
			errors.As(err, &status) && !apierrors.IsInternalError(err) && !apierrors.IsTooManyRequests(err) {
			return err
		}
	}
}

func configMap(name, data string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
		Data: map[string]string{"v": data}}
}

// round creates, updates and deletes one object, and says what the reads after each saw.
func (c *consistent) round(ctx context.Context, name string) (string, error) {
	var seen []string
	look := func() error {
		var all corev1.ConfigMapList
		if err := try(ctx, func(ctx context.Context) error {
			return c.List(ctx, &all, client.InNamespace("ns"))
		}); err != nil {
			return fmt.Errorf("list: %w", err)
		}
		listed := "none"
		for i := range all.Items {
			if all.Items[i].Name == name {
				listed = all.Items[i].Data["v"]
			}
		}
		got := configMap("", "none")
		if err := try(ctx, func(ctx context.Context) error {
			return c.Get(ctx, types.NamespacedName{Namespace: "ns", Name: name}, got)
		}); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("get: %w", err)
		}
		seen = append(seen, listed+"="+got.Data["v"])
		return nil
	}
	for _, write := range []func(context.Context) error{
		func(ctx context.Context) error { return c.Create(ctx, configMap(name, "1")) },
		func(ctx context.Context) error { return c.Update(ctx, configMap(name, "2")) },
		func(ctx context.Context) error { return c.Delete(ctx, configMap(name, "")) },
	} {
		if err := try(ctx, write); err != nil {
			return strings.Join(seen, " "), fmt.Errorf("write: %w", err)
		}
		if err := look(); err != nil {
			return strings.Join(seen, " "), err
		}
	}
	return strings.Join(seen, " "), nil
}

// others write objects of their own, and labels into those of the rounds, until ctx ends.
func (c *consistent) others(ctx context.Context, writer int) {
	label := []byte(`{"metadata":{"labels":{"by":"another"}}}`)
	for i := 0; ctx.Err() == nil; i++ {
		name := fmt.Sprintf("other-%d-%d", writer, i%10)
		for _, write := range []func(context.Context) error{
			func(ctx context.Context) error {
				_, err := c.other.Create(ctx, configMap(name, "1"), metav1.CreateOptions{})
				return err
			},
			func(ctx context.Context) error {
				_, err := c.other.Update(ctx, configMap(name, fmt.Sprint(i)), metav1.UpdateOptions{})
				return err
			},
			func(ctx context.Context) error {
				_, err := c.other.Patch(ctx, fmt.Sprint("own-", i%25), types.MergePatchType, label,
					metav1.PatchOptions{})
				return err
			},
			func(ctx context.Context) error {
				if i%2 == 0 {
					return nil
				}
				return c.other.Delete(ctx, name, metav1.DeleteOptions{})
			},
		} {
			_ = try(ctx, write) // others' objects come and go
		}
	}
}

// rounds runs rounds beside other writers, and returns what each saw.
func (c *consistent) rounds(t *testing.T, count int) map[string]string {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var writers, workers sync.WaitGroup
	for w := range 2 {
		writers.Go(func() { c.others(ctx, w) })
	}
	var saw sync.Map
	run := func(name string) {
		seen, err := c.round(t.Context(), name)
		if err != nil {
			t.Errorf("%s saw %q: %v", name, seen, err)
		}
		saw.Store(name, seen)
	}
	const at = 4 // rounds at once
	for w := range at {
		workers.Go(func() {
			for i := w; i < count; i += at {
				run(fmt.Sprint("own-", i))
			}
		})
	}
	workers.Wait()
	cancel()
	writers.Wait()
	run("last") // has every write in the cache
	want := versionsOf(slices.Collect(maps.Values(c.source.Snapshot())))
	if got := versionsOf(c.inf.GetStore().List()); !maps.Equal(got, want) {
		t.Errorf("the cache has %v, the server %v", got, want)
	}
	return maps.Collect(func(yield func(string, string) bool) {
		saw.Range(func(k, v any) bool { return yield(k.(string), v.(string)) })
	})
}

var bothInformers = map[string]contract.NewInformer{
	"client-go": cache.NewSharedIndexInformer, "ours": informer.NewSharedIndexInformer}

// A client of controller-runtime's that reads its own writes (EnableReadYourWritesConsistency)
// sees them in the cache beside other writers, whatever fails.
func TestReadYourWrites(t *testing.T) {
	t.Parallel()
	const batch = 25
	for name, newInformer := range bothInformers {
		for first := 0; first < max(batch, *rywRounds); first += batch {
			t.Run(fmt.Sprintf("%s/%d", name, first), func(t *testing.T) {
				t.Parallel()
				source := []synthetic.Fault{{Kind: synthetic.FaultGone, AfterEvents: 40},
					{Kind: synthetic.FaultClose, AfterEvents: 100, EveryEvents: 100, Count: 5},
					{Kind: synthetic.FaultDelay, AfterEvents: 20, EveryEvents: 20, Count: 10,
						Delay: 20 * time.Millisecond}}
				server := []synthetic.Fault{{Kind: apiserver.FaultCut, AfterEvents: 70},
					{Kind: apiserver.FaultInternal, AfterEvents: 50, EveryEvents: 50, Count: 5}}
				if *rywRounds > 0 {
					var random []synthetic.Fault
					server, random = apiserver.RandomFaults(uint64(first), 2)
					source = append(source[:1], random...)
				}
				c := newConsistent(t, newInformer, nil, server, source)
				for round, saw := range c.rounds(t, batch) {
					if want := "1=1 2=2 none=none"; saw != want {
						t.Errorf("%s saw %q, want %q", round, saw, want)
					}
				}
				if c.source.Struck()[synthetic.FaultGone] == 0 {
					t.Errorf("the faults that struck: %v", c.source.Struck())
				}
			})
		}
	}
}

// The cache has no object whose transform failed when it came. Its deletion is seen all the same.
func TestReadYourDeletions(t *testing.T) {
	t.Parallel()
	for name, newInformer := range bothInformers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failed := make(chan struct{}, 1)
			var known sync.Map
			c := newConsistent(t, newInformer, func(obj any) (any, error) {
				name := obj.(*corev1.ConfigMap).Name
				if _, again := known.LoadOrStore(name, true); again || !strings.HasPrefix(name, "lost") {
					return obj, nil
				}
				failed <- struct{}{}
				return nil, errors.New("on purpose")
			}, nil, []synthetic.Fault{{Kind: synthetic.FaultClose, AfterEvents: 3, EveryEvents: 7}})
			ctx, cancel := context.WithTimeout(t.Context(), hang)
			defer cancel()
			var all corev1.ConfigMapList
			if err := c.List(ctx, &all); err != nil { // the cache is full
				t.Fatal(err)
			}
			for i := range 5 {
				lost := must[*corev1.ConfigMap](t)(
					c.other.Create(ctx, configMap(fmt.Sprint("lost-", i), "1"), metav1.CreateOptions{}))
				<-failed
				if err := c.Delete(ctx, lost); err != nil {
					t.Fatal(err)
				}
				if err := c.List(ctx, &all); err != nil || len(all.Items) > 0 {
					t.Fatalf("%d objects, %v", len(all.Items), err)
				}
			}
		})
	}
}
