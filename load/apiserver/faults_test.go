package apiserver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/informerbench/informerbench/load/synthetic"
)

// TestEachFault checks the effect of each fault on a client.
func TestEachFault(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		for _, fault := range []synthetic.Fault{
			{Kind: FaultTooMany, Delay: time.Millisecond}, {Kind: FaultInternal}, {Kind: FaultReset},
			{Kind: FaultCutList},
			{Kind: FaultCut, AfterEvents: 1}, {Kind: FaultHalfClose, AfterEvents: 1},
			{Kind: FaultSlow, AfterEvents: 1, Delay: 80 * time.Millisecond},
		} {
			t.Run(fmt.Sprintf("%s/tls=%v", fault.Kind, secure), func(t *testing.T) {
				t.Parallel()
				f := start(t, somePods(3), Options{TLS: secure, Faults: []synthetic.Fault{fault}},
					synthetic.SourceOptions{})
				pods := clientset(t, f.RESTConfig()).CoreV1().Pods("")
				began := time.Now()
				switch fault.Kind {
				case FaultTooMany: // client-go retries by itself, after Retry-After
					must[*corev1.PodList](t)(pods.List(within(t), metav1.ListOptions{}))
					if took := time.Since(began); took < time.Second {
						t.Errorf("asked again after %v, want the second of Retry-After", took)
					}
				case FaultInternal:
					if _, err := pods.List(within(t), metav1.ListOptions{}); !apierrors.IsInternalError(err) {
						t.Errorf("%v, want 500", err)
					}
				case FaultReset, FaultCutList:
					// A list that is cut off must never look complete. A client may retry
					// by itself.
					l, err := pods.List(within(t), metav1.ListOptions{})
					if err == nil && len(l.Items) != 3 {
						t.Errorf("a list of %d", len(l.Items))
					}
				case FaultCut, FaultHalfClose, FaultSlow:
					w := must[watch.Interface](t)(pods.Watch(within(t), metav1.ListOptions{ResourceVersion: "3"}))
					for range 3 {
						must[runtime.Object](t)(f.pods.Update(somePods(1)[0]))
					}
					if fault.Kind == FaultSlow {
						same(t, collect(t, w, 3), "MODIFIED pod-000000@4", "MODIFIED pod-000000@5",
							"MODIFIED pod-000000@6")
						if took := time.Since(began); took < 70*time.Millisecond {
							t.Errorf("slow took %v, want 7 pauses of 10 ms", took)
						}
					} else {
						got := collect(t, w, 4)
						if got[0] != "MODIFIED pod-000000@4" || len(got) > 1 && got[1] != "end" &&
							got[1] != "ERROR 500" {
							t.Errorf("saw %v, want the first event and then the end", got)
						}
					}
				}
				if n := f.Struck()[fault.Kind]; n != 1 {
					t.Errorf("it struck %d times, want once", n)
				}
			})
		}
	}
}

func TestRandomFaultsRepeat(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for seed := range uint64(20) {
		server, source := RandomFaults(seed, 3)
		again, sourceAgain := RandomFaults(seed, 3)
		if !reflect.DeepEqual(server, again) || !reflect.DeepEqual(source, sourceAgain) {
			t.Errorf("seed %d gives other faults the second time", seed)
		}
		if len(server) != len(FaultKinds()) || len(source) != len(synthetic.FaultKinds()) {
			t.Errorf("seed %d: %d and %d faults, want one of each kind", seed, len(server), len(source))
		}
		if err := checkFaults(server); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		for _, f := range source {
			if err := f.Validate(); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
		seen[fmt.Sprint(server, source)] = true
	}
	if len(seen) != 20 {
		t.Errorf("20 seeds give %d schedules", len(seen))
	}
}

// TestFaultsBeginAfterTheSync: whatever the seed, a client's first list in pages and its first
// streaming list meet no fault. TestFollowersUnderFaults shows that what comes later does.
func TestFaultsBeginAfterTheSync(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		server, source := RandomFaults(seed, 20)
		f := start(t, somePods(300), Options{Faults: server}, synthetic.SourceOptions{Faults: source})
		pods := clientset(t, f.RESTConfig()).CoreV1().Pods("")
		for range 3 {
			o := metav1.ListOptions{Limit: 100}
			for more := true; more; more = o.Continue != "" {
				o.Continue = must[*corev1.PodList](t)(pods.List(within(t), o)).Continue
			}
		}
		w := must[watch.Interface](t)(pods.Watch(within(t), metav1.ListOptions{
			SendInitialEvents: ptr.To(true), AllowWatchBookmarks: true,
			ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}))
		if got := collect(t, w, 301); !strings.HasPrefix(got[300], "BOOKMARK") {
			t.Errorf("seed %d: the streaming list ended with %v", seed, got[len(got)-3:])
		}
		if len(f.Struck())+len(f.pods.Struck()) > 0 {
			t.Errorf("seed %d: %v and %v struck before", seed, f.Struck(), f.pods.Struck())
		}
	}
}

// follow keeps a copy of the pods by list and watch. Unlike an informer it retries at once.
// It returns when the copy has version last.
func follow(ctx context.Context, pods typedcorev1.PodInterface, last string,
	seed uint64) (map[string]string, error) {
	rng := rand.New(rand.NewPCG(seed, 1))
	var state map[string]string // versions by key
	at := ""
	for ctx.Err() == nil && at != last {
		if at == "" {
			state = map[string]string{}
			o := metav1.ListOptions{Limit: int64(rng.IntN(30))}
			for {
				l, err := pods.List(ctx, o)
				if err != nil {
					break // list again
				}
				for _, p := range l.Items {
					state[p.Namespace+"/"+p.Name] = p.ResourceVersion
				}
				if o.Continue = l.Continue; o.Continue == "" {
					at = l.ResourceVersion
					break
				}
			}
			continue
		}
		w, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: at, AllowWatchBookmarks: true})
		if apierrors.IsResourceExpired(err) {
			at = ""
		}
		if err != nil {
			continue
		}
		for e := range w.ResultChan() {
			if e.Type == watch.Error {
				if apierrors.IsResourceExpired(apierrors.FromObject(e.Object)) {
					at = ""
				}
				break
			}
			p := e.Object.(*corev1.Pod)
			switch e.Type {
			case watch.Deleted:
				delete(state, p.Namespace+"/"+p.Name)
			case watch.Added, watch.Modified:
				state[p.Namespace+"/"+p.Name] = p.ResourceVersion
			}
			if at = p.ResourceVersion; at == last {
				break
			}
		}
		w.Stop()
	}
	return state, ctx.Err()
}

// TestFollowersUnderFaults lets clients of each encoding follow through random faults of
// every kind: each ends with the source's state.
func TestFollowersUnderFaults(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			server, source := RandomFaults(seed, 2)
			f := start(t, somePods(60), Options{TLS: seed%2 == 1, Faults: server},
				synthetic.SourceOptions{Faults: source, FreshWait: time.Millisecond})
			const writes = 1000
			ctx := within(t)
			last := fmt.Sprint(60 + writes)
			results := make(chan error)
			followers := 0
			for name, form := range forms() {
				if name == "yaml" {
					continue // it does not stream
				}
				followers++
				pods := clientset(t, form(f.RESTConfig())).CoreV1().Pods("")
				go func() {
					state, err := follow(ctx, pods, last, seed)
					if err == nil {
						err = sameState(f.pods, state)
					}
					results <- err
				}()
			}
			// Earlier writes would be in the lists, and no event would be left for a fault.
			// Until then no fault ends a watch, and only a bounded number of requests fail.
			eventually(t, "a watch of each follower", func() bool {
				return f.Stats().Watches == int64(followers)
			})
			if err := scribble(f.pods, writes, seed); err != nil {
				t.Error(err)
			}
			for range followers {
				if err := <-results; err != nil {
					t.Error(err)
				}
			}
			if len(f.Struck())+len(f.pods.Struck()) == 0 {
				t.Error("no fault struck, though each is due within 200 events")
			}
		})
	}
}

// scribble makes n events of every kind.
func scribble(s *synthetic.Source, n int, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 2))
	for i := range n {
		var keys []string
		for key := range s.Snapshot() {
			keys = append(keys, key)
		}
		var err error
		switch c := rng.IntN(4); {
		case c == 0 || len(keys) < 10:
			_, err = s.Create(onNode(fmt.Sprint("new-", i), "n"))
		case c == 1:
			_, err = s.Delete(keys[rng.IntN(len(keys))])
		default:
			obj, _ := s.Get(keys[rng.IntN(len(keys))])
			_, err = s.Update(obj)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func sameState(s *synthetic.Source, got map[string]string) error {
	want := s.Snapshot()
	if len(got) != len(want) {
		return fmt.Errorf("%d objects, want %d", len(got), len(want))
	}
	for key, obj := range want {
		if got[key] != synthetic.Accessor(obj).GetResourceVersion() {
			return fmt.Errorf("%s at %q, want %s", key, got[key],
				synthetic.Accessor(obj).GetResourceVersion())
		}
	}
	return nil
}

// TestInformersUnderFaults runs every kind of client-go's informers through each fault:
// each ends with the source's state.
func TestInformersUnderFaults(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ server, source []synthetic.Fault }{
		"none":     {},
		"too-many": {server: []synthetic.Fault{{Kind: FaultTooMany, Delay: time.Second}}},
		"internal": {server: []synthetic.Fault{{Kind: FaultInternal, AfterEvents: 1}}},
		"reset":    {server: []synthetic.Fault{{Kind: FaultReset, AfterEvents: 1}}},
		"cut-list": {server: []synthetic.Fault{{Kind: FaultCutList}}},
		"cut": {server: []synthetic.Fault{
			{Kind: FaultCut, AfterEvents: 100, EveryEvents: 30, Count: 4}}},
		"half-close": {server: []synthetic.Fault{
			{Kind: FaultHalfClose, AfterEvents: 100, EveryEvents: 30, Count: 4}}},
		"slow": {server: []synthetic.Fault{
			{Kind: FaultSlow, AfterEvents: 50, EveryEvents: 25, Count: 4, Delay: 50 * time.Millisecond}}},
		"gone": {source: []synthetic.Fault{
			{Kind: synthetic.FaultGone, AfterEvents: 100, EveryEvents: 60, Count: 3}}},
		"close": {source: []synthetic.Fault{
			{Kind: synthetic.FaultClose, AfterEvents: 30, EveryEvents: 60, Count: 5}}},
		"refused":    {source: []synthetic.Fault{{Kind: synthetic.FaultWatchRefused}}},
		"list-error": {source: []synthetic.Fault{{Kind: synthetic.FaultListError}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t, somePods(50), Options{Faults: c.server}, synthetic.SourceOptions{Faults: c.source})
			stop := make(chan struct{})
			defer close(stop)
			all := everyInformer(t, f, stop)
			if err := scribble(f.pods, 300, 7); err != nil {
				t.Fatal(err)
			}
			last := f.pods.ResourceVersion()
			for sort, store := range all {
				eventually(t, fmt.Sprintf("%s with the state at %s", sort, last), func() bool {
					got := map[string]string{}
					for _, obj := range store.List() {
						m := synthetic.Accessor(obj.(runtime.Object))
						got[synthetic.Key(obj)] = m.GetResourceVersion()
					}
					return sameState(f.pods, got) == nil
				})
			}
			struck := 0
			for _, n := range f.Struck() {
				struck += n
			}
			for _, n := range f.pods.Struck() {
				struck += n
			}
			if name != "none" && struck == 0 {
				t.Error("no fault struck")
			}
		})
	}
}

// listing makes an informer list first, as it does where streaming lists are off.
type listing struct{ *cache.ListWatch }

func (listing) IsWatchListSemanticsUnSupported() bool { return true }

// everyInformer starts every kind of client-go's informers on the pods and waits until they
// have synced.
func everyInformer(t *testing.T, f *fixture, stop chan struct{}) map[string]cache.Store {
	t.Helper()
	stores := map[string]cache.Store{}
	var all []cache.SharedIndexInformer
	var shutdown []func()
	for name, form := range forms() {
		if name == "yaml" {
			continue
		}
		client := clientset(t, form(f.RESTConfig()))
		factory := informers.NewSharedInformerFactory(client, 0)
		informer := factory.Core().V1().Pods().Informer()
		all = append(all, informer)
		stores["typed informer, "+name] = informer.GetStore()
		factory.Start(stop)
		shutdown = append(shutdown, factory.Shutdown)
	}
	config := f.RESTConfig()
	h := must[*http.Client](t)(newHTTPClient(t, config))
	d := dynamicinformer.NewDynamicSharedInformerFactory(
		must[*dynamic.DynamicClient](t)(dynamic.NewForConfigAndClient(config, h)), 0)
	stores["dynamic informer"] = d.ForResource(Pods).Informer().GetStore()
	d.Start(stop)
	m := metadatainformer.NewSharedInformerFactory(
		must[metadata.Interface](t)(metadata.NewForConfigAndClient(config, h)), 0)
	stores["metadata informer"] = m.ForResource(Pods).Informer().GetStore()
	m.Start(stop)
	lw := cache.NewListWatchFromClient(clientset(t, f.RESTConfig()).CoreV1().RESTClient(), "pods", "",
		fields.Everything())
	lone := cache.NewSharedIndexInformer(listing{lw}, &corev1.Pod{}, 0, cache.Indexers{})
	stores["listing informer"] = lone.GetStore()
	ended := make(chan struct{})
	go func() { lone.Run(stop); close(ended) }()
	for _, informer := range append(all, lone, d.ForResource(Pods).Informer(),
		m.ForResource(Pods).Informer()) {
		if !cache.WaitForCacheSync(within(t).Done(), informer.HasSynced) {
			t.Fatal("an informer does not sync")
		}
	}
	t.Cleanup(func() {
		for _, s := range shutdown {
			s()
		}
		d.Shutdown()
		m.Shutdown()
		<-ended
	})
	return stores
}
