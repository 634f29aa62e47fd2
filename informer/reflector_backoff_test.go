package informer

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	clocktesting "k8s.io/utils/clock/testing"
)

// TestBackoff: through an outage of hours the waits grow to the cap and stay
// there; they begin anew only after quiet.
func TestBackoff(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	b := newBackoff(ReflectorOptions{Clock: clock})
	outage := func(times int) {
		t.Helper()
		want := 800 * time.Millisecond
		for i := range times {
			d := b.next()
			if d < want || d >= 2*want {
				t.Errorf("wait %d is %v, want between one and two times %v", i, d, want)
			}
			clock.Step(d)
			want = min(2*want, 30*time.Second)
		}
	}
	outage(200)
	clock.Step(DefaultBackoffReset + 1)
	outage(10)
	clock.Step(DefaultBackoffReset) // not quite quiet enough
	if d := b.next(); d < 30*time.Second {
		t.Errorf("the back-off was reset too early: %v", d)
	}
	b.served = true // it began long ago
	outage(1)
	b.served = true
	if d := b.next(); d < 1600*time.Millisecond {
		t.Errorf("the back-off was reset a moment after it was: %v", d)
	}
}

func TestBackoffOptions(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	b := newBackoff(ReflectorOptions{Clock: clock,
		Backoff:      &wait.Backoff{Duration: time.Second, Factor: 3, Steps: 9, Cap: 5 * time.Second},
		BackoffReset: time.Minute})
	var got []time.Duration
	for range 4 {
		got = append(got, b.next())
	}
	clock.Step(time.Hour)
	got = append(got, b.next())
	if want := []time.Duration{1e9, 3e9, 5e9, 5e9, 1e9}; !slices.Equal(got, want) {
		t.Errorf("the waits are %v, want %v", got, want)
	}
}

// TestAttemptsAreSpread: a Reflector whose server fails asks at the times of the
// back-off, whichever request it is that fails, and for all of them together.
func TestAttemptsAreSpread(t *testing.T) {
	t.Parallel()
	exact := &wait.Backoff{Duration: time.Second, Factor: 2, Steps: 9, Cap: 8 * time.Second}
	for name, c := range map[string]struct {
		script *script
		want   []time.Duration
	}{
		"watches that work for a minute and are cut": {
			&script{
				lists:   slices.Repeat([]listAnswer{gives("5", "", "a")}, 6),
				watches: slices.Repeat([]watchAnswer{isCut(time.Minute)}, 5),
			},
			// a list and a watch each time; the waits are of 1, 2, 1, 2 and 1 seconds
			[]time.Duration{0, 0, 61e9, 61e9, 123e9, 123e9, 184e9, 184e9, 246e9, 246e9, 307e9, 307e9},
		},
		"lists": {
			&script{lists: slices.Repeat([]listAnswer{listFails(errInternal)}, 5)},
			[]time.Duration{0, 1e9, 3e9, 7e9, 15e9, 23e9},
		},
		"a list and the watches after it": {
			&script{lists: []listAnswer{listFails(errInternal), gives("5", "", "a")},
				watches: []watchAnswer{watchFails(errBusy), sends(errorEvent(errBusy)), ends()}},
			[]time.Duration{0, 1e9, 1e9, 3e9, 7e9, 15e9}, // list, list and watch, watch, watch, list
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log logs
				start := time.Now()
				r := NewReflector(c.script, &corev1.Pod{}, &tape{},
					ReflectorOptions{Backoff: exact, UseWatchList: new(bool)})
				ctx, cancel := context.WithCancel(log.context(t.Context()))
				var running sync.WaitGroup
				running.Go(func() { r.RunWithContext(ctx) })
				time.Sleep(10 * time.Minute)
				cancel()
				running.Wait()
				synctest.Wait() // for the request that was under way
				var got []time.Duration
				for _, at := range c.script.times {
					got = append(got, at.Sub(start))
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%q at %v, want %v", c.script.requests, got, c.want)
				}
			})
		})
	}
}

// isCut is a watch that ends with an error after a while.
func isCut(after time.Duration) watchAnswer {
	return func(context.Context) (watch.Interface, error) {
		w := &scriptWatch{result: make(chan watch.Event, 1)}
		time.AfterFunc(after, func() { w.result <- errorEvent(errInternal) })
		return w, nil
	}
}

// TestClock: every wait goes by the clock that was given.
func TestClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := clocktesting.NewFakeClock(time.Unix(0, 0))
		s := &script{lists: []listAnswer{listFails(errInternal), gives("5", "", "a")},
			watches: []watchAnswer{sends()}}
		store := &tape{}
		r := NewReflector(s, &corev1.Pod{}, store,
			ReflectorOptions{Clock: clock, ResyncPeriod: time.Hour, UseWatchList: new(bool),
				WatchErrorHandler: func(context.Context, *Reflector, error) {}})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.RunWithContext(ctx) })
		steps := []struct {
			step  time.Duration
			lists int
			calls []string
		}{
			{0, 1, nil},
			{799 * time.Millisecond, 1, nil},
			{801 * time.Millisecond, 2, []string{"replace 5: a"}},
			{59 * time.Minute, 2, []string{"replace 5: a"}},
			{time.Minute, 2, []string{"replace 5: a", "resync"}},
		}
		for _, c := range steps {
			clock.Step(c.step)
			synctest.Wait()
			s.mu.Lock()
			requests := slices.Clone(s.requests)
			s.mu.Unlock()
			lists := len(slices.DeleteFunc(requests, func(text string) bool { return text[:4] != "list" }))
			if lists != c.lists || !slices.Equal(store.calls, c.calls) {
				t.Errorf("after %v more: %d lists, calls %q; want %d, %q", c.step, lists, store.calls, c.lists,
					c.calls)
			}
		}
		cancel()
		running.Wait()
	})
}

var _ watch.Interface = (*scriptWatch)(nil)
