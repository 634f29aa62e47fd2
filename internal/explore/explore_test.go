package explore

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counters is n threads that each add one to a counter, in two steps.
func counters(n int) Program {
	return Program{Name: "counters", New: func() ([]func(), func() error) {
		sum := 0
		var threads []func()
		for range n {
			threads = append(threads, func() {
				Point("load")
				seen := sum
				Point("store")
				sum = seen + 1
			})
		}
		return threads, func() error {
			if sum != n {
				return errors.New("an increment is lost")
			}
			return nil
		}
	}}
}

func TestLostUpdateTakesOnePreemption(t *testing.T) {
	s := NewSearch(counters(2))
	far := time.Now().Add(time.Hour)
	if !s.Deepen(far) || s.Failure != nil {
		t.Fatalf("without preemption: %v", s.Failure)
	}
	s.Deepen(far)
	if s.Failure == nil {
		t.Fatal("the lost update was not found")
	}
	if got := s.Failure.Schedule.String(); got != "0:2 1:3 0:1" {
		t.Errorf("schedule %q", got)
	}
	again, err := ParseSchedule(s.Failure.Schedule.String())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Program.Replay(again); err == nil || err.Error() != s.Failure.Err.Error() {
		t.Errorf("replayed: %v", err)
	}
	if err := s.Program.Replay(Schedule{}); err != nil {
		t.Errorf("one after the other: %v", err)
	}
}

// TestEveryScheduleRunsOnce counts the interleavings of two threads with a and b steps:
// (a+b)! / (a! b!).
func TestEveryScheduleRunsOnce(t *testing.T) {
	seen := map[string]int{}
	p := Program{Name: "traces", New: func() ([]func(), func() error) {
		var trace strings.Builder
		thread := func(name string, points int) func() {
			return func() {
				trace.WriteString(name)
				for range points {
					Point(name)
					trace.WriteString(name)
				}
			}
		}
		return []func(){thread("a", 3), thread("b", 4)}, func() error {
			seen[trace.String()]++
			return nil
		}
	}}
	s := NewSearch(p)
	for s.Deepen(time.Now().Add(time.Hour)) {
		clear(seen)
	}
	if !s.all || s.Failure != nil {
		t.Fatalf("not finished: %s, %v", s, s.Failure)
	}
	if len(seen) != 126 { // 9! / (4! 5!)
		t.Errorf("%d interleavings, want 126", len(seen))
	}
	for trace, n := range seen {
		if n != 1 {
			t.Errorf("%s ran %d times", trace, n)
		}
	}
}

func TestDeadlockIsFoundAndUnwound(t *testing.T) {
	p := Program{Name: "deadlock", New: func() ([]func(), func() error) {
		var a, b Mutex
		both := func(first, second *Mutex) func() {
			return func() {
				first.Lock()
				defer first.Unlock()
				second.Lock()
				defer second.Unlock()
			}
		}
		return []func(){both(&a, &b), both(&b, &a)}, func() error { return nil }
	}}
	f := Find([]Program{p}, 20_000)
	if f == nil || !strings.Contains(f.Err.Error(),
		"deadlock: thread 0 waits at \"lock\"; thread 1 waits at \"lock\"") {
		t.Fatalf("got %v", f)
	}
}

func TestPanicIsAFailure(t *testing.T) {
	p := Program{Name: "panic", New: func() ([]func(), func() error) {
		var at *int
		return []func(){
			func() { Point("set"); at = new(int); Point("unset"); at = nil },
			func() {
				Point("look")
				if at != nil {
					Point("use")
					*at++
				}
			},
		}, func() error { return nil }
	}}
	f := Find([]Program{p}, 20_000)
	if f == nil || !strings.Contains(f.Err.Error(),
		"thread 1 panics: runtime error: invalid memory address") {
		t.Fatalf("got %v", f)
	}
	if !strings.Contains(f.Error(), "-explore.schedule='"+f.Schedule.String()+"'") {
		t.Errorf("no replay in %v", f)
	}
}

func TestCondWakesOneAndAll(t *testing.T) {
	p := Program{Name: "cond", New: func() ([]func(), func() error) {
		var mu Mutex
		c := Cond{L: &mu}
		items, got := 0, 0
		take := func() {
			mu.Lock()
			defer mu.Unlock()
			for items == 0 {
				c.Wait()
			}
			items--
			got++
		}
		give := func() {
			mu.Lock()
			items++
			mu.Unlock()
			c.Signal()
			mu.Lock()
			items++
			mu.Unlock()
			c.Broadcast()
		}
		return []func(){take, take, give}, func() error {
			if got != 2 || items != 0 {
				return errors.New("an item is left")
			}
			return nil
		}
	}}
	s := NewSearch(p)
	for s.Deepen(time.Now().Add(time.Minute)) {
	}
	if s.Failure != nil || !s.all {
		t.Fatalf("%s, %v", s, s.Failure)
	}
}

// TestLostWakeUp: a waiter that looks without the lock misses its signal.
func TestLostWakeUp(t *testing.T) {
	p := Program{Name: "lost wake-up", New: func() ([]func(), func() error) {
		var mu Mutex
		c := Cond{L: &mu}
		ready := false
		return []func(){
			func() {
				Point("look")
				if !ready {
					mu.Lock()
					c.Wait()
					mu.Unlock()
				}
			},
			func() { Point("set"); ready = true; c.Signal() },
		}, func() error { return nil }
	}}
	if f := Find([]Program{p}, 20_000); f == nil || !strings.Contains(f.Err.Error(), "deadlock") {
		t.Fatalf("got %v", f)
	}
}

func TestRandomPrioritiesFind(t *testing.T) {
	s := NewSearch(counters(3))
	s.Random(rand.New(rand.NewPCG(1, 1)), 1000)
	if s.Failure == nil {
		t.Fatal("1,000 runs found nothing")
	}
	if err := s.Program.Replay(s.Failure.Schedule); err == nil {
		t.Error("the reduced schedule does not fail")
	}
	if n := len(s.Failure.Schedule.segments); n > 4 {
		t.Errorf("reduced to %d stretches: %s", n, s.Failure.Schedule)
	}
}

func TestSeedIsPartOfTheSchedule(t *testing.T) {
	p := Program{Name: "dice", New: func() ([]func(), func() error) {
		drawn := uint32(0)
		return []func(){func() { drawn = Rand().Uint32() }}, func() error {
			if drawn%8 == 5 {
				return errors.New("five")
			}
			return nil
		}
	}}
	s := NewSearch(p)
	s.Random(rand.New(rand.NewPCG(1, 1)), 1000)
	if s.Failure == nil {
		t.Fatal("not found")
	}
	again, err := ParseSchedule(s.Failure.Schedule.String())
	if err != nil {
		t.Fatal(err)
	}
	if p.Replay(again) == nil {
		t.Errorf("%q does not repeat it", s.Failure.Schedule)
	}
}

func TestSchedulesThatAreNone(t *testing.T) {
	for _, text := range []string{"0", "0:x", "0:0", "-1:2", "seed=x", "a:1"} {
		if s, err := ParseSchedule(text); err == nil {
			t.Errorf("%q was read as %v", text, s)
		}
	}
}
