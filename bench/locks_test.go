package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informerbench/informerbench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/measure/record"
)

// These tests use real goroutines that really block, because a trace has only the machine's
// time.

const heldFor = 20 * time.Millisecond

// seen traces f and returns the analysis.
func seen(t *testing.T, f func(mark func(string))) record.Locks {
	t.Helper()
	var buf bytes.Buffer
	if err := trace.Start(&buf); err != nil {
		t.Skipf("the test itself is traced: %v", err)
	}
	p := &profiler{}
	f(p.mark)
	trace.Stop()
	locks, err := analyseLocks(&buf)
	if err != nil {
		t.Fatal(err)
	}
	return locks
}

// until returns when a goroutine waits in the given state, as named in a stack dump.
func until(state string) {
	buf := make([]byte, 1<<20)
	for !bytes.Contains(buf[:runtime.Stack(buf, true)], []byte("["+state)) {
		time.Sleep(time.Millisecond)
	}
}

func TestLocksSeesHoldsAndWaits(t *testing.T) {
	var rw sync.RWMutex
	var held atomic.Bool
	write := func(state string) {
		rw.Lock()
		defer rw.Unlock()
		held.Store(true)
		until(state)
		time.Sleep(heldFor)
	}
	read := func(state string) {
		rw.RLock()
		defer rw.RUnlock()
		held.Store(true)
		until(state)
		time.Sleep(heldFor)
	}
	for _, c := range []struct {
		name         string
		hold         func(state string)
		state        string // of the goroutine that waits
		wait, unlock func()
	}{
		{"a reader waits for a writer", write, "sync.RWMutex.RLock", rw.RLock, rw.RUnlock},
		{"a writer waits for a reader", read, "sync.RWMutex.Lock", rw.Lock, rw.Unlock},
		{"a writer waits for a writer", write, "sync.Mutex.Lock", rw.Lock, rw.Unlock},
	} {
		t.Run(c.name, func(t *testing.T) {
			held.Store(false)
			var holdTook, waitTook time.Duration
			locks := seen(t, func(mark func(string)) {
				var wg sync.WaitGroup
				wg.Go(func() {
					mark("holder:idle")
					time.Sleep(2 * heldFor) // before the lock, so not part of the hold
					begin := time.Now()
					mark("holder:hold")
					c.hold(c.state)
					holdTook = time.Since(begin)
				})
				wg.Go(func() {
					for !held.Load() {
						time.Sleep(100 * time.Microsecond)
					}
					mark("waiter:wait")
					begin := time.Now()
					c.wait()
					waitTook = time.Since(begin)
					c.unlock()
				})
				wg.Wait()
			})
			if locks.Waits != 1 || locks.GoingOn != 0 {
				t.Errorf("%d waits, %d going on; want 1 and 0", locks.Waits, locks.GoingOn)
			}
			// Both are bounded by the clock around them.
			if got := time.Duration(locks.Hold.Ns); got < heldFor-time.Millisecond || got > holdTook+time.Millisecond {
				t.Errorf("the longest hold is %s, want %s to %s", got, heldFor, holdTook)
			}
			if got := time.Duration(locks.Wait.Ns); got < heldFor-time.Millisecond || got > waitTook+time.Millisecond {
				t.Errorf("the longest wait is %s, want %s to %s", got, heldFor, waitTook)
			}
			if locks.Hold.By != "holder:hold" || locks.Wait.By != "waiter:wait" {
				t.Errorf("held by %q, waited by %q", locks.Hold.By, locks.Wait.By)
			}
			for _, in := range []string{locks.Hold.In, locks.Wait.In} {
				if !strings.Contains(in, "TestLocksSeesHoldsAndWaits") {
					t.Errorf("held or waited in %q, want a function of this test", in)
				}
			}
		})
	}
}

// A sleep before the lock is taken is not part of the hold, even in the same operation. A
// sleep below the function that unlocks is.
func TestHoldBeginsAfterWhatLiesOutside(t *testing.T) {
	var mu sync.Mutex
	var took time.Duration
	locks := seen(t, func(mark func(string)) {
		var wg sync.WaitGroup
		var held atomic.Bool
		wg.Go(func() {
			mark("holder:op")
			time.Sleep(4 * heldFor)
			begin := time.Now()
			underLock(&mu, func() { held.Store(true); until("sync.Mutex.Lock"); time.Sleep(heldFor) })
			took = time.Since(begin)
		})
		for !held.Load() {
			time.Sleep(100 * time.Microsecond)
		}
		underLock(&mu, func() {})
		wg.Wait()
	})
	if got := time.Duration(locks.Hold.Ns); got < heldFor-time.Millisecond || got > took+time.Millisecond {
		t.Errorf("the hold is %s, want %s to %s", got, heldFor, took)
	}
}

//go:noinline
func underLock(mu *sync.Mutex, do func()) {
	mu.Lock()
	defer mu.Unlock()
	do()
}

// Waits for anything but a lock do not count, nor does a lock without waiters.
func TestLocksCountsNothingElse(t *testing.T) {
	for name, f := range map[string]func(){
		"WaitGroup": func() {
			var wg sync.WaitGroup
			wg.Go(func() { time.Sleep(5 * time.Millisecond) })
			wg.Wait()
		},
		"channel": func() {
			c := make(chan int)
			go func() { time.Sleep(5 * time.Millisecond); c <- 1 }()
			<-c
		},
		"Cond": func() {
			var mu sync.Mutex
			c := sync.NewCond(&mu)
			ready := false
			go func() {
				until("sync.Cond.Wait")
				mu.Lock()
				ready = true
				mu.Unlock()
				c.Broadcast()
			}()
			mu.Lock()
			for !ready {
				c.Wait()
			}
			mu.Unlock()
		},
		"uncontended": func() {
			var rw sync.RWMutex
			rw.Lock()
			time.Sleep(time.Millisecond)
			rw.Unlock()
		},
		"atomics": func() {
			var n atomic.Int64
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for range 1000 {
						n.Add(1)
					}
				})
			}
			wg.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			if locks := seen(t, func(func(string)) { f() }); locks != (record.Locks{}) {
				t.Errorf("%+v, want nothing", locks)
			}
		})
	}
}

// Waits cut off by the trace's end or beginning count with their part inside the trace.
func TestWaitsBeyondTheTrace(t *testing.T) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	mu.Lock()
	wg.Go(func() { underLock(&mu, func() {}) })
	until("sync.Mutex.Lock") // so that it waits before the trace begins
	locks := seen(t, func(mark func(string)) {
		time.Sleep(heldFor)
		mu.Unlock()
		wg.Wait()
	})
	if got := time.Duration(locks.Wait.Ns); locks.Waits != 1 || got < heldFor-time.Millisecond {
		t.Errorf("begun before: %d waits, the longest %s; want 1 of %s or more", locks.Waits, got, heldFor)
	}
	mu.Lock()
	locks = seen(t, func(mark func(string)) {
		wg.Go(func() { mark("waiter:op"); underLock(&mu, func() {}) })
		until("sync.Mutex.Lock")
		time.Sleep(heldFor)
	})
	mu.Unlock()
	wg.Wait()
	if got := time.Duration(locks.Wait.Ns); locks.GoingOn != 1 || got < heldFor-time.Millisecond || locks.Wait.By != "waiter:op" {
		t.Errorf("cut off: %+v; want one wait of about %s", locks, heldFor)
	}
}

// A whole profile fork: readers and a writer at client-go's lock.
func TestForkShowsLocks(t *testing.T) {
	e, err := catalog.Lookup(contract.ComponentStore, "clientgo")
	if err != nil {
		t.Fatal(err)
	}
	w := load.Workload{
		Name: "locks", Component: contract.ComponentStore, Objects: load.ObjectSpec{Count: 5000}, Duration: 200 * time.Millisecond,
		Groups: []load.Group{{Name: "writer", Op: load.OpUpdate, Goroutines: 2}, {Name: "lister", Op: load.OpList, Goroutines: 2}},
	}.WithDefaults()
	dir := t.TempDir()
	p, err := startProfiler(dir)
	if err != nil {
		t.Fatal(err)
	}
	f := record.Fork{Process: map[string]float64{}}
	if err := perform(t.Context(), e, w, &f, p); err != nil {
		t.Fatal(err)
	}
	if err := p.stop(&f); err != nil {
		t.Fatal(err)
	}
	l := f.Locks
	if l == nil || l.Waits == 0 || l.Wait.Ns <= 0 || l.Hold.Ns <= 0 || l.Traced < float64(190*time.Millisecond) {
		t.Fatalf("%+v, want waits: writers and listers meet at one lock", l)
	}
	if !strings.Contains(l.Hold.In, "threadSafeMap") || !strings.Contains(l.Wait.In, "threadSafeMap") || l.Hold.By == "" || l.Wait.By == "" {
		t.Errorf("%+v, want holds and waits in client-go's store by a group", l)
	}
	if _, err := os.Stat(filepath.Join(dir, "trace.out")); !os.IsNotExist(err) {
		t.Errorf("the trace is left behind: %v", err)
	}
	t.Logf("%d KB of trace: %+v", p.tracer.written.Load()>>10, *l)
}

// meeting is a store whose first List and first Update are certain to contend for a lock
// while a trace is on.
type meeting struct {
	contract.Store
	mu    sync.Mutex
	held  atomic.Bool
	first sync.Once
}

func (s *meeting) List() []any {
	underLock(&s.mu, func() {
		s.first.Do(func() {
			for !trace.IsEnabled() {
				time.Sleep(100 * time.Microsecond)
			}
			s.held.Store(true)
			until("sync.Mutex.Lock")
		})
	})
	return nil
}

func (s *meeting) Update(string, any) {
	for !s.held.Load() {
		time.Sleep(100 * time.Microsecond)
	}
	underLock(&s.mu, func() {})
}

// The replay of a trace of events is traced too.
func TestReplayShowsLocks(t *testing.T) {
	p, err := startProfiler(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	trace := &load.Trace{Events: []load.TraceEvent{{Type: watch.Modified, Key: "a", Object: pod}}}
	target := &storeTarget{}
	target.add(&storeSubject{store: &meeting{}, objects: load.ObjectsOf(load.ObjectSpec{}, []kruntime.Object{pod})})
	w := load.Workload{Component: contract.ComponentStore, Groups: []load.Group{{Name: "lister", Op: load.OpList, Goroutines: 1}}}
	if _, err := feed(t.Context(), target, trace, w, p); err != nil {
		t.Fatal(err)
	}
	var f record.Fork
	if err := p.stop(&f); err != nil {
		t.Fatal(err)
	}
	if f.Locks == nil || f.Locks.Waits == 0 || !strings.HasSuffix(f.Locks.Wait.In, "underLock") || f.Locks.Traced <= 0 {
		t.Errorf("%+v, want a wait in underLock", f.Locks)
	}
}
