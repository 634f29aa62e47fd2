package synthetic

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
)

// oldClient makes a Reflector list and watch instead of streaming.
type oldClient struct{ *Source }

func (oldClient) IsWatchListSemanticsUnSupported() bool { return true }

// churn makes n random writes at short intervals.
func churn(t *testing.T, s *Source, n int, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range n {
		var err error
		live := s.Snapshot()
		key := slices.Sorted(maps.Keys(live))[rng.IntN(len(live))]
		switch i % 3 {
		case 0:
			_, err = s.Create(pod(fmt.Sprintf("churn/%d-%d", seed, i)))
		case 1:
			_, err = s.Update(live[key])
		default:
			_, err = s.Delete(key)
		}
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond) // of the bubble
	}
}

// TestFaultsHeal runs client-go's informer over a source with each fault: it
// must end with the source's objects, and the fault must have struck. Where a fault
// cannot come about in a mode, the table says so.
func TestFaultsHeal(t *testing.T) {
	t.Parallel()
	const both, streaming, listing = "both", "streaming", "listing"
	for i, c := range []struct {
		mode   string
		faults []Fault
	}{
		{both, nil},
		{both, []Fault{{Kind: FaultGone}}},
		{both, []Fault{{Kind: FaultGone, AfterEvents: 5, EveryEvents: 20}}},
		{both, []Fault{{Kind: FaultClose, EveryEvents: 7, Count: 5}}},
		// A few times only: if each watch ends before its first event, client-go's
		// Reflector stays stale, because it lists pages at the version that it knows.
		{both, []Fault{{Kind: FaultClose, After: 300 * time.Millisecond, Every: 200 * time.Millisecond,
			Count: 8}}},
		{both, []Fault{{Kind: FaultError, AfterEvents: 3, EveryEvents: 10, Count: 3}}},
		{both, []Fault{{Kind: FaultDelay, EveryEvents: 10, Delay: 500 * time.Millisecond}}},
		{both, []Fault{{Kind: FaultDropBookmarks, Every: time.Second}}},
		{both, []Fault{{Kind: FaultWatchRefused, Count: 2}}},
		{both, []Fault{{Kind: FaultWatchRefused, EveryEvents: 2, Count: 4},
			{Kind: FaultClose, EveryEvents: 10}}},
		{both, []Fault{{Kind: FaultTooLarge, Count: 1}, {Kind: FaultGone, AfterEvents: 10, Count: 1}}},
		{listing, []Fault{{Kind: FaultTooLarge, EveryEvents: 2, Count: 3},
			{Kind: FaultClose, EveryEvents: 10}}},
		{listing, []Fault{{Kind: FaultListError, EveryEvents: 40}}},
		{listing, []Fault{{Kind: FaultExpireContinue}}},
		// Not in list mode: client-go's Reflector, which heal gives a page size, stays
		// stale there.
		{streaming, []Fault{{Kind: FaultCacheRestart, AfterEvents: 10, EveryEvents: 30}}},
		{both, []Fault{{Kind: FaultGone, EveryEvents: 30}, {Kind: FaultClose, EveryEvents: 11},
			{Kind: FaultError, AfterEvents: 20},
			{Kind: FaultDelay, After: time.Second, Delay: time.Second}}},
	} {
		for _, mode := range []string{streaming, listing} {
			if c.mode != both && c.mode != mode {
				continue
			}
			t.Run(fmt.Sprintf("%d-%s", i, mode), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { heal(t, mode == listing, c.faults) })
			})
		}
	}
}

func heal(t *testing.T, listing bool, faults []Fault) {
	s := NewSource(smallPods(60).All(),
		SourceOptions{Faults: faults, NoWatchCache: true, BookmarkEvery: 5 * time.Second})
	var lw cache.ListerWatcher = s
	if listing {
		lw = oldClient{s}
	}
	store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
	r := cache.NewReflectorWithOptions(lw, &corev1.Pod{}, store, cache.ReflectorOptions{})
	r.WatchListPageSize = 25 // or a list would not continue
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { r.RunWithContext(ctx) })
	synctest.Wait()
	churn(t, s, 100, 1)
	time.Sleep(5 * time.Minute) // beyond every backoff, within a watch's timeout
	churn(t, s, 30, 2)
	time.Sleep(5 * time.Minute)
	synctest.Wait()

	want := s.Snapshot()
	got := map[string]runtime.Object{}
	for _, obj := range store.List() {
		got[Key(obj)] = obj.(runtime.Object)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the reflector has %d objects, the source %d, or they differ", len(got), len(want))
	}
	struck := s.Struck()
	for _, f := range faults {
		if struck[f.Kind] == 0 {
			t.Errorf("the fault %s never struck", f.Kind)
		}
		if f.Count > 0 && struck[f.Kind] > f.Count {
			t.Errorf("the fault %s struck %d times, want at most %d", f.Kind, struck[f.Kind], f.Count)
		}
	}
	cancel()
	s.Stop()
	running.Wait()
}

// TestSharedInformer runs a whole informer, with indexes and handlers, over a source with
// several writing goroutines.
func TestSharedInformer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewSource(smallPods(200).All(),
			SourceOptions{Faults: []Fault{{Kind: FaultGone, AfterEvents: 50, EveryEvents: 200},
				{Kind: FaultClose, EveryEvents: 70}}})
		informer := cache.NewSharedIndexInformer(s, &corev1.Pod{}, 0, Indexers())
		ctx, cancel := context.WithCancel(t.Context())
		var running, writing sync.WaitGroup
		running.Go(func() { informer.RunWithContext(ctx) })
		for seed := range uint64(4) {
			writing.Go(func() {
				rng := rand.New(rand.NewPCG(seed, 0))
				for i := range 100 {
					key := fmt.Sprintf("mine-%d/p%d", seed, rng.IntN(10))
					p := pod(key)
					p.Spec.NodeName = fmt.Sprintf("node-%d", i%5)
					if _, err := s.Create(p); apierrors.IsAlreadyExists(err) {
						if rng.IntN(2) == 0 {
							_, err = s.Update(p)
						} else {
							_, err = s.Delete(key)
						}
						if err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		writing.Wait()
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		want := s.Snapshot()
		got := informer.GetIndexer().List()
		for _, obj := range got {
			if want[Key(obj)] != obj {
				t.Fatalf("%s is not the source's", Key(obj))
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d objects, want %d", len(got), len(want))
		}
		cancel()
		s.Stop()
		running.Wait()
	})
}

// TestEachFault checks the effect of each fault on a client.
func TestEachFault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault Fault
		want  []string
	}{
		{Fault{Kind: FaultGone, AfterEvents: 1},
			[]string{"MODIFIED pod-000000@2", "ERROR 410", "closed"}},
		{Fault{Kind: FaultError, AfterEvents: 1},
			[]string{"MODIFIED pod-000000@2", "ERROR 500", "closed"}},
		{Fault{Kind: FaultClose, AfterEvents: 1}, []string{"MODIFIED pod-000000@2", "closed"}},
		{Fault{Kind: FaultDelay, AfterEvents: 1, Delay: time.Hour},
			[]string{"MODIFIED pod-000000@2", "MODIFIED pod-000000@3", "MODIFIED pod-000000@4"}},
		{Fault{Kind: FaultDropBookmarks},
			[]string{"MODIFIED pod-000000@2", "MODIFIED pod-000000@3", "MODIFIED pod-000000@4",
				"BOOKMARK @4"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newTestSource(t, 1, SourceOptions{Faults: []Fault{c.fault}})
			w := must[watch.Interface](t)(
				s.Watch(metav1.ListOptions{ResourceVersion: "1",
					AllowWatchBookmarks: c.fault.Kind == FaultDropBookmarks}))
			for range 3 {
				must[runtime.Object](t)(s.Update(s.Snapshot()["ns-00/pod-000000"]))
			}
			start := time.Now()
			if got := drain(w, len(c.want)); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s: got %q, want %q", c.fault.Kind, got, c.want)
			}
			want := map[FaultKind]time.Duration{FaultDelay: time.Hour,
				FaultDropBookmarks: 2 * time.Minute}[c.fault.Kind]
			if took := time.Since(start); took != want {
				t.Errorf("%s: it took %v, want %v", c.fault.Kind, took, want)
			}
			if c.fault.Kind == FaultGone {
				again := must[watch.Interface](t)(s.Watch(metav1.ListOptions{ResourceVersion: "2"}))
				if got := drain(again, 1); got[0] != "ERROR 410" {
					t.Errorf("after gone, a watch from an old version got %q", got)
				}
			}
			w.Stop()
		})
	}
}

func TestFaultsOfRequests(t *testing.T) {
	t.Parallel()
	s := newTestSource(t, 10, SourceOptions{Faults: []Fault{
		{Kind: FaultListError, AfterEvents: 3}, {Kind: FaultExpireContinue}, {Kind: FaultTooLarge},
		{Kind: FaultWatchRefused},
	}})
	page := list(t, s, metav1.ListOptions{Limit: 3})
	if _, err := s.List(metav1.ListOptions{Continue: page.Continue}); !apierrors.IsResourceExpired(
		err) {
		t.Errorf("expire-continue: %v", err)
	}
	if _, err := s.List(metav1.ListOptions{ResourceVersion: "3"}); !isTooLarge(err) {
		t.Errorf("too-large: %v", err)
	}
	if _, err := s.List(metav1.ListOptions{}); !apierrors.IsInternalError(err) {
		t.Errorf("list-error at the fourth list: %v", err)
	}
	if _, err := s.Watch(metav1.ListOptions{}); !apierrors.IsTooManyRequests(err) {
		t.Errorf("watch-refused: %v", err)
	}
	list(t, s, metav1.ListOptions{Continue: page.Continue})
	want := map[FaultKind]int{FaultListError: 1, FaultExpireContinue: 1, FaultTooLarge: 1,
		FaultWatchRefused: 1}
	if got := s.Struck(); !reflect.DeepEqual(got, want) {
		t.Errorf("struck %v, want %v", got, want)
	}
}

// TestCacheRestart: watches begin no earlier than the watch cache; lists at an exact
// version go as far back as the storage's history.
func TestCacheRestart(t *testing.T) {
	t.Parallel()
	s := newTestSource(
		t, 10, SourceOptions{Window: 6, Faults: []Fault{{Kind: FaultCacheRestart, AfterEvents: 1}}})
	before := s.ResourceVersion()
	behind := must[watch.Interface](t)(s.Watch(metav1.ListOptions{ResourceVersion: before}))
	for i := range 3 {
		must[runtime.Object](t)(s.Create(pod(fmt.Sprintf("new/%d", i))))
	}
	if got := drain(behind, 1); got[0] != "ADDED 0@11" {
		t.Errorf("the watch got %q, want the first event", got)
	}
	if e, open := <-behind.ResultChan(); open {
		t.Errorf("the watch goes on with %v, want its end without a word", e)
	}
	for from, want := range map[string]string{before: "ERROR 410", "12": "ERROR 410",
		"13": "ADDED 3@14"} {
		w := must[watch.Interface](t)(s.Watch(metav1.ListOptions{ResourceVersion: from}))
		if from == "13" {
			must[runtime.Object](t)(s.Create(pod("new/3")))
		}
		if got := drain(w, 1); got[0] != want {
			t.Errorf("a watch from %s got %q, want %s", from, got, want)
		}
		w.Stop()
	}
	for _, c := range []struct {
		name    string
		options metav1.ListOptions
		count   int
	}{
		{"exactly the old version", metav1.ListOptions{ResourceVersion: before,
			ResourceVersionMatch: metav1.ResourceVersionMatchExact}, 10},
		{"the old version in pages", metav1.ListOptions{ResourceVersion: before, Limit: 100}, 10},
		{"the old version or newer, in pages",
			metav1.ListOptions{ResourceVersion: before, Limit: 100,
				ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, 14},
		{"the old version or newer", metav1.ListOptions{ResourceVersion: before}, 14},
	} {
		if got := len(list(t, s, c.options).Items); got != c.count {
			t.Errorf("%s: %d objects, want %d", c.name, got, c.count)
		}
	}
	for i := range 6 { // and then the storage forgets too
		must[runtime.Object](t)(s.Create(pod(fmt.Sprintf("newer/%d", i))))
	}
	if _, err := s.List(
		metav1.ListOptions{ResourceVersion: before, Limit: 100}); !apierrors.IsResourceExpired(err) {
		t.Errorf("a version that the storage has forgotten is listed: %v", err)
	}
}

func TestCacheFilling(t *testing.T) {
	t.Parallel()
	s := newTestSource(t, 10, SourceOptions{Faults: []Fault{{Kind: FaultCacheFilling}}})
	anything := metav1.ListOptions{ResourceVersion: "0", Limit: 4}
	if page := list(t, s, metav1.ListOptions{ResourceVersion: "0", Limit: 10}); len(
		page.Items) != 10 || s.Struck()[FaultCacheFilling] != 0 {
		t.Errorf("a list within its limit has %d objects, and counts as an occasion", len(page.Items))
	}
	if page := list(t, s, anything); len(page.Items) != 4 || page.Continue == "" {
		t.Errorf("while the cache fills a list has %d objects, want a page of 4", len(page.Items))
	}
	if page := list(t, s, anything); len(page.Items) != 10 {
		t.Errorf("once it is filled a list has %d objects, want all 10", len(page.Items))
	}
}

// TestPagerFallsBack: client-go's pager lists again, without pages, when a token expires.
func TestPagerFallsBack(t *testing.T) {
	t.Parallel()
	s := newTestSource(
		t, 100, SourceOptions{Faults: []Fault{{Kind: FaultExpireContinue, AfterEvents: 2}}})
	p := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return s.ListWithContext(ctx, o)
	})
	p.PageSize = 10
	obj, _, err := p.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := keysOf(obj.(*metainternal.List)); len(got) != 100 ||
		s.Struck()[FaultExpireContinue] != 1 {
		t.Errorf("%d objects and %v, want all 100 after one expiry", len(got), s.Struck())
	}
}

func TestStrikes(t *testing.T) {
	t.Parallel()
	start := Epoch
	for _, c := range []struct {
		fault Fault
		want  []int // the occasions, 1 s apart and from 1, at which it strikes
	}{
		{Fault{}, []int{1}},
		{Fault{AfterEvents: 3}, []int{4}},
		{Fault{EveryEvents: 4}, []int{1, 5, 9}},
		{Fault{AfterEvents: 2, EveryEvents: 3, Count: 2}, []int{3, 6}},
		{Fault{After: 2500 * time.Millisecond}, []int{3}},
		{Fault{Every: 4 * time.Second}, []int{1, 4, 8}},
		{Fault{After: 2 * time.Second, Every: 500 * time.Millisecond, Count: 3}, []int{2, 3, 4}},
		{Fault{After: time.Hour}, nil},
	} {
		f := armedFault{Fault: c.fault, due: start.Add(c.fault.After)}
		var got []int
		for i := 1; i <= 10; i++ {
			if f.strikes(start.Add(time.Duration(i) * time.Second)) {
				got = append(got, i)
			}
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v strikes at %v, want %v", c.fault, got, c.want)
		}
	}
}
