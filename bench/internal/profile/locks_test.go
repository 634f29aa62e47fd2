package profile

import (
	"bytes"
	"runtime"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
	p := &Profiler{}
	f(p.Mark)
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
			if got := time.Duration(locks.Hold.Ns); got < heldFor-time.Millisecond ||
				got > holdTook+time.Millisecond {
				t.Errorf("the longest hold is %s, want %s to %s", got, heldFor, holdTook)
			}
			if got := time.Duration(locks.Wait.Ns); got < heldFor-time.Millisecond ||
				got > waitTook+time.Millisecond {
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
	if got := time.Duration(locks.Hold.Ns); got < heldFor-time.Millisecond ||
		got > took+time.Millisecond {
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
		t.Errorf("begun before: %d waits, the longest %s; want 1 of %s or more", locks.Waits, got,
			heldFor)
	}
	mu.Lock()
	locks = seen(t, func(mark func(string)) {
		wg.Go(func() { mark("waiter:op"); underLock(&mu, func() {}) })
		until("sync.Mutex.Lock")
		time.Sleep(heldFor)
	})
	mu.Unlock()
	wg.Wait()
	if got := time.Duration(locks.Wait.Ns); locks.GoingOn != 1 || got < heldFor-time.Millisecond ||
		locks.Wait.By != "waiter:op" {
		t.Errorf("cut off: %+v; want one wait of about %s", locks, heldFor)
	}
}
