package informer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

func watchPanics(context.Context) (watch.Interface, error) { panic("boom") }

func unstructuredPod(apiVersion, name, version string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": "Pod",
		"metadata": map[string]any{"name": name, "resourceVersion": version},
	}}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	listed := []listAnswer{gives("5", "", "a")}
	twice := []listAnswer{gives("5", "", "a"), gives("9", "", "z")}
	first := []string{"list 0 limit 500", "watch 5"}
	with := func(requests ...string) []string { return append(slices.Clone(first), requests...) }
	refused := fmt.Errorf("dial tcp: %w", syscall.ECONNREFUSED)
	runScripts(t, []scripted{
		{
			name:  "every event, in order, and its version",
			lists: listed, watches: []watchAnswer{
				sends(events("ADDED b 6", "MODIFIED a 7", "DELETED b 8")...)},
			requests: first, calls: []string{"replace 5: a", "add b", "update a", "delete b"}, version: "8",
		}, {
			name:  "a watch that ends regularly is followed by the next, at once",
			lists: listed, watches: []watchAnswer{ends(events("ADDED b 6")...),
				ends(events("MODIFIED b 7")...)},
			requests: with("watch 6", "watch 7"), version: "7",
		}, {
			name:  "bookmarks advance the version and reach a store that wants them",
			store: &powerfulTape{},
			lists: listed, watches: []watchAnswer{
				ends(append(events("ADDED b 6"), bookmark("8", false))...)},
			requests: with("watch 8"), version: "8",
			calls: []string{"replace 5: a", "add b", "version 6", "bookmark 8", "version 8"},
		}, {
			name:  "bookmarks and a store that does not want them",
			lists: listed, watches: []watchAnswer{sends(bookmark("8", true))},
			calls: []string{"replace 5: a"}, version: "8",
		}, {
			name:  "an unknown event is reported, and its version counts",
			lists: listed, watches: []watchAnswer{sends(events("RENAMED b 6")...)},
			requests: first, calls: []string{"replace 5: a"}, version: "6",
			reported: []string{"Unknown watch event"},
		}, {
			name:  "another type is reported and left out",
			lists: listed, watches: []watchAnswer{
				sends(watch.Event{Type: watch.Added, Object: &corev1.Node{}}, event("ADDED b 6"))},
			calls:    []string{"replace 5: a", "add b"},
			reported: []string{"Unexpected watch event object type"},
		}, {
			name:  "an event without an object",
			lists: listed, watches: []watchAnswer{sends(watch.Event{Type: watch.Added}, event("ADDED b 6"))},
			calls:    []string{"replace 5: a", "add b"},
			reported: []string{"Unexpected watch event object type"},
		}, {
			name: "an event without an object, where any type goes", expected: nothingExpected{},
			lists: listed, watches: []watchAnswer{sends(watch.Event{Type: watch.Added}, event("ADDED b 6"))},
			calls: []string{"replace 5: a", "add b"}, reported: []string{"Unable to understand watch event"},
		}, {
			name: "another kind is reported and left out", expected: unstructuredPod("v1", "", ""),
			lists: []listAnswer{gives("5", "")}, watches: []watchAnswer{sends(
				watch.Event{Type: watch.Added, Object: unstructuredPod("v2", "a", "6")},
				watch.Event{Type: watch.Added, Object: unstructuredPod("v1", "b", "7")})},
			calls: []string{"replace 5: ", "add b"}, reported: []string{"Unexpected watch event object gvk"},
		}, {
			name: "a table is reported and left out", expected: &unstructured.Unstructured{},
			lists:   []listAnswer{gives("5", "")},
			watches: []watchAnswer{sends(watch.Event{Type: watch.Added, Object: table(false)})},
			calls:   []string{"replace 5: "}, reported: []string{"Unsupported watch event object gvk"},
			version: "5",
		}, {
			name:  "after an object without a version the next watch brings every object",
			lists: listed, watches: []watchAnswer{ends(events("ADDED b 6", "MODIFIED b", "DELETED b")...)},
			requests: with("watch"), calls: []string{"replace 5: a", "add b", "update b", "delete b"},
		}, {
			name:  "a store that refuses events is reported, the others go on",
			store: &tape{fail: map[string]int{"add": 1, "update": 1, "delete": 1}},
			lists: listed, watches: []watchAnswer{sends(events("ADDED b 6", "ADDED c 7")...)},
			calls: []string{"replace 5: a", "add b", "add c"}, version: "7",
			reported: []string{"The store refused a watch event"},
		}, {
			name:  "gone: listed at the known version, nobody is told",
			lists: twice, watches: []watchAnswer{sends(event("ADDED b 6"), errorEvent(errGone))},
			requests: with("list 6", "watch 9"), calls: []string{"replace 5: a", "add b", "replace 9: z"},
		}, {
			name:  "gone on the request itself: the handler is told",
			lists: twice, watches: []watchAnswer{watchFails(errGone)},
			requests: with("list 5", "watch 9"), handled: []string{"too old"},
			reported: []string{"Watch closed"},
		}, {
			name:  "an error that nothing is known of: listed again",
			lists: twice, watches: []watchAnswer{
				sends(watch.Event{Type: watch.Error, Object: testPod("a", "6")})},
			requests: with("list 5", "watch 9"), reported: []string{"Warning: watch ended with error"},
		}, {
			name:  "internal error: listed again",
			lists: twice, watches: []watchAnswer{sends(errorEvent(errInternal))},
			requests: with("list 5", "watch 9"), reported: []string{"Warning: watch ended with error"},
		}, {
			name:    "internal errors within the time that is allowed for them: watched again",
			options: ReflectorOptions{MaxInternalErrorRetryDuration: time.Minute},
			lists:   listed, watches: []watchAnswer{sends(errorEvent(errInternal)),
				sends(event("ADDED b 6"), errorEvent(errInternal))},
			requests: with("watch 5", "watch 6"), reported: []string{"!Warning"},
		}, {
			name:    "internal errors beyond it: listed again",
			options: ReflectorOptions{MaxInternalErrorRetryDuration: 4 * time.Second},
			lists:   twice, watches: slices.Repeat([]watchAnswer{sends(errorEvent(errInternal))}, 9),
			lasts: 20 * time.Second,
			// Watches at 0, 1, 3 and 7 s, each fails; a list at 15 s.
			requests: with("watch 5", "watch 5", "watch 5", "list 5", "watch 9"),
			reported: []string{"Warning: watch ended with error"},
		}, {
			name:  "too many requests, at once or later: watched again, not listed",
			lists: listed, watches: []watchAnswer{watchFails(errBusy),
				sends(event("ADDED b 6"), errorEvent(errBusy))},
			requests: with("watch 5", "watch 6"),
		}, {
			name:  "connection refused: watched again, not listed",
			lists: listed, watches: slices.Repeat([]watchAnswer{watchFails(refused)}, 3),
			requests: with("watch 5", "watch 5", "watch 5"), calls: []string{"replace 5: a"},
		}, {
			name:  "the connection ends: the handler is told, the log is silent",
			lists: twice, watches: []watchAnswer{watchFails(io.EOF)}, handled: []string{"EOF"},
			requests: with("list 5", "watch 9"), reported: []string{"!EOF", "!Failed"},
		}, {
			name:  "the connection breaks: in the log",
			lists: twice, watches: []watchAnswer{watchFails(io.ErrUnexpectedEOF)},
			handled:  []string{"unexpected EOF"},
			requests: with("list 5", "watch 9"),
			reported: []string{"Watch closed with unexpected EOF", "!Failed"},
		}, {
			name:  "a wrapped end of a connection: reported, since it may come again and again",
			lists: twice, watches: []watchAnswer{watchFails(fmt.Errorf("dial: %w", io.EOF))},
			handled:  []string{"dial: EOF"},
			requests: with("list 5", "watch 9"), reported: []string{"Failed to watch"},
		}, {
			name:  "any other refusal: the handler is told",
			lists: twice, watches: []watchAnswer{watchFails(errors.New("no route"))},
			handled:  []string{"no route"},
			requests: with("list 5", "watch 9"), reported: []string{"Failed to watch"},
		}, {
			name:  "neither a watch nor an error",
			lists: twice, watches: []watchAnswer{watchFails(nil)},
			handled:  []string{"neither a watch nor an error"},
			requests: with("list 5", "watch 9"),
		}, {
			name:  "a very short watch is reported",
			lists: twice, watches: []watchAnswer{ends()},
			requests: with("list 5", "watch 9"), reported: []string{"very short watch: scripted"},
		}, {
			name:  "a watch of strange events alone is a very short one",
			lists: twice, watches: []watchAnswer{
				ends(watch.Event{Type: watch.Added, Object: &corev1.Node{}})},
			requests: with("list 5", "watch 9"), reported: []string{"very short watch: scripted"},
		}, {
			name:  "a short watch with a bookmark is none",
			lists: listed, watches: []watchAnswer{ends(bookmark("6", false))},
			requests: with("watch 6"), reported: []string{"!very short"},
		}, {
			name:  "from no version, the additions at the beginning come in no order",
			lists: []listAnswer{gives("", "", "a")},
			watches: []watchAnswer{ends(events("ADDED b 8", "ADDED a 3")...),
				ends(events("ADDED b 8", "ADDED a 3", "MODIFIED a 9", "ADDED c 10")...)},
			requests: []string{"list 0 limit 500", "watch", "watch", "watch 10"}, version: "10",
		},
	})
}

// TestWatchTimeout: each watch asks for between one and two times the minimum.
func TestWatchTimeout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ minimum, least, most time.Duration }{
		{0, DefaultMinWatchTimeout, 2 * DefaultMinWatchTimeout},
		{10 * time.Minute, 10 * time.Minute, 20 * time.Minute},
		{20 * time.Second, 20 * time.Second, 40 * time.Second},
		{time.Millisecond, time.Second, time.Second}, // 0 would mean no timeout
	} {
		s := &script{watches: slices.Repeat([]watchAnswer{sends()}, 200)}
		r := NewReflector(s, nil, &tape{}, ReflectorOptions{MinWatchTimeout: c.minimum})
		for range 200 {
			if _, err := r.openWatch(t.Context(), metav1.ListOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		least, most := slices.Min(s.timeouts), slices.Max(s.timeouts)
		if float64(least) < c.least.Seconds() || float64(most) > c.most.Seconds() {
			t.Errorf("with %v the timeouts are %d to %d s, want %v to %v", c.minimum, least, most, c.least,
				c.most)
		}
		if c.least < c.most && least == most {
			t.Errorf("with %v every timeout is %d s", c.minimum, least)
		}
	}
}

func TestResync(t *testing.T) {
	t.Parallel()
	idle := []watchAnswer{sends()}
	asked := 0
	runScripts(t, []scripted{
		{
			name: "at its period", options: ReflectorOptions{ResyncPeriod: 20 * time.Second},
			lasts: 70 * time.Second,
			lists: []listAnswer{gives("5", "", "a")}, watches: idle,
			calls: []string{"replace 5: a", "resync", "resync", "resync"},
		}, {
			name: "never", lists: []listAnswer{gives("5", "", "a")}, watches: idle, lasts: 24 * time.Hour,
			calls: []string{"replace 5: a"},
		}, {
			name: "when it should",
			options: ReflectorOptions{ResyncPeriod: 20 * time.Second, ShouldResync: func() bool {
				asked++
				return asked == 2
			}}, lasts: 70 * time.Second,
			lists: []listAnswer{gives("5", "", "a")}, watches: idle,
			calls: []string{"replace 5: a", "resync"},
		}, {
			name:    "while the server does not answer",
			options: ReflectorOptions{ResyncPeriod: 20 * time.Second}, lasts: 50 * time.Second,
			lists: []listAnswer{gives("5", "", "a")}, calls: []string{"replace 5: a", "resync", "resync"},
		}, {
			name:     "one that fails leads to a list",
			options:  ReflectorOptions{ResyncPeriod: 50 * time.Second},
			store:    &tape{fail: map[string]int{"resync": 1}},
			lists:    []listAnswer{gives("5", "", "a"), gives("6", "", "b")},
			watches:  []watchAnswer{sends(), sends()},
			requests: []string{"list 0 limit 500", "watch 5", "list 5", "watch 6"},
			reported: []string{"Warning: resync failed"},
		},
	})
}

// TestStopIsPrompt: wherever the Reflector waits, it returns as soon as the context
// ends, and a watch that a ListerWatcher comes back with later is stopped.
func TestStopIsPrompt(t *testing.T) {
	t.Parallel()
	hangs := func(release chan struct{}, w *scriptWatch) watchAnswer {
		return func(context.Context) (watch.Interface, error) { <-release; return w, nil }
	}
	for _, streaming := range []bool{false, true} {
		for name, scripted := range map[string]func(release chan struct{}, late *scriptWatch) *script{
			"a list that ignores its context": func(release chan struct{}, _ *scriptWatch) *script {
				return &script{watches: []watchAnswer{watchFails(errInternal)},
					lists: []listAnswer{func(ctx context.Context) (_ runtime.Object, _ error) {
						<-release
						return gives("5", "", "a")(ctx)
					}}}
			},
			"a watch request that ignores its context": func(release chan struct{},
				late *scriptWatch) *script {
				return &script{lists: []listAnswer{gives("5", "", "a")},
					watches: []watchAnswer{hangs(release, late)}}
			},
			"a silent watch": func(chan struct{}, *scriptWatch) *script {
				return &script{lists: []listAnswer{gives("5", "", "a")}, watches: []watchAnswer{sends()}}
			},
			"a back-off": func(chan struct{}, *scriptWatch) *script {
				return &script{lists: slices.Repeat([]listAnswer{listFails(errInternal)}, 99),
					watches: slices.Repeat([]watchAnswer{watchFails(errInternal)}, 99)}
			},
			"a back-off of a watch": func(chan struct{}, *scriptWatch) *script {
				return &script{lists: []listAnswer{gives("5", "", "a")},
					watches: slices.Repeat([]watchAnswer{watchFails(errBusy)}, 99)}
			},
			"an endless stream of events": func(release chan struct{}, _ *scriptWatch) *script {
				full := make(chan watch.Event)
				go func() {
					for {
						select {
						case full <- event("ADDED a 6"):
						case <-release:
							return
						}
						select {
						case <-time.After(time.Millisecond):
						case <-release:
							return
						}
					}
				}()
				return &script{lists: []listAnswer{gives("5", "", "a")},
					watches: []watchAnswer{func(context.Context) (watch.Interface, error) {
						return &scriptWatch{result: full}, nil
					}}}
			},
		} {
			t.Run(fmt.Sprintf("%s, streaming %t", name, streaming), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					release, late := make(chan struct{}), &scriptWatch{result: make(chan watch.Event)}
					s := scripted(release, late)
					var handled []error
					r := NewReflector(s, &corev1.Pod{}, &tape{},
						ReflectorOptions{UseWatchList: &streaming, ResyncPeriod: time.Hour,
							WatchErrorHandler: func(_ context.Context, _ *Reflector, err error) {
								handled = append(handled, err)
							}})
					stop := make(chan struct{})
					var running sync.WaitGroup
					running.Go(func() { r.Run(stop) })
					time.Sleep(9 * time.Second)
					synctest.Wait()
					told := len(handled)
					cancelled := time.Now()
					close(stop)
					running.Wait()
					if took := time.Since(cancelled); took != 0 {
						t.Errorf("the stop took %v", took)
					}
					if len(handled) != told {
						t.Errorf("the stop was reported as an error: %v", handled[told:])
					}
					close(release)
					synctest.Wait()
					if name == "a watch request that ignores its context" && late.stops.Load() != 1 {
						t.Error("the late watch was not stopped")
					}
				})
			})
		}
	}
}

// TestEventsCostNoAllocation: a thousand events more, not one allocation more.
func TestEventsCostNoAllocation(t *testing.T) {
	store := &nothing{}
	r := NewReflector(&script{}, &corev1.Pod{}, store, ReflectorOptions{})
	batch := events("ADDED a 6", "MODIFIED a 7", "DELETED a 8")
	cost := func(n int) float64 {
		return testing.AllocsPerRun(10, func() {
			w := &scriptWatch{result: make(chan watch.Event, 3000)}
			for range n {
				for _, e := range batch {
					w.result <- e
				}
			}
			close(w.result)
			s := session{r: r, w: w, sink: store, started: time.Now(), ordered: true}
			if err := s.run(t.Context()); err != nil || s.events != 3*n {
				t.Errorf("%d events, error %v", s.events, err)
			}
		})
	}
	// Both numbers are too large for the runtime's table of small integers, which
	// spares the log at the end of a watch an allocation.
	if few, many := cost(100), cost(1000); many > few {
		t.Errorf("%v allocations for 300 events, %v for 3000", few, many)
	}
}

// nothing is a store that forgets.
type nothing struct{ replaced int }

func (*nothing) Add(any) error    { return nil }
func (*nothing) Update(any) error { return nil }
func (*nothing) Delete(any) error { return nil }
func (*nothing) Resync() error    { return nil }
func (s *nothing) Replace(items []any, _ string) error {
	s.replaced = len(items)
	return nil
}

func TestDescriptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		expected any
		want     string
	}{
		{nil, "<unspecified>"},
		{&corev1.Pod{}, "*v1.Pod"},
		{&unstructured.Unstructured{}, "*unstructured.Unstructured"},
		{unstructuredPod("v1", "", ""), "/v1, Kind=Pod"},
	} {
		if got := NewReflector(&script{}, c.expected, &nothing{},
			ReflectorOptions{}).TypeDescription(); got != c.want {
			t.Errorf("%T is described as %q, want %q", c.expected, got, c.want)
		}
	}
	r := NewReflector(&script{}, nil, &nothing{},
		ReflectorOptions{Name: "mine", TypeDescription: "things", UseWatchList: ptr.To(true)})
	if r.Name() != "mine" || r.TypeDescription() != "things" || !r.useWatchList {
		t.Errorf("the options are not kept: %q, %q, %t", r.Name(), r.TypeDescription(), r.useWatchList)
	}
	if name := NewReflector(&script{}, nil, &nothing{}, ReflectorOptions{}).Name(); name == "" ||
		name == "????" {
		t.Errorf("a reflector without a name is called %q", name)
	}
}
