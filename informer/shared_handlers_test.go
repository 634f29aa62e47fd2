package informer_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load/synthetic"
)

// TestHandlerSync: a handler has synced when it has returned from the last object of the
// initial list, and not before, whenever it was added.
func TestHandlerSync(t *testing.T) {
	eachInformer(t, func(t *testing.T, newInformer contract.NewInformer) {
		s := newSource(t, 3)
		inf := newInformer(s, &corev1.Pod{}, 0, nil)
		gate := make(chan struct{})
		add := func() (*recorder, cache.ResourceEventHandlerRegistration) {
			r := newRecorder(t)
			r.before = func(string) { <-gate }
			return r, must[cache.ResourceEventHandlerRegistration](t)(inf.AddEventHandler(r))
		}
		early, earlyHandle := add()
		if inf.HasSynced() || earlyHandle.HasSynced() {
			t.Fatal("synced before the start")
		}
		start(t, inf)
		synctest.Wait()
		late, lateHandle := add()
		for i := range 3 {
			synctest.Wait()
			if !inf.HasSynced() {
				t.Fatal("the informer waits for a handler")
			}
			if earlyHandle.HasSynced() || lateHandle.HasSynced() {
				t.Fatalf("synced after %d of 3", i)
			}
			gate <- struct{}{}
			gate <- struct{}{}
		}
		synctest.Wait()
		if !earlyHandle.HasSynced() || !lateHandle.HasSynced() ||
			!cache.IsDone(lateHandle.HasSyncedChecker()) {
			t.Error("not synced after the last object")
		}
		equalsSource(t, s, inf.GetStore(), early, late)
		if early.count("initial ") != 3 || late.count("initial ") != 3 {
			t.Errorf("notifications: %s; %s", early.lines(), late.lines())
		}
	})
}

// TestSyncOfNothing: with no objects everything has synced at once.
func TestSyncOfNothing(t *testing.T) {
	eachInformer(t, func(t *testing.T, newInformer contract.NewInformer) {
		inf := newInformer(newSource(t, 0), &corev1.Pod{}, 0, nil)
		handle := must[cache.ResourceEventHandlerRegistration](t)(inf.AddEventHandler(newRecorder(t)))
		start(t, inf)
		if !cache.WaitFor(t.Context(), "", inf.HasSyncedChecker(), handle.HasSyncedChecker()) ||
			!inf.HasSynced() || !handle.HasSynced() {
			t.Error("not synced")
		}
	})
}

// TestResyncPeriods: each handler is called again at its own period, the same as with
// client-go's informer.
func TestResyncPeriods(t *testing.T) {
	eachInformer(t, func(t *testing.T, newInformer contract.NewInformer) {
		s := newSource(t, 2)
		inf := newInformer(s, &corev1.Pod{}, 10*time.Second, nil)
		cases := map[string]struct {
			options cache.HandlerOptions
			late    bool
			resyncs int // of two objects in one minute
		}{
			"own": {options: cache.HandlerOptions{ResyncPeriod: ptr.To(4 * time.Second)},
				resyncs: 30},
			"default": {resyncs: 10}, // every 10 s, at checks every 4 s
			"never":   {options: cache.HandlerOptions{ResyncPeriod: ptr.To(time.Duration(0))}},
			"below zero": {options: cache.HandlerOptions{ResyncPeriod: ptr.To(-time.Second)},
				late: true, resyncs: 30},
			"late and too short": {options: cache.HandlerOptions{ResyncPeriod: ptr.To(time.Second)},
				late: true, resyncs: 30},
		}
		recorders := map[string]*recorder{}
		add := func(late bool) {
			for name, c := range cases {
				if c.late == late {
					recorders[name] = newRecorder(t)
					must[cache.ResourceEventHandlerRegistration](t)(
						inf.AddEventHandlerWithOptions(recorders[name], c.options))
				}
			}
		}
		add(false)
		start(t, inf)
		synctest.Wait()
		add(true)
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		for name, c := range cases {
			if got := recorders[name].count("resync "); got != c.resyncs {
				t.Errorf("%s: %d resyncs, want %d", name, got, c.resyncs)
			}
		}
	})
}

// TestNoResyncs: an informer that was started without resyncs gives no handler any.
func TestNoResyncs(t *testing.T) {
	eachInformer(t, func(t *testing.T, newInformer contract.NewInformer) {
		s := newSource(t, 2, synthetic.Fault{Kind: synthetic.FaultGone})
		inf := newInformer(s, &corev1.Pod{}, 0, nil)
		start(t, inf)
		synctest.Wait()
		r := newRecorder(t)
		must[cache.ResourceEventHandlerRegistration](t)(
			inf.AddEventHandlerWithResyncPeriod(r, 2*time.Second))
		time.Sleep(time.Minute)
		if n := r.count("resync "); n != 0 {
			t.Errorf("%d resyncs", n)
		}
	})
}

// TestRemoveHandler: a removed handler is told of nothing more, and the others go on.
func TestRemoveHandler(t *testing.T) {
	eachInformer(t, func(t *testing.T, newInformer contract.NewInformer) {
		s := newSource(t, 1)
		inf := newInformer(s, &corev1.Pod{}, 0, nil)
		early, running, stays := newRecorder(t), newRecorder(t), newRecorder(t)
		handles := map[*recorder]cache.ResourceEventHandlerRegistration{}
		for _, r := range []*recorder{early, running, stays} {
			handles[r] = must[cache.ResourceEventHandlerRegistration](t)(inf.AddEventHandler(r))
		}
		if err := cache.ShutDownEventHandler(inf, handles[early]); err != nil {
			t.Fatal(err)
		}
		start(t, inf)
		synctest.Wait()
		for range 2 { // it may be done again
			if err := cache.ShutDownEventHandler(inf, handles[running]); err != nil {
				t.Fatal(err)
			}
		}
		must[any](t)(s.Create(pod("ns/a")))
		synctest.Wait()
		if early.count("") != 0 || running.count("") != 1 || stays.count("") != 2 {
			t.Errorf("notifications: %q, %q, %q", early.lines(), running.lines(), stays.lines())
		}
	})
}

// TestHandlerCallsTheInformer: a handler may do to its informer what others may.
func TestHandlerCallsTheInformer(t *testing.T) {
	eachInformer(t, func(t *testing.T, newInformer contract.NewInformer) {
		s := newSource(t, 1)
		inf := newInformer(s, &corev1.Pod{}, 0, nil)
		var handle cache.ResourceEventHandlerRegistration
		second := newRecorder(t)
		first := newRecorder(t)
		first.before = func(line string) {
			_ = inf.HasSynced()
			_ = inf.GetStore().List()
			if strings.HasPrefix(line, "initial ") {
				must[cache.ResourceEventHandlerRegistration](t)(inf.AddEventHandler(second))
				return
			}
			if err := inf.RemoveEventHandler(handle); err != nil {
				t.Error(err)
			}
		}
		handle = must[cache.ResourceEventHandlerRegistration](t)(inf.AddEventHandler(first))
		start(t, inf)
		synctest.Wait()
		must[any](t)(s.Create(pod("ns/a")))
		synctest.Wait()
		must[any](t)(s.Create(pod("ns/b")))
		synctest.Wait()
		if first.count("") != 2 || second.count("") != 3 {
			t.Errorf("notifications: %q, %q", first.lines(), second.lines())
		}
	})
}

// TestSlowHandler: a handler that blocks holds up no other, and its backlog can be read.
func TestSlowHandler(t *testing.T) {
	eachOfOurs(t, func(t *testing.T, o informer.Options) {
		s := newSource(t, 1)
		inf := informer.New(s, &corev1.Pod{}, o)
		gate := make(chan struct{})
		slow, quick := newRecorder(t), newRecorder(t)
		slow.before = func(string) { <-gate }
		for _, r := range []*recorder{slow, quick} {
			must[cache.ResourceEventHandlerRegistration](t)(inf.AddEventHandler(r))
		}
		start(t, inf)
		synctest.Wait()
		write(t, s, rand.New(rand.NewPCG(1, 1)), 700)
		synctest.Wait()
		equalsSource(t, s, inf.GetStore(), quick)
		total := quick.count("")
		handles := inf.Registrations()
		if got := handles[0].Len(); got != total-1 {
			t.Errorf("%d notifications wait for the slow handler, which is at the first of %d", got, total)
		}
		if got := handles[1].Len(); got != 0 {
			t.Errorf("%d notifications wait for the quick handler", got)
		}
		close(gate)
		synctest.Wait()
		equalsSource(t, s, inf.GetStore(), slow)
		if slow.lines() != quick.lines() || handles[0].Len() != 0 {
			t.Errorf("the slow handler was told otherwise, or %d wait", handles[0].Len())
		}
	})
}

// TestConcurrentHandlers: handlers come and go while the source is written and readers
// read; every one that stays sees everything. It runs on the real clock, for the race
// detector.
func TestConcurrentHandlers(t *testing.T) {
	t.Parallel()
	s := newSource(t, 100)
	inf := informer.New(s, &corev1.Pod{}, informer.Options{ResyncPeriod: time.Second})
	start(t, inf)
	done := make(chan struct{})
	go func() {
		defer close(done)
		write(t, s, rand.New(rand.NewPCG(3, 3)), 2000)
	}()
	var recorders []*recorder
	for i := 0; ; i++ {
		r := newRecorder(t)
		handle := must[cache.ResourceEventHandlerRegistration](t)(inf.AddEventHandler(r))
		_ = inf.GetStore().List()
		if i%2 == 0 {
			recorders = append(recorders, r)
		} else if err := cache.ShutDownEventHandler(inf, handle); err != nil {
			t.Error(err)
		}
		select {
		case <-done:
		default:
			if i < 60 {
				continue
			}
			<-done
		}
		break
	}
	last := newRecorder(t)
	must[any](t)(s.Create(pod("ns/the-last")))
	arrived := make(chan struct{})
	last.before = func(line string) {
		if strings.HasSuffix(line, "ns/the-last") {
			close(arrived)
		}
	}
	must[cache.ResourceEventHandlerRegistration](t)(inf.AddEventHandler(last))
	<-arrived
	for _, r := range append(recorders, last) {
		waitFor(t, func() bool { return r.count("add ns/the-last")+r.count("initial ns/the-last") == 1 })
	}
	equalsSource(t, s, inf.GetStore(), append(recorders, last)...)
}
