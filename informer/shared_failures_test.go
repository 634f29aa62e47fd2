package informer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load/synthetic"
)

// Their texts are client-go's, which is all that programs written for it can look at.
func TestErrorsAreSentinels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inf := informer.New(newSource(t, 0), &corev1.Pod{},
			informer.Options{ObjectDescription: "those pods"})
		if _, err := inf.AddEventHandler(nil); err == nil {
			t.Error("nil was taken for a handler")
		}
		stop := start(t, inf)
		synctest.Wait()
		check := func(err, is error, text string) {
			t.Helper()
			if !errors.Is(err, is) || err.Error() != text {
				t.Errorf("got %v, want %s", err, text)
			}
		}
		check(inf.SetTransform(nil), informer.ErrStarted, "informer has already started")
		check(inf.SetWatchErrorHandler(nil), informer.ErrStarted, "informer has already started")
		stop()
		_, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		check(err, informer.ErrStopped, "handler {<nil> <nil> <nil>} was not added to shared informer "+
			"because it has stopped already")
		check(inf.AddIndexers(nil), informer.ErrStopped,
			"indexer was not added because it has stopped already")
		if name := inf.HasSyncedChecker().Name(); name != "SharedIndexInformer *v1.Pod" {
			t.Error(name)
		}
		if err := inf.RemoveEventHandler(struct {
			cache.ResourceEventHandlerRegistration
		}{}); err == nil {
			t.Error("somebody else's handle was taken")
		}
	})
}

// TestPanickingHandler: with ReallyCrash off, a handler that panics is reported and
// counted, loses that call only, and disturbs no other handler.
func TestPanickingHandler(t *testing.T) {
	reported := survivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		s := newSource(t, 3)
		inf := informer.New(s, &corev1.Pod{}, informer.Options{})
		bad, good := newRecorder(t), newRecorder(t)
		bad.before = func(line string) {
			if strings.HasSuffix(line, "pod-000001") {
				panic("on purpose")
			}
		}
		for _, r := range []*recorder{bad, good} {
			must[cache.ResourceEventHandlerRegistration](t)(inf.AddEventHandler(r))
		}
		start(t, inf)
		synctest.Wait()
		handle := inf.Registrations()[0]
		if good.count("initial ") != 3 || handle.Panics() != 1 || handle.HasSynced() {
			t.Errorf("good: %s; %d panics, synced %t", good.lines(), handle.Panics(), handle.HasSynced())
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if bad.count("initial ") != 2 || !handle.HasSynced() {
			t.Errorf("a second after the panic: %s, synced %t", bad.lines(), handle.HasSynced())
		}
		if lines := reported(); len(lines) != 1 || lines[0] != "panic: on purpose" {
			t.Errorf("reported: %q", lines)
		}
	})
}

// TestStopDuringPause: the end of Run does not wait for a handler's pause after a panic.
func TestStopDuringPause(t *testing.T) {
	survivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		inf := informer.New(newSource(t, 3), &corev1.Pod{}, informer.Options{})
		bad := newRecorder(t)
		bad.before = func(string) { panic("on purpose") }
		must[cache.ResourceEventHandlerRegistration](t)(inf.AddEventHandler(bad))
		stop := start(t, inf)
		synctest.Wait()
		before := time.Now()
		stop()
		if took := time.Since(before); took != 0 {
			t.Errorf("stopping took %v", took)
		}
		if got := inf.Registrations(); len(got) != 0 {
			t.Errorf("%d handlers left", len(got))
		}
	})
}

func TestRunTwice(t *testing.T) {
	reported := survivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		inf := informer.New(newSource(t, 1), &corev1.Pod{}, informer.Options{})
		stop := start(t, inf)
		synctest.Wait()
		var logged []string
		ctx := klog.NewContext(t.Context(), funcr.New(
			func(_, args string) { logged = append(logged, args) }, funcr.Options{}))
		inf.RunWithContext(ctx) // returns
		stop()
		inf.RunWithContext(ctx)
		if len(logged) != 2 || !strings.Contains(logged[0], "second time") || len(reported()) > 0 {
			t.Errorf("logged: %q; reported: %q", logged, reported())
		}
	})
}

// TestFailingIndexFunc: an object whose IndexFunc fails is lost alone, without the batch or
// the list that it comes in.
func TestFailingIndexFunc(t *testing.T) {
	reported := survivePanics(t)
	eachOfOurs(t, func(t *testing.T, o informer.Options) {
		before := len(reported())
		s := newSource(t, 3)
		must[any](t)(s.Create(pod("ns/bad")))
		o.Indexers = cache.Indexers{"fails": func(obj any) ([]string, error) {
			if obj.(*corev1.Pod).Name == "bad" {
				return nil, errors.New("no value")
			}
			return []string{"all"}, nil
		}}
		inf := informer.New(s, &corev1.Pod{}, o)
		r := newRecorder(t)
		must[cache.ResourceEventHandlerRegistration](t)(inf.AddEventHandler(r))
		start(t, inf)
		synctest.Wait()
		for i := range 40 {
			must[any](t)(s.Create(pod(fmt.Sprintf("ns/good-%d", i))))
			if i == 20 {
				must[any](t)(s.Update(pod("ns/bad")))
			}
		}
		waitInBubble()
		delete(r.current, "ns/bad")
		stored := 0
		for key := range s.Snapshot() {
			if _, there, _ := inf.GetStore().GetByKey(key); there && key != "ns/bad" {
				stored++
			}
		}
		if stored != 43 || len(r.current) != 43 || r.count("") != 43 || !inf.HasSynced() {
			t.Errorf("%d objects, %d notifications, synced %t; want 43 of each: %s", stored, r.count(""),
				inf.HasSynced(), r.lines())
		}
		if keys := must[[]string](t)(inf.GetIndexer().IndexKeys("fails", "all")); len(keys) != 43 {
			t.Errorf("%d objects in the index, want 43", len(keys))
		}
		if n := len(reported()) - before; n < 2 {
			t.Errorf("%d panics reported: %q", n, reported())
		}
	})
}

// TestDuplicatesInList: of several objects with one key the last counts, and is told once.
func TestDuplicatesInList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}}
		for i, key := range []string{"ns/a", "ns/b", "ns/a"} {
			p := pod(key)
			p.ResourceVersion = fmt.Sprint(i + 1)
			list.Items = append(list.Items, *p)
		}
		s := newSource(t, 0)
		lw := listWatch{&cache.ListWatch{
			ListWithContextFunc:  listFunc(list),
			WatchFuncWithContext: s.WatchWithContext,
		}}
		inf := informer.New(lw, &corev1.Pod{}, informer.Options{})
		r := newRecorder(t)
		must[cache.ResourceEventHandlerRegistration](t)(inf.AddEventHandler(r))
		start(t, inf)
		synctest.Wait()
		if got := r.lines(); got != "initial ns/b, initial ns/a" {
			t.Errorf("notifications: %s", got)
		}
		if v := synthetic.VersionOf(r.current["ns/a"]); v != 3 {
			t.Errorf("version %d of ns/a", v)
		}
	})
}

// TestWatchErrorHandler: client-go's handlers get a Reflector of client-go with our name.
func TestWatchErrorHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource(t, 1, synthetic.Fault{Kind: synthetic.FaultListError, Count: 2})
		inf := informer.New(s, &corev1.Pod{},
			informer.Options{ObjectDescription: "the pods", UseWatchList: ptr.To(false)})
		var errs []error
		var descriptions []string
		err := inf.SetWatchErrorHandlerWithContext(
			func(ctx context.Context, r *cache.Reflector, err error) {
				errs, descriptions = append(errs, err), append(descriptions, r.TypeDescription())
				cache.DefaultWatchErrorHandler(ctx, r, err)
			})
		if err != nil {
			t.Fatal(err)
		}
		start(t, inf)
		waitInBubble()
		if len(errs) == 0 || descriptions[0] != "the pods" || !inf.HasSynced() {
			t.Errorf("%d errors, of %q; synced %t", len(errs), descriptions, inf.HasSynced())
		}
	})
}

// noting is a MutationDetector that notes what it is given.
type noting struct {
	objects map[any]bool
	stopped bool
}

func (n *noting) AddObject(obj any)        { n.objects[obj] = true }
func (n *noting) Run(stop <-chan struct{}) { <-stop; n.stopped = true }

// TestMutationDetector: the detector gets every object, in whatever way it came, and runs until
// the informer stops.
func TestMutationDetector(t *testing.T) {
	eachOfOurs(t, func(t *testing.T, o informer.Options) {
		d := &noting{objects: map[any]bool{}}
		o.MutationDetector = d
		s := newSource(t, 2)
		inf := informer.New(s, &corev1.Pod{}, o)
		stop := start(t, inf)
		synctest.Wait()
		for _, write := range []func(runtime.Object) (runtime.Object, error){s.Create,
			s.Update} {
			must[any](t)(write(pod("ns/a")))
			synctest.Wait()
			for _, obj := range inf.GetStore().List() {
				if !d.objects[obj] {
					t.Errorf("the detector did not get %v", obj)
				}
			}
		}
		if stop(); !d.stopped {
			t.Error("the detector runs on")
		}
	})
}
