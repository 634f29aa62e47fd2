package explore

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime/debug"
	"strings"
)

// Program is a test program to explore.
type Program struct {
	// Name identifies the program in reports and replays.
	Name string
	// New makes fresh state: two to four threads, and a judge that is called after the last
	// of them has ended. The threads must not start goroutines.
	New func() (threads []func(), judge func() error)
}

// maxSteps bounds one run. A run with more steps is a livelock.
const maxSteps = 200_000

// The current run. A process has one run at a time, and a run one running thread, so these
// need no lock.
var (
	running *thread
	random  *rand.Rand
	ending  bool
)

func unwinding() bool { return ending }

// errUnwound ends a thread after its run has ended.
var errUnwound = errors.New("explore: the run is over")

// thread is a coroutine. iter.Pull switches to it and back without the Go scheduler.
type thread struct {
	id    int
	yield func(struct{}) bool
	next  func() (struct{}, bool)
	stop  func()
	at    string      // the point before its next step
	ready func() bool // nil: it can continue
	done  bool
	err   error
}

// pause hands control to the scheduler.
func (t *thread) pause(at string, ready func() bool) {
	if ending {
		return
	}
	t.at, t.ready = at, ready
	if !t.yield(struct{}{}) {
		ending = true // the thread's deferred functions run without pauses
		panic(errUnwound)
	}
}

func (t *thread) enabled() bool { return !t.done && (t.ready == nil || t.ready()) }

func newThread(id int, body func()) *thread {
	t := &thread{id: id, at: "start"}
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		defer func() {
			if v := recover(); v != nil && v != any(errUnwound) {
				t.err = fmt.Errorf("thread %d panics: %v\n%s", id, v, stack())
			}
		}()
		body()
	})
	return t
}

// step runs t up to its next point.
func (t *thread) step() {
	running = t
	_, more := t.next()
	running = nil
	t.done = !more
}

// chooser decides which thread makes the next step. enabled holds the threads that can
// continue. The one that ran last comes first, if it is among them (again is then true);
// the others follow by number. The result is an index of enabled.
type chooser = func(enabled []*thread, again bool) int

// outcome is the result of one run.
type outcome struct {
	err      error
	schedule []segment // the steps that ran
	steps    int
}

// run makes one run of p. No other code in the process may use p's state meanwhile.
func (p *Program) run(choose chooser, seed uint64) (out outcome) {
	random = nil
	if seed != 0 {
		random = rand.New(rand.NewPCG(seed, 0))
	}
	bodies, judge, err := p.make()
	if err != nil {
		return outcome{err: err}
	}
	threads := make([]*thread, len(bodies))
	for i, body := range bodies {
		threads[i] = newThread(i, body)
	}
	defer func() {
		for _, t := range threads {
			ending = true
			t.stop()
		}
		ending, random = false, nil
	}()
	enabled := make([]*thread, 0, len(threads))
	var last *thread
	for {
		enabled = enabled[:0]
		again := last != nil && last.enabled()
		if again {
			enabled = append(enabled, last)
		}
		waiting := false
		for _, t := range threads {
			if (t != last || !again) && t.enabled() {
				enabled = append(enabled, t)
			}
			waiting = waiting || !t.done
		}
		switch {
		case len(enabled) == 0 && waiting:
			out.err = deadlock(threads)
			return out
		case len(enabled) == 0:
			out.err = guarded(judge)
			return out
		}
		last = enabled[choose(enabled, again)]
		out.note(last)
		last.step()
		if out.steps++; out.steps > maxSteps {
			out.err = fmt.Errorf("livelock: %d steps, and the threads have not ended", maxSteps)
			return out
		}
		if last.err != nil {
			out.err = last.err
			return out
		}
	}
}

// note adds a step of t to the schedule.
func (o *outcome) note(t *thread) {
	if last := len(o.schedule) - 1; last >= 0 && o.schedule[last].thread == t.id {
		o.schedule[last].steps++
		return
	}
	o.schedule = append(o.schedule, segment{thread: t.id, steps: 1, from: t.at})
}

// make calls New.
func (p *Program) make() (bodies []func(), judge func() error, err error) {
	err = guarded(func() error {
		bodies, judge = p.New()
		return nil
	})
	return bodies, judge, err
}

// guarded turns a panic into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic before the threads began or after they ended: %v\n%s", v, stack())
		}
	}()
	return f()
}

// stack returns the innermost frames below a recovered panic.
func stack() string {
	const most = 20 // lines
	text := string(debug.Stack())
	if _, below, ok := strings.Cut(text, "\npanic("); ok {
		text = below
	}
	lines := strings.Split(text, "\n")
	return strings.Join(lines[min(2, len(lines)):min(2+most, len(lines))], "\n")
}

func deadlock(threads []*thread) error {
	var b strings.Builder
	b.WriteString("deadlock:")
	for _, t := range threads {
		if !t.done {
			fmt.Fprintf(&b, " thread %d waits at %q;", t.id, t.at)
		}
	}
	return errors.New(strings.TrimSuffix(b.String(), ";"))
}
