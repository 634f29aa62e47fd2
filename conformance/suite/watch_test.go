package suite

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const quick = 100 * time.Millisecond // of patience

// stuck holds the goroutines of the cases below until the test ends.
type stuck struct {
	free chan struct{}
	lock sync.Mutex
}

func newStuck(t *testing.T) *stuck {
	s := &stuck{free: make(chan struct{})}
	s.lock.Lock()
	t.Cleanup(func() { close(s.free); s.lock.Unlock() })
	return s
}

func (s *stuck) onChannel() { <-s.free }

func (s *stuck) onLock() {
	s.lock.Lock()
	defer s.lock.Unlock()
}

func (s *stuck) inLoop() {
	for !s.freed() {
	}
}

func (s *stuck) freed() bool {
	select {
	case <-s.free:
		return true
	default:
		return false
	}
}

func (s *stuck) inSleep() {
	for {
		select {
		case <-s.free:
			return
		default:
			time.Sleep(time.Millisecond)
		}
	}
}

func (s *stuck) onChild() {
	var wg sync.WaitGroup
	wg.Go(s.onLock)
	wg.Wait()
}

// A case that stalls, in a bubble or outside, fails with the stacks of its own goroutines,
// and the next case runs.
func TestACaseThatStopsIsAccused(t *testing.T) {
	for _, around := range []struct {
		name string
		Around
	}{{"outside", nil}, {"in a bubble", InBubble}} {
		for _, c := range []struct {
			name string
			stop func(*stuck)
			want []string
		}{
			{"onChannel", (*stuck).onChannel, []string{"every goroutine waits", "onChannel"}},
			{"onLock", (*stuck).onLock, []string{"every goroutine waits", "onLock"}},
			{"inLoop", (*stuck).inLoop, []string{"loops without end", "inLoop"}},
			{"onChild", (*stuck).onChild, []string{"every goroutine waits", "onChild", "onLock"}},
			{"in a cleanup", nil, []string{"every goroutine waits", "onLock"}},
		} {
			t.Run(around.name+"/"+c.name, func(t *testing.T) {
				bystander := make(chan struct{})
				go standBy(bystander)
				defer close(bystander)
				s := newStuck(t)
				run := func(ct *T, _ bool) {
					if c.stop == nil {
						ct.Cleanup(s.onLock)
					} else {
						c.stop(s)
					}
				}
				runner, err := newRunner(nil, false, []Option{WithCaseTimeout(10 * quick)})
				if err != nil {
					t.Fatal(err)
				}
				runner.around = around.Around
				for i, body := range []func(*T, bool){run, func(*T, bool) {}} {
					r := runner.run(i, Case[bool]{Clause: "STORE-7", Name: "a-case", Run: body})
					if (r.Outcome == Fail) != (i == 0) {
						t.Fatalf("case %d ended with %s: %s", i, r.Outcome, r.Reason)
					}
					for _, want := range append(c.want, StillRunning) {
						if i == 0 && !strings.Contains(r.Reason, want) {
							t.Errorf("the failure lacks %q:\n%s", want, r.Reason)
						}
					}
					if strings.Contains(r.Reason, "standBy") {
						t.Errorf("the failure shows a goroutine that is not the case's:\n%s", r.Reason)
					}
				}
			})
		}
	}
}

func standBy(end chan struct{}) { <-end }

// A goroutine that polls in vain makes no progress either.
func TestPollingIsWaiting(t *testing.T) {
	s := newStuck(t)
	stall := Guard(quick, 0, func(*Watch) { s.inSleep() })
	if stall == nil || !strings.Contains(stall.Stacks, "inSleep") {
		t.Errorf("got %v, want a stall in inSleep", stall)
	}
}

// A case that sees its stall may still end by itself. The Stall then says that it returned.
func TestTheStalledMayEnd(t *testing.T) {
	t.Parallel()
	stall := Guard(quick, 0, func(w *Watch) { <-w.Stalled() })
	if stall == nil || !stall.Returned || strings.Contains(stall.String(), StillRunning) {
		t.Errorf("got %v, want a stall that has returned", stall)
	}
}

func TestProgressKeepsACaseAlive(t *testing.T) {
	t.Parallel()
	var rounds atomic.Int64
	if stall := Guard(quick, 0, func(w *Watch) {
		for begin := time.Now(); time.Since(begin) < 3*quick; rounds.Add(1) {
			w.Progress()
			runtime.Gosched()
		}
	}); stall != nil {
		t.Errorf("after %d rounds: %s", rounds.Load(), stall)
	}
	stall := Guard(quick, 4*quick, func(w *Watch) {
		for {
			select {
			case <-w.Stalled():
				return
			default:
				w.Progress()
			}
		}
	})
	if stall == nil || !stall.Overtime {
		t.Errorf("got %v; want the bound to end what gets further for ever", stall)
	}
}

// A function beside fifty runnable goroutines for each processor is charged a fiftieth of
// the time, and is not accused. These goroutines yield, so they are runnable nearly always.
func TestStarvedIsNotStalled(t *testing.T) {
	var stop atomic.Bool
	var crowd sync.WaitGroup
	for range 50 * runtime.GOMAXPROCS(0) {
		crowd.Go(func() {
			for !stop.Load() {
				runtime.Gosched()
			}
		})
	}
	defer crowd.Wait()
	defer stop.Store(true)
	begin := time.Now()
	stall := Guard(quick, 0, func(*Watch) {
		for time.Since(begin) < 5*quick {
		}
	})
	if stall != nil {
		t.Errorf("%s", stall)
	}
}

// synctest itself finds a bubble whose goroutines all wait for each other.
func TestBubbleThatWaitsForItself(t *testing.T) {
	failed, left := Bubble(func() { <-make(chan struct{}) })
	if !strings.Contains(failed, "deadlock") || left == "" {
		t.Errorf("failed %q, left %q", failed, left)
	}
	failed, left = Bubble(func() { time.Sleep(time.Hour); synctest.Wait() })
	if failed != "" || left != "" {
		t.Errorf("a sound bubble: failed %q, left %q", failed, left)
	}
}

// A function whose goroutine has not begun to run has no family yet. An empty family must
// not match every goroutine.
func TestAFamilyBeginsWithItsRoot(t *testing.T) {
	t.Parallel()
	var kin family
	if members, _ := kin.look(); len(members) > 0 || len(kin.ids) > 0 {
		t.Errorf("%d goroutines belong to a family without a root", len(members))
	}
	kin.add(ownID())
	if members, whole := kin.look(); len(members) == 0 || len(members) > 2 || !whole {
		t.Errorf("%d goroutines belong to this one", len(members))
	}
}

// A goroutine that joined is shown although its parent ended before Guard looked.
func TestAnOrphanThatJoinedIsShown(t *testing.T) {
	t.Parallel()
	s := newStuck(t)
	stall := Guard(quick, 0, func(w *Watch) {
		var parent sync.WaitGroup
		parent.Go(func() {
			go func() { w.Join(); s.onLock() }()
		})
		parent.Wait()
		<-w.Stalled()
	})
	if stall == nil || !strings.Contains(stall.Stacks, "onLock") {
		t.Errorf("got %v, want a stall in onLock", stall)
	}
}

func TestGoroutinesAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text    string
		id, by  int64
		bubble  string
		waiting bool
	}{
		{"goroutine 18 [chan receive, 2 minutes, synctest bubble 3]:\nmain.f()\ncreated by main.start " +
			"in goroutine 7\n\t/x.go:1", 18, 7, "synctest bubble 3", true},
		{"goroutine 1 gp=0x1 m=0 mp=0x2 [running]:\nmain.f()", 1, 0, "", false},
		{"goroutine 5 [sync.Mutex.Lock]:\nmain.f()", 5, 0, "", true},
		{"goroutine 6 [sleep (durable), synctest bubble 12]:\nmain.f()", 6, 0, "synctest bubble 12",
			true},
		{"goroutine 9 [GC assist wait]:\nmain.f()", 9, 0, "", false},
		{"goroutine 9 [runnable]:\nmain.f()", 9, 0, "", false},
		{"goroutine 9 [semacquire]:\nmain.f(...)\n\t/x.go:1 +0x2e\nsync.f()", 9, 0, "", false},
		{"goroutine 9 [semacquire, 3 minutes]:\nsync.runtime_Semacquire(0x2)\n\t/x.go:1", 9, 0, "", true},
		{"goroutine 9 [semacquire]:\ninternal/poll.runtime_Semacquire(0x2)\n\t/x.go:1", 9, 0, "", true},
	} {
		g, ok := parseGoroutine(c.text)
		if !ok || g.id != c.id || g.creator != c.by || g.bubble != c.bubble || g.waits() != c.waiting {
			t.Errorf("%q: %v %+v", c.text, ok, g)
		}
	}
}

// A stall lists first who runs, then who waits for a lock, and last who waits in a bubble as all of
// its goroutines may.
func TestDurableWaitersAreToldLast(t *testing.T) {
	t.Parallel()
	var members []goroutine
	for _, text := range []string{"goroutine 1 [select (durable), synctest bubble 1]:\nx()",
		"goroutine 2 [sync.Mutex.Lock]:\ny()", "goroutine 3 [running]:\nz()"} {
		g, ok := parseGoroutine(text)
		if !ok {
			t.Fatalf("%s: not read", text)
		}
		members = append(members, g)
	}
	if got := tell(members); !strings.HasPrefix(got, "goroutine 3") || !strings.HasSuffix(got, "x()") {
		t.Error(got)
	}
}
