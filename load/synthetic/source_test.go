package synthetic

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

// smallPods makes n pods with the resource versions 1 to n.
func smallPods(n int) *Objects { return Generate(ObjectSpec{Kind: KindSmall, Count: n}, 1) }

func newTestSource(t *testing.T, n int, options SourceOptions) *Source {
	t.Helper()
	s := NewSource(smallPods(n).All(), options)
	t.Cleanup(s.Stop)
	return s
}

func pod(key string) *corev1.Pod {
	namespace, name, _ := strings.Cut(key, "/")
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func list(t *testing.T, s *Source, o metav1.ListOptions) *metainternal.List {
	t.Helper()
	return must[runtime.Object](t)(s.List(o)).(*metainternal.List)
}

func keysOf(l *metainternal.List) []string {
	keys := make([]string, len(l.Items))
	for i, obj := range l.Items {
		keys[i] = Key(obj)
	}
	return keys
}

func isTooLarge(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// TestListsOfThePast compares a list at each version within the window, whole and in pages,
// with the state recorded when that version was the newest.
func TestListsOfThePast(t *testing.T) {
	t.Parallel()
	const window = 50
	s := newTestSource(t, 20, SourceOptions{Window: window})
	rng := rand.New(rand.NewPCG(1, 2))
	past := map[uint64][]string{}
	record := func() {
		l := list(t, s, metav1.ListOptions{})
		v, _ := parseVersion(l.ResourceVersion)
		past[v] = versionsOf(l)
	}
	record()
	for i := range 120 {
		var err error
		switch live := list(t, s, metav1.ListOptions{}).Items; rng.IntN(3) {
		case 0:
			_, err = s.Create(pod(fmt.Sprintf("ns-%02d/new-%d", rng.IntN(4), i)))
		case 1:
			_, err = s.Update(live[rng.IntN(len(live))])
		case 2:
			_, err = s.Delete(Key(live[rng.IntN(len(live))]))
		}
		if err != nil {
			t.Fatal(err)
		}
		record()
	}
	newest, _ := parseVersion(s.ResourceVersion())
	for v, want := range past {
		exact := metav1.ListOptions{ResourceVersion: formatVersion(v),
			ResourceVersionMatch: metav1.ResourceVersionMatchExact}
		if v+window < newest {
			if _, err := s.List(exact); !apierrors.IsResourceExpired(err) {
				t.Fatalf("version %d of %d gave %v, want 410", v, newest, err)
			}
			continue
		}
		if got := versionsOf(list(t, s, exact)); !reflect.DeepEqual(got, want) {
			t.Fatalf("version %d of %d lists\n%v\nwant\n%v", v, newest, got, want)
		}
		var paged []string
		page := metav1.ListOptions{ResourceVersion: formatVersion(v), Limit: 7}
		for {
			l := list(t, s, page)
			if l.ResourceVersion != formatVersion(v) || len(l.Items) > 7 {
				t.Fatalf("a page of version %d has version %s and %d items", v, l.ResourceVersion, len(l.Items))
			}
			paged = append(paged, versionsOf(l)...)
			if l.Continue == "" {
				break
			}
			if left := int(*l.RemainingItemCount); left != len(want)-len(paged) {
				t.Fatalf("%d items remain, the list says %d", len(want)-len(paged), left)
			}
			page = metav1.ListOptions{Continue: l.Continue, Limit: 7}
		}
		if !reflect.DeepEqual(paged, want) {
			t.Fatalf("the pages of version %d give\n%v\nwant\n%v", v, paged, want)
		}
	}
}

func versionsOf(l *metainternal.List) []string {
	versions := keysOf(l)
	for i, obj := range l.Items {
		versions[i] += "@" + Accessor(obj).GetResourceVersion()
	}
	return versions
}

func TestListOptions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newTestSource(t, 10, SourceOptions{})
		token := list(t, s, metav1.ListOptions{Limit: 4}).Continue
		bad, invalid, expired := apierrors.IsBadRequest, apierrors.IsInvalid, apierrors.IsResourceExpired
		for _, c := range []struct {
			name    string
			options metav1.ListOptions
			count   int
			fails   func(error) bool
		}{
			{"newest", metav1.ListOptions{}, 10, nil},
			{"newest in pages", metav1.ListOptions{Limit: 4}, 4, nil},
			{"any ignores the limit", metav1.ListOptions{ResourceVersion: "0", Limit: 4}, 10, nil},
			{"not older", metav1.ListOptions{ResourceVersion: "5",
				ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, 10, nil},
			{"a version alone is a lower bound", metav1.ListOptions{ResourceVersion: "5"}, 10, nil},
			{"a version with a limit is exact", metav1.ListOptions{ResourceVersion: "5", Limit: 4}, 0,
				expired},
			{"exact and forgotten", metav1.ListOptions{ResourceVersion: "5",
				ResourceVersionMatch: metav1.ResourceVersionMatchExact}, 0, expired},
			{"of the future", metav1.ListOptions{ResourceVersion: "11"}, 0, isTooLarge},
			{"exact of the future", metav1.ListOptions{ResourceVersion: "11",
				ResourceVersionMatch: metav1.ResourceVersionMatchExact}, 0, isTooLarge},
			{"exact 0", metav1.ListOptions{ResourceVersion: "0",
				ResourceVersionMatch: metav1.ResourceVersionMatchExact}, 0, invalid},
			{"a match without a version",
				metav1.ListOptions{ResourceVersionMatch: metav1.ResourceVersionMatchExact}, 0, invalid},
			{"an unknown match", metav1.ListOptions{ResourceVersion: "1", ResourceVersionMatch: "Newest"}, 0,
				invalid},
			{"no number", metav1.ListOptions{ResourceVersion: "new"}, 0, bad},
			{"a selector that is none", metav1.ListOptions{LabelSelector: "a=b=c"}, 0, bad},
			{"a token that is none", metav1.ListOptions{Continue: "abc"}, 0, bad},
			{"a token and a version", metav1.ListOptions{Continue: token, ResourceVersion: "1"}, 0, bad},
			{"a token and any version", metav1.ListOptions{Continue: token, ResourceVersion: "0"}, 6, nil},
			{"a token and a match", metav1.ListOptions{Continue: token, ResourceVersion: "0",
				ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, 0, invalid},
			{"initial events of a list", metav1.ListOptions{SendInitialEvents: ptr.To(true)}, 0, invalid},
		} {
			l, err := s.List(c.options)
			switch {
			case c.fails == nil && (err != nil || len(l.(*metainternal.List).Items) != c.count):
				t.Errorf("%s: %v, want %d items", c.name, err, c.count)
			case c.fails != nil && !c.fails(err):
				t.Errorf("%s: the wrong error: %v", c.name, err)
			}
		}
	})
}

// TestExpiredContinue: the answer to an expired token contains another one, which returns
// the rest in its current state.
func TestExpiredContinue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		faults []Fault
		why    string
	}{
		{"forgotten", nil, "too old"},
		{"asked for", []Fault{{Kind: FaultExpireContinue}}, string(FaultExpireContinue)},
	} {
		s := newTestSource(t, 6, SourceOptions{Window: 2, Faults: c.faults})
		first := list(t, s, metav1.ListOptions{Limit: 2})
		last := keysOf(list(t, s, metav1.ListOptions{}))[5]
		must[runtime.Object](t)(s.Delete(last))
		for range 2 {
			must[runtime.Object](t)(s.Create(pod("zz/new")))
			must[runtime.Object](t)(s.Delete("zz/new"))
		}
		must[runtime.Object](t)(s.Create(pod("zz/new")))
		_, err := s.List(metav1.ListOptions{Limit: 2, Continue: first.Continue})
		var status apierrors.APIStatus
		if !apierrors.IsResourceExpired(err) || !errors.As(err, &status) ||
			!strings.Contains(err.Error(), c.why) {
			t.Fatalf("%s: %v, want Expired that says %q", c.name, err, c.why)
		}
		keys := keysOf(first)
		for token := status.Status().Continue; token != ""; {
			page := list(t, s, metav1.ListOptions{Limit: 2, Continue: token})
			if page.ResourceVersion != s.ResourceVersion() {
				t.Errorf("%s: the rest is of version %s, want the newest, %s", c.name, page.ResourceVersion,
					s.ResourceVersion())
			}
			keys, token = append(keys, keysOf(page)...), page.Continue
		}
		if now := keysOf(list(t, s, metav1.ListOptions{})); !slices.Equal(keys, now) {
			t.Errorf("%s: page by page %v, want %v", c.name, keys, now)
		}
	}
}

// TestFreshness: a request for a future version is answered when that version comes.
func TestFreshness(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newTestSource(t, 5, SourceOptions{})
		answered := make(chan int)
		go func() {
			l, err := s.List(metav1.ListOptions{ResourceVersion: "6"})
			if err != nil {
				t.Error(err)
			}
			answered <- len(l.(*metainternal.List).Items)
		}()
		synctest.Wait()
		must[runtime.Object](t)(s.Create(pod("a/b")))
		if n := <-answered; n != 6 {
			t.Errorf("the list has %d items, want 6", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.ListWithContext(ctx, metav1.ListOptions{ResourceVersion: "99"}); err == nil {
			t.Error("a list whose context is over was answered")
		}
	})
}

func TestWrites(t *testing.T) {
	t.Parallel()
	s := NewSource(nil, SourceOptions{})
	if _, err := s.Update(pod("a/b")); !apierrors.IsNotFound(err) {
		t.Errorf("Update of what is not there: %v", err)
	}
	if _, err := s.Delete("a/b"); !apierrors.IsNotFound(err) {
		t.Errorf("Delete of what is not there: %v", err)
	}
	mine := pod("a/b")
	created := must[runtime.Object](t)(s.Create(mine))
	if mine.ResourceVersion != "" || Accessor(created).GetResourceVersion() != "2" {
		t.Errorf("Create wrote into the caller's object, or gave version %q",
			Accessor(created).GetResourceVersion())
	}
	if _, err := s.Create(mine); !apierrors.IsAlreadyExists(err) {
		t.Errorf("Create of what is there: %v", err)
	}
	s.Stop()
	s.Stop()
	if _, err := s.Delete("a/b"); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("Delete after Stop: %v", err)
	}
	if _, err := s.List(metav1.ListOptions{}); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("List after Stop: %v", err)
	}
	if _, err := s.Watch(metav1.ListOptions{}); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("Watch after Stop: %v", err)
	}
}

// drain takes n events, or all until the watch is closed, each as "ADDED ns/name@version".
func drain(w watch.Interface, n int) []string {
	var got []string
	for len(got) < n {
		e, ok := <-w.ResultChan()
		if !ok {
			return append(got, "closed")
		}
		text := string(e.Type)
		switch o := e.Object.(type) {
		case *metav1.Status:
			text += fmt.Sprintf(" %d", o.Code)
		default:
			m := Accessor(o)
			text += fmt.Sprintf(" %s@%s", m.GetName(), m.GetResourceVersion())
			if m.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
				text += " end"
			}
		}
		got = append(got, text)
	}
	return got
}

func TestWatch(t *testing.T) {
	t.Parallel()
	stream := metav1.ListOptions{SendInitialEvents: ptr.To(true), AllowWatchBookmarks: true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
	with := func(o metav1.ListOptions, version string) metav1.ListOptions {
		o.ResourceVersion = version
		return o
	}
	for _, c := range []struct {
		name    string
		options metav1.ListOptions
		want    []string
		fails   func(error) bool
	}{
		{"from a version", with(metav1.ListOptions{}, "4"),
			[]string{"MODIFIED pod-000000@5", "DELETED pod-000001@6"}, nil},
		{"from the newest", with(metav1.ListOptions{}, "6"), []string{"ADDED late@7"}, nil},
		{"from the future", with(metav1.ListOptions{}, "7"), []string{"MODIFIED late@8"}, nil},
		{"from the forgotten", with(metav1.ListOptions{}, "2"), []string{"ERROR 410", "closed"}, nil},
		{"from anything", with(metav1.ListOptions{}, "0"),
			[]string{"ADDED pod-000000@5", "ADDED pod-000002@3", "ADDED new@4", "ADDED late@7"}, nil},
		{"streaming", stream, []string{"ADDED pod-000000@5", "ADDED pod-000002@3", "ADDED new@4",
			"BOOKMARK @6 end", "ADDED late@7"}, nil},
		{"streaming from a version", with(stream, "6"),
			[]string{"ADDED pod-000000@5", "ADDED pod-000002@3", "ADDED new@4", "BOOKMARK @6 end",
				"ADDED late@7"}, nil},
		{"streaming from the future", with(stream, "9"), []string{"ERROR 504", "closed"}, nil},
		{"from anything, with bookmarks", metav1.ListOptions{AllowWatchBookmarks: true},
			[]string{"ADDED pod-000000@5", "ADDED pod-000002@3", "ADDED new@4", "BOOKMARK @6 end",
				"ADDED late@7"}, nil},
		{"bookmarks", metav1.ListOptions{ResourceVersion: "8", AllowWatchBookmarks: true},
			[]string{"BOOKMARK @8", "BOOKMARK @8"}, nil},
		{"a timeout", metav1.ListOptions{ResourceVersion: "8", TimeoutSeconds: ptr.To(int64(5))},
			[]string{"closed"}, nil},
		{"streaming without a match",
			metav1.ListOptions{SendInitialEvents: ptr.To(true), AllowWatchBookmarks: true}, nil,
			apierrors.IsInvalid},
		{"streaming without bookmarks",
			metav1.ListOptions{SendInitialEvents: ptr.To(true),
				ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan},
			[]string{"ADDED pod-000000@5", "ADDED pod-000002@3", "ADDED new@4", "ADDED late@7"}, nil},
		{"continued", metav1.ListOptions{Continue: "x"}, nil, apierrors.IsInvalid},
		{"continued from a version", metav1.ListOptions{Continue: "x", ResourceVersion: "6"},
			[]string{"ADDED late@7"}, nil},
		{"a match without streaming",
			metav1.ListOptions{ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, nil,
			apierrors.IsInvalid},
		{"a selector", metav1.ListOptions{FieldSelector: "a=b"}, nil, apierrors.IsBadRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newTestSource(t, 3, SourceOptions{Window: 3})
				must[runtime.Object](t)(s.Create(pod("z/new")))
				must[runtime.Object](t)(s.Update(s.Snapshot()["ns-00/pod-000000"]))
				must[runtime.Object](t)(s.Delete("ns-01/pod-000001"))
				w, err := s.Watch(c.options)
				if c.fails != nil {
					if !c.fails(err) {
						t.Errorf("the wrong error: %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer w.Stop()
				synctest.Wait() // or the watch would begin behind the window
				late := must[runtime.Object](t)(s.Create(pod("zz/late")))
				must[runtime.Object](t)(s.Update(late))
				if got := drain(w, len(c.want)); !reflect.DeepEqual(got, c.want) {
					t.Errorf("got  %q\nwant %q", got, c.want)
				}
			})
		})
	}
}

// TestSlowWatcher: a watcher that falls behind by more than the window is closed, and its
// next attempt gets "expired".
func TestSlowWatcher(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newTestSource(t, 1, SourceOptions{Window: 2 * watchBatch})
		w := must[watch.Interface](t)(s.Watch(metav1.ListOptions{ResourceVersion: "1"}))
		for range 10 * watchBatch {
			must[runtime.Object](t)(s.Update(s.Snapshot()["ns-00/pod-000000"]))
			synctest.Wait()
		}
		got := drain(w, 20*watchBatch)
		if last := got[len(got)-1]; last != "closed" || len(got) > watchBatch+1 {
			t.Fatalf("%d events, the last %q: want a closed watch after at most one batch", len(got), last)
		}
		again := must[watch.Interface](t)(
			s.Watch(metav1.ListOptions{ResourceVersion: formatVersion(uint64(len(got)))}))
		if got := drain(again, 9); !reflect.DeepEqual(got, []string{"ERROR 410", "closed"}) {
			t.Errorf("the next watch got %q", got)
		}
	})
}

func TestStopEndsWatches(t *testing.T) {
	t.Parallel()
	s := NewSource(smallPods(100).All(), SourceOptions{})
	var watches []watch.Interface
	for range 10 {
		watches = append(watches, must[watch.Interface](t)(s.Watch(metav1.ListOptions{})))
	}
	watches[0].Stop()
	watches[0].Stop()
	s.Stop() // though nobody reads
	for _, w := range watches {
		if _, open := <-w.ResultChan(); open {
			t.Error("a watch goes on after Stop")
		}
	}
}

// TestWatchContext: the end of the context ends a watch; bookmarks are of the watched type.
func TestWatchContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newTestSource(t, 0, SourceOptions{BookmarkEvery: time.Second, Example: &corev1.Node{}})
		ctx, cancel := context.WithCancel(t.Context())
		w := must[watch.Interface](t)(
			s.WatchWithContext(ctx, metav1.ListOptions{ResourceVersion: "1", AllowWatchBookmarks: true}))
		start := time.Now()
		if e := <-w.ResultChan(); e.Type != watch.Bookmark ||
			reflect.TypeOf(e.Object) != reflect.TypeOf(&corev1.Node{}) {
			t.Errorf("got %v with a %T, want a bookmark that is a node", e.Type, e.Object)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("the bookmark came after %v, want 1s", took)
		}
		cancel()
		if got := drain(w, 1); got[0] != "closed" {
			t.Errorf("after the context's end: %q", got)
		}
	})
}
