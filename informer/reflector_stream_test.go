package informer

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/consistencydetector"
	"k8s.io/utils/ptr"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/objects/packed"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

// streamOf is a streaming list that ends at a version, and what comes after it.
func streamOf(version string, initial []watch.Event, later ...watch.Event) []watch.Event {
	return slices.Concat(initial, []watch.Event{bookmark(version, true)}, later)
}

func TestWatchList(t *testing.T) {
	t.Parallel()
	streaming := ReflectorOptions{UseWatchList: ptr.To(true)}
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil)
	forbidden := &apierrors.StatusError{
		ErrStatus: metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
			Message: "no"}}
	raw := watch.Event{Type: watch.Added, Object: testPod("b", "2")}
	raw.Object.(*corev1.Pod).Labels = map[string]string{"raw": "yes"}
	cases := []scripted{
		{
			name: "one request brings the state and goes on as the watch",
			watches: []watchAnswer{
				sends(streamOf("5", events("ADDED a 3", "ADDED b 2"),
					events("ADDED c 6", "MODIFIED a 7")...)...)},
			requests: []string{"stream"}, calls: []string{"replace 5: a b", "add c", "update a"},
			version: "7",
		}, {
			name:     "no objects",
			watches:  []watchAnswer{sends(bookmark("5", true))},
			requests: []string{"stream"}, calls: []string{"replace 5: "}, version: "5",
		}, {
			name:     "the next watch goes on from the bookmark",
			watches:  []watchAnswer{ends(streamOf("5", events("ADDED a 3"), event("ADDED b 6"))...)},
			requests: []string{"stream", "watch 6"},
		}, {
			name: "changes before the end, in any order of names",
			watches: []watchAnswer{
				sends(streamOf("9", events("ADDED c 3", "ADDED a 2", "ADDED b 1", "MODIFIED c 6", "DELETED a 7",
					"DELETED x 8", "MODIFIED y 9", "ADDED b 9"))...)},
			requests: []string{"stream"}, calls: []string{"replace 9: c b y"}, version: "9",
		}, {
			name: "a relist asks for at least the known version",
			watches: []watchAnswer{
				ends(streamOf("5", events("ADDED a 3"), event("ADDED b 6"), errorEvent(errGone))...),
				sends(streamOf("8", events("ADDED c 8"))...)},
			requests: []string{"stream", "stream 6"},
			calls:    []string{"replace 5: a", "add b", "replace 8: c"}, version: "8",
		}, {
			name: "the known version is gone: the newest, and no list",
			watches: []watchAnswer{ends(append(streamOf("5", nil), errorEvent(errGone))...),
				watchFails(errGone), sends(bookmark("8", true), errorEvent(errGone)),
				sends(errorEvent(errFuture("today"))), sends(streamOf("9", events("ADDED c 8"))...)},
			requests: []string{"stream", "stream 5", "stream", "stream 8", "stream"}, version: "9",
		}, {
			name:    "gone even for the newest version, which makes no sense: a list",
			watches: []watchAnswer{watchFails(errGone)}, lists: []listAnswer{gives("5", "", "a")},
			requests: []string{"stream", "list 0 limit 500", "watch 5"},
		}, {
			name:    "a server that does not know streaming lists: a list, and nobody is told",
			watches: []watchAnswer{watchFails(invalid), sends()}, lists: []listAnswer{gives("5", "", "a")},
			requests: []string{"stream", "list 0 limit 500", "watch 5"}, calls: []string{"replace 5: a"},
			reported: []string{"falling back to a list", "!Failed"},
		}, {
			name: "each time anew",
			watches: []watchAnswer{watchFails(forbidden), ends(errorEvent(errGone)), watchFails(forbidden),
				sends()}, lists: []listAnswer{gives("5", "", "a"), gives("6", "", "b")},
			requests: []string{"stream", "list 0 limit 500", "watch 5", "stream 5", "list 5", "watch 6"},
		}, {
			name: "too many requests: streamed again after a while",
			watches: []watchAnswer{watchFails(errBusy), sends(errorEvent(errBusy)),
				sends(streamOf("5", events("ADDED a 3"))...)},
			requests: []string{"stream", "stream", "stream"}, calls: []string{"replace 5: a"},
		}, {
			name: "ended early: begun anew, with nothing of before",
			watches: []watchAnswer{ends(events("ADDED a 3", "ADDED b 2")...),
				sends(streamOf("5", events("ADDED b 2"))...)},
			requests: []string{"stream", "stream"}, calls: []string{"replace 5: b"},
		}, {
			name: "ended early every time: a list at last (kubernetes#140890)",
			watches: slices.Concat(
				slices.Repeat([]watchAnswer{ends(events("ADDED a 3")...)}, maxIncompleteStreams),
				[]watchAnswer{sends()}), lists: []listAnswer{gives("5", "", "a")},
			requests: []string{"stream", "stream", "stream", "list 0 limit 500", "watch 5"},
			calls:    []string{"replace 5: a"},
		}, {
			name:    "ended at once: a list",
			watches: []watchAnswer{ends(), sends()}, lists: []listAnswer{gives("5", "", "a")},
			requests: []string{"stream", "list 0 limit 500", "watch 5"},
		}, {
			name:     "an error in the middle: a list",
			watches:  []watchAnswer{sends(event("ADDED a 3"), errorEvent(errInternal)), sends()},
			lists:    []listAnswer{gives("5", "", "b")},
			requests: []string{"stream", "list 0 limit 500", "watch 5"}, calls: []string{"replace 5: b"},
		}, {
			name:     "a store that refuses is asked once more, by a list",
			store:    &tape{fail: map[string]int{"replace": 1}},
			watches:  []watchAnswer{sends(bookmark("5", true)), sends()},
			lists:    []listAnswer{gives("6", "", "a")},
			requests: []string{"stream", "list 0 limit 500", "watch 6"}, version: "6",
		}, {
			name:  "another bookmark is not the end, and no bookmark reaches the store before the state",
			store: &powerfulTape{},
			watches: []watchAnswer{
				sends(event("ADDED a 3"), bookmark("4", false), event("ADDED b 5"), bookmark("5", true),
					bookmark("6", false))},
			calls: []string{"replace 5: a+trimmed b+trimmed", "bookmark 6", "version 6"},
		}, {
			name:    "an object that cannot be transformed is left out",
			store:   &powerfulTape{},
			watches: []watchAnswer{sends(streamOf("5", []watch.Event{event("ADDED a 3"), raw})...)},
			calls:   []string{"replace 5: a+trimmed"}, reported: []string{"left out"},
		}, {
			name: "what is strange is reported and left out",
			watches: []watchAnswer{
				sends(streamOf("5", []watch.Event{{Type: watch.Added, Object: &corev1.Node{}},
					event("RENAMED a 3"), event("ADDED b 4")})...)},
			calls:    []string{"replace 5: b"},
			reported: []string{"Unexpected watch event object type", "Unknown watch event"},
		},
	}
	for i := range cases {
		cases[i].options = streaming
	}
	runScripts(t, cases)
}

// renamingTape transforms objects into others of another name, or into what has none.
type renamingTape struct {
	tape
	to func(*corev1.Pod) any
}

func (s *renamingTape) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) { return s.to(obj.(*corev1.Pod)), nil }
}

// TestStreamOfRenamedObjects: the server goes on to use the names that a transform changes.
func TestStreamOfRenamedObjects(t *testing.T) {
	t.Parallel()
	stream := []watchAnswer{
		sends(streamOf("9", events("ADDED a 1", "ADDED b 2", "ADDED c 3", "MODIFIED b 4",
			"DELETED c 5"))...)}
	runScripts(t, []scripted{{
		name: "other names", options: ReflectorOptions{UseWatchList: ptr.To(true)}, watches: stream,
		store: &renamingTape{to: func(p *corev1.Pod) any {
			return testPod("x-"+p.Name, p.ResourceVersion)
		}},
		calls: []string{"replace 9: x-a x-b"},
	}, {
		name: "no names", options: ReflectorOptions{UseWatchList: ptr.To(true)}, watches: stream,
		store: &renamingTape{to: func(p *corev1.Pod) any { return p.Name }},
		calls: []string{"replace 9: <string> <string>"},
	}})
}

// panickingTape is a store whose Replace panics.
type panickingTape struct{ tape }

func (*panickingTape) Replace([]any, string) error { panic("on purpose") }

// TestStreamIsClosedAfterAPanic: where panics are survived, each attempt would leave a watch.
func TestStreamIsClosedAfterAPanic(t *testing.T) {
	t.Parallel()
	s := &script{watches: []watchAnswer{sends(streamOf("5", events("ADDED a 3"))...)}}
	r := NewReflector(s, &corev1.Pod{}, &panickingTape{}, ReflectorOptions{UseWatchList: ptr.To(true)})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the Reflector hides the panic")
			}
		}()
		_ = r.ListAndWatchWithContext(t.Context())
	}()
	if len(s.opened) != 1 || s.opened[0].stops.Load() != 1 {
		t.Errorf("%d watches were opened, and not stopped", len(s.opened))
	}
}

// TestSilentStreamIsGivenUp: what it brought is listed, and the log says why.
func TestSilentStreamIsGivenUp(t *testing.T) {
	t.Parallel()
	runScripts(t, []scripted{{
		name: "in the log", options: ReflectorOptions{UseWatchList: ptr.To(true)},
		lasts:   15 * time.Second,
		watches: []watchAnswer{sends(events("ADDED a 3")...), sends()},
		lists:   []listAnswer{gives("5", "", "a")}, calls: []string{"replace 5: a"},
		reported: []string{"the streaming list has no end"},
		requests: []string{"stream", "list 0 limit 500", "watch 5"},
	}})
}

type oldClient struct{ script }

func (*oldClient) IsWatchListSemanticsUnSupported() bool { return true }

// TestUseWatchList: the default is what the feature gate (on since 1.35) and the
// client say; an option overrules both.
func TestUseWatchList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		old    bool
		option *bool
		want   bool
	}{
		{false, nil, true}, {true, nil, false}, {true, ptr.To(true), true}, {false, ptr.To(false), false},
	} {
		o := ReflectorOptions{UseWatchList: c.option}
		r := NewReflector(&script{}, nil, &nothing{}, o)
		if c.old {
			r = NewReflector(&oldClient{}, nil, &nothing{}, o)
		}
		if r.useWatchList != c.want {
			t.Errorf("%+v: streaming lists: %t", c, r.useWatchList)
		}
	}
}

// TestConsistencyDetector: client-go's check of streaming lists in CI works with
// this Reflector: it is silent about the right list and panics about a wrong one, however objects
// are kept.
func TestConsistencyDetector(t *testing.T) {
	defer consistencydetector.SetDataConsistencyDetectionForWatchListEnabledForTest(true)()
	over := func(keeper contract.ObjectKeeper) *feed {
		return newFeed(&Config{FIFO: deltafifo.NewInOrder(contract.FIFOConfig{}, deltafifo.Options{}),
			keeper: keeper}, nil)
	}
	for _, store := range []cache.ReflectorStore{&nothing{}, over(nil), over(packed.New(packed.Options{}))} {
		for name, wrong := range map[string]bool{"a": false, "b": true} {
			s := &script{
				watches: []watchAnswer{sends(streamOf("5", events("ADDED a 5"), errorEvent(errGone))...)},
				lists: []listAnswer{func(context.Context) (runtime.Object, error) {
					return &corev1.PodList{Items: []corev1.Pod{*testPod(name, "5")}}, nil
				}},
			}
			r := NewReflector(s, &corev1.Pod{}, store, ReflectorOptions{UseWatchList: ptr.To(true)})
			var log logs
			func() {
				defer func() {
					p := recover()
					if (p != nil) != wrong || wrong && !strings.Contains(fmt.Sprint(p), "inconsistency") {
						t.Errorf("%T, the list has %q: panic %v", store, name, p)
					}
				}()
				if err := r.ListAndWatchWithContext(log.context(t.Context())); err != nil {
					t.Errorf("%T, the list has %q: error %v", store, name, err)
				}
			}()
		}
	}
}

// TestInitialItems compares the collection with a map, over random events.
func TestInitialItems(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var l initialItems
		model := map[string]any{}
		inOrder := rng.IntN(31)
		for i := range inOrder {
			pod := testPod(fmt.Sprintf("ns/%02d", i), "1")
			model[pod.Name] = pod
			if err := l.Add(pod); err != nil {
				t.Fatal(err)
			}
		}
		if l.index != nil {
			t.Fatal("an index was built though nothing was out of order")
		}
		for range rng.IntN(61) {
			pod := testPod(fmt.Sprintf("ns/%02d", rng.IntN(41)), "2")
			var err error
			switch []watch.EventType{watch.Added, watch.Modified, watch.Deleted}[rng.IntN(3)] {
			case watch.Added:
				err = l.Add(pod)
				model[pod.Name] = pod
			case watch.Modified:
				err = l.Update(pod)
				model[pod.Name] = pod
			default:
				err = l.Delete(pod)
				delete(model, pod.Name)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		got := map[string]any{}
		items := l.list(func(err error) { t.Error(err) })
		for _, obj := range items {
			got[obj.(*corev1.Pod).Name] = obj
		}
		if len(items) != len(model) || !maps.Equal(got, model) {
			t.Fatalf("seed %d: got %d objects, want %d, or they differ", seed, len(items), len(model))
		}
	}
	if (&initialItems{}).Add("no object") == nil || (&initialItems{}).Delete("no object") == nil {
		t.Error("what has no name is taken")
	}
}

// TestInKeyOrder: the order is that of the keys, put together.
func TestInKeyOrder(t *testing.T) {
	t.Parallel()
	names := []string{""}
	for n := 0; n < 5; n++ { // every name of at most two letters
		for _, letter := range []string{"a", "b", ".", "-"} {
			names = append(names, names[n]+letter)
		}
	}
	var all []types.NamespacedName
	for _, namespace := range names {
		for _, name := range names {
			all = append(all, types.NamespacedName{Namespace: namespace, Name: name})
		}
	}
	for _, a := range all {
		for _, b := range all {
			if got, want := inKeyOrder(a, b), a.String() < b.String(); got != want {
				t.Errorf("%v before %v: %t", a, b, got)
			}
		}
	}
}
