package informer

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// script is a ListerWatcher that answers each request with the next answer of its
// kind, and never answers once they are used up. It writes down the requests.
type script struct {
	lists   []listAnswer
	watches []watchAnswer // of streaming lists too

	mu       sync.Mutex
	requests []string
	times    []time.Time
	timeouts []int64
	opened   []*scriptWatch
}

type (
	listAnswer  func(context.Context) (runtime.Object, error)
	watchAnswer func(context.Context) (watch.Interface, error)
)

func (s *script) List(o metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), o)
}

func (s *script) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), o)
}

func (s *script) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object,
	error) {
	text := "list " + o.ResourceVersion
	switch o.ResourceVersionMatch {
	case "":
	case metav1.ResourceVersionMatchNotOlderThan:
		text += " or newer"
	default:
		text += " match " + string(o.ResourceVersionMatch)
	}
	if o.Limit != 0 {
		text += fmt.Sprintf(" limit %d", o.Limit)
	}
	if o.Continue != "" {
		text += " continue " + o.Continue
	}
	answer := next(s, &s.lists, text, nil)
	if answer == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return (*answer)(ctx)
}

func (s *script) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface,
	error) {
	text := "watch " + o.ResourceVersion
	if ptr.Deref(o.SendInitialEvents, false) {
		text = "stream " + o.ResourceVersion
		if o.ResourceVersionMatch != metav1.ResourceVersionMatchNotOlderThan {
			text += " without a match"
		}
	}
	if !o.AllowWatchBookmarks {
		text += " without bookmarks"
	}
	answer := next(s, &s.watches, text, o.TimeoutSeconds)
	if answer == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	w, err := (*answer)(ctx)
	if sw, ok := w.(*scriptWatch); ok {
		s.mu.Lock()
		s.opened = append(s.opened, sw)
		s.mu.Unlock()
	}
	return w, err
}

func next[A any](s *script, answers *[]A, request string, timeout *int64) *A {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, strings.TrimSpace(request))
	s.times = append(s.times, time.Now())
	if timeout != nil {
		s.timeouts = append(s.timeouts, *timeout)
	}
	if len(*answers) == 0 {
		return nil
	}
	a := (*answers)[0]
	*answers = (*answers)[1:]
	return &a
}

// gives answers a list request with pods at a version; token is the next page's.
func gives(version, token string, names ...string) listAnswer {
	return func(context.Context) (runtime.Object, error) {
		l := &metainternal.List{ListMeta: metav1.ListMeta{ResourceVersion: version, Continue: token}}
		for _, name := range names {
			l.Items = append(l.Items, testPod(name, version))
		}
		return l, nil
	}
}

func page(obj runtime.Object) listAnswer {
	return func(context.Context) (runtime.Object, error) { return obj, nil }
}

func listFails(err error) listAnswer {
	return func(context.Context) (runtime.Object, error) { return nil, err }
}

func watchFails(err error) watchAnswer {
	return func(context.Context) (watch.Interface, error) { return nil, err }
}

// scriptWatch is a watch whose events are there already.
type scriptWatch struct {
	result chan watch.Event
	stops  atomic.Int32
}

func (w *scriptWatch) ResultChan() <-chan watch.Event { return w.result }
func (w *scriptWatch) Stop()                          { w.stops.Add(1) }

// sends answers a watch request with events; the watch stays open.
func sends(events ...watch.Event) watchAnswer {
	return func(context.Context) (watch.Interface, error) {
		w := &scriptWatch{result: make(chan watch.Event, len(events))}
		for _, e := range events {
			w.result <- e
		}
		return w, nil
	}
}

// ends is sends, and then the server closes the watch.
func ends(events ...watch.Event) watchAnswer {
	return func(ctx context.Context) (watch.Interface, error) {
		w, err := sends(events...)(ctx)
		close(w.(*scriptWatch).result)
		return w, err
	}
}

// testPod makes a pod in the namespace ns, or where a name with a slash says.
func testPod(name, version string) *corev1.Pod {
	namespace, rest, found := strings.Cut(name, "/")
	if !found {
		namespace, rest = "ns", name
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: rest, ResourceVersion: version}}
}

// event makes one from text: "ADDED a 5".
func event(text string) watch.Event {
	f := strings.Fields(text + " ")
	version := ""
	if len(f) > 2 {
		version = f[2]
	}
	return watch.Event{Type: watch.EventType(f[0]), Object: testPod(f[1], version)}
}

func events(texts ...string) []watch.Event {
	out := make([]watch.Event, len(texts))
	for i, text := range texts {
		out[i] = event(text)
	}
	return out
}

func bookmark(version string, end bool) watch.Event {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
	if end {
		pod.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	}
	return watch.Event{Type: watch.Bookmark, Object: pod}
}

func errorEvent(err error) watch.Event {
	status := err.(interface{ Status() metav1.Status }).Status()
	return watch.Event{Type: watch.Error, Object: &status}
}

// logs collects what is logged and what is reported as an error.
type logs struct {
	mu    sync.Mutex
	lines []string
}

func (l *logs) context(ctx context.Context) context.Context {
	return klog.NewContext(ctx, funcr.New(func(_, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, args)
	}, funcr.Options{Verbosity: 9}))
}

func (l *logs) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// scripted is one scripted run of a Reflector and its expected outcome. Nil fields are not
// checked.
type scripted struct {
	name     string
	options  ReflectorOptions
	expected any // default: a pod; see nothingExpected
	store    cache.ReflectorStore
	lists    []listAnswer
	watches  []watchAnswer
	lasts    time.Duration // default 1 minute

	requests []string
	calls    []string // of the store
	version  string   // the last
	handled  []string // what the errors contain that the watch error handler was told
	reported []string // what the log contains, once each; a leading "!" says that it does not
}

// nothingExpected stands for an expected type of nil.
type nothingExpected struct{}

// runScripts runs each case in a bubble of its own. A request too many is seen
// too: a script that is used up writes it down and does not answer.
func runScripts(t *testing.T, cases []scripted) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, c.run)
		})
	}
}

func (c scripted) run(t *testing.T) {
	s := &script{lists: c.lists, watches: c.watches}
	var log logs
	var handled []error
	store := c.store
	if store == nil {
		store = &tape{}
	}
	var expected any = &corev1.Pod{}
	switch c.expected.(type) {
	case nil:
	case nothingExpected:
		expected = nil
	default:
		expected = c.expected
	}
	c.options.Name = "scripted"
	if c.options.UseWatchList == nil {
		c.options.UseWatchList = ptr.To(false)
	}
	// the default's waits are random, and with them what happens within a time
	if c.options.Backoff == nil {
		c.options.Backoff = &wait.Backoff{Duration: time.Second, Factor: 2, Steps: 9,
			Cap: 30 * time.Second}
	}
	c.options.WatchErrorHandler = func(ctx context.Context, r *Reflector, err error) {
		handled = append(handled, err)
		DefaultWatchErrorHandler(ctx, r, err)
	}
	r := NewReflector(s, expected, store, c.options)
	ctx, cancel := context.WithCancel(log.context(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { r.RunWithContext(ctx) })
	if c.lasts == 0 {
		c.lasts = time.Minute
	}
	time.Sleep(c.lasts)
	cancelled := time.Now()
	cancel()
	running.Wait()
	if took := time.Since(cancelled); took != 0 {
		t.Errorf("the stop took %v", took)
	}
	synctest.Wait()

	if c.requests != nil && !slices.Equal(s.requests, c.requests) {
		t.Errorf("requests\ngot  %q\nwant %q", s.requests, c.requests)
	}
	var calls []string
	switch store := store.(type) {
	case *tape:
		calls = store.calls
	case *powerfulTape:
		calls = store.calls
	case *renamingTape:
		calls = store.calls
	}
	if c.calls != nil && !slices.Equal(calls, c.calls) {
		t.Errorf("calls of the store\ngot  %q\nwant %q", calls, c.calls)
	}
	if c.version != "" && r.LastSyncResourceVersion() != c.version {
		t.Errorf("the last version is %q, want %q", r.LastSyncResourceVersion(), c.version)
	}
	if len(handled) != len(c.handled) {
		t.Errorf("the handler was told %v, want %q", handled, c.handled)
	} else {
		for i, err := range handled {
			if !strings.Contains(err.Error(), c.handled[i]) {
				t.Errorf("the handler was told %v, want %q in it", err, c.handled[i])
			}
		}
	}
	for _, text := range c.reported {
		text, none := strings.CutPrefix(text, "!")
		if n := log.count(text); n > 1 || n == 0 != none {
			t.Errorf("%q was logged %d times; the log:\n%s", text, n, strings.Join(log.lines, "\n"))
		}
	}
	for i, w := range s.opened {
		if w.stops.Load() == 0 {
			t.Errorf("watch %d was not stopped", i)
		}
	}
}

// TestScriptsBite: the harness sees a wrong request, call, version, error and log.
func TestScriptsBite(t *testing.T) {
	t.Parallel()
	if reflect.DeepEqual(events("ADDED a 1"), events("ADDED a 2")) {
		t.Error("events with different versions are equal")
	}
	s := &tape{fail: map[string]int{"add": 1}}
	if s.Add(testPod("a", "1")) == nil || s.Add(testPod("a", "1")) != nil {
		t.Error("a store that is told to fail once does not")
	}
	var log logs
	klog.FromContext(log.context(t.Context())).Info("seen")
	if log.count("seen") != 1 {
		t.Error("the log is not collected")
	}
}
