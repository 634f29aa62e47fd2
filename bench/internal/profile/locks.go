package profile

import (
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/exp/trace"

	"github.com/informerbench/informerbench/measure/record"
)

// lockRetry bounds the time between a goroutine's wake-up and its next blocking inside the
// same call of Lock. It blocks again because a faster goroutine has taken the lock, or
// because, being a writer, it has passed the other writers and now waits for the readers.
const lockRetry = 10 * time.Microsecond

// rememberedBlocks is how many blockings of one operation are remembered.
const rememberedBlocks = 32

// analyseLocks reads an execution trace and finds the longest wait for a lock and the
// longest hold. It takes time linear in the trace and the memory of one of its generations,
// about a second of it.
//
// A wait is known exactly. It lasts from the event that blocks the goroutine until it runs
// again, and includes further blockings inside the same Lock. A wait that began before the
// trace counts from the trace's beginning.
//
// A hold is an upper bound. The trace does not show Lock calls that do not wait, only the
// Unlock that wakes a waiter. The lock was taken no earlier than each of these:
//   - the operation began;
//   - a blocking ended during which the unlocking function was not running yet (a lock
//     is released by the function that took it);
//   - that function's own wait for a lock ended.
//
// The bound includes the time in which the function, holding the lock, calls a handler that
// sleeps or a callee that waits for another lock. Two holds are reported too short: that of
// a function which waits for a second lock while it holds the first, and that of a function
// which takes a lock for others to release.
func analyseLocks(in io.Reader) (record.Locks, error) {
	r, err := trace.NewReader(in)
	if err != nil {
		return record.Locks{}, err
	}
	a := &lockAnalysis{goroutines: map[trace.GoID]*traced{}}
	for {
		ev, err := r.ReadEvent()
		if errors.Is(err, io.EOF) {
			return a.result(), nil
		}
		if err != nil {
			return record.Locks{}, err
		}
		a.event(ev)
	}
}

type lockAnalysis struct {
	start, now    trace.Time // of the trace, of the event
	goroutines    map[trace.GoID]*traced
	waits         int
	wait, hold    time.Duration
	waiter        *traced
	holder        *traced
	waitIn, holds string
}

// traced is the state of one goroutine.
type traced struct {
	series string     // of its last mark
	began  trace.Time // of its operation; if it marks none, of itself or of the trace
	block  *block     // the blocking it is in; nil while it runs
	past   []block    // its blockings since began
}

// block is one period in which a goroutine was blocked.
type block struct {
	from, until trace.Time
	lock        bool // a wait for a lock
	cond        bool // a wait for a Cond, which takes its lock again
	stack       trace.Stack
}

func (a *lockAnalysis) event(ev trace.Event) {
	a.now = ev.Time()
	if a.start == 0 {
		a.start = a.now
	}
	switch ev.Kind() {
	case trace.EventLog:
		if l := ev.Log(); l.Category == operationMark {
			g := a.goroutine(ev.Goroutine())
			g.series, g.began, g.past = l.Message, a.now, g.past[:0]
		}
	case trace.EventStateTransition:
		if st := ev.StateTransition(); st.Resource.Kind == trace.ResourceGoroutine {
			a.transition(ev, st)
		}
	}
}

func (a *lockAnalysis) transition(ev trace.Event, st trace.StateTransition) {
	from, to := st.Goroutine()
	id := st.Resource.Goroutine()
	switch {
	case to == trace.GoNotExist:
		delete(a.goroutines, id)
	case from == trace.GoNotExist:
		a.goroutine(id).began = a.now
	case from == trace.GoRunning && to == trace.GoWaiting:
		g := a.goroutine(id)
		g.block = &block{
			from: a.now, stack: ev.Stack(),
			lock: st.Reason == "sync" && locking(ev.Stack(), "Lock", "RLock"),
			cond: strings.Contains(st.Reason, "Cond"),
		}
	case from == trace.GoWaiting && to == trace.GoRunnable:
		if !locking(ev.Stack(), "Unlock", "RUnlock") {
			return
		}
		g := a.goroutine(id)
		if g.block == nil {
			g.block = &block{from: a.start, lock: true} // since before the trace
		}
		if g.block.lock && ev.Goroutine() != trace.NoGoroutine {
			a.unlocked(a.goroutine(ev.Goroutine()), ev.Stack())
		}
	case to == trace.GoRunning:
		if g := a.goroutines[id]; g != nil && g.block != nil {
			a.resumed(g)
		}
	}
}

func (a *lockAnalysis) goroutine(id trace.GoID) *traced {
	g := a.goroutines[id]
	if g == nil {
		g = &traced{began: a.start}
		a.goroutines[id] = g
	}
	return g
}

// resumed ends the blocking of g.
func (a *lockAnalysis) resumed(g *traced) {
	b := *g.block
	g.block = nil
	b.until = a.now
	if n := len(g.past); b.lock && n > 0 {
		if last := g.past[n-1]; last.lock && b.from.Sub(last.until) <= lockRetry &&
			caller(last.stack) == caller(b.stack) {
			b.from = last.from
			g.past = g.past[:n-1]
			a.waits--
		}
	}
	if len(g.past) == rememberedBlocks {
		g.past = slices.Delete(g.past, 0, 1)
	}
	g.past = append(g.past, b)
	if b.lock {
		a.waited(g, b)
	}
}

func (a *lockAnalysis) waited(g *traced, b block) {
	a.waits++
	if took := b.until.Sub(b.from); took > a.wait {
		a.wait, a.waiter, a.waitIn = took, g, caller(b.stack)
	}
}

// unlocked bounds a hold that g ends by waking a waiter.
func (a *lockAnalysis) unlocked(g *traced, stack trace.Stack) {
	in := caller(stack)
	since := g.began
	for _, b := range slices.Backward(g.past) {
		if (b.lock || b.cond) && caller(b.stack) == in || !running(b.stack, in) {
			since = b.until
			break
		}
	}
	if took := a.now.Sub(since); took > a.hold {
		a.hold, a.holder, a.holds = took, g, in
	}
}

// result also counts the waits that have not ended, with their time so far.
func (a *lockAnalysis) result() record.Locks {
	out := record.Locks{}
	for _, g := range a.goroutines {
		if g.block != nil && g.block.lock {
			out.GoingOn++
			g.block.until = a.now
			a.waited(g, *g.block)
		}
	}
	out.Waits = a.waits
	out.Wait = lockTime(a.wait, a.waiter, a.waitIn)
	out.Hold = lockTime(a.hold, a.holder, a.holds)
	return out
}

func lockTime(d time.Duration, g *traced, in string) record.LockTime {
	t := record.LockTime{Ns: float64(d), In: in}
	if g != nil {
		t.By = g.series
	}
	return t
}

// locking reports whether the innermost call of package sync is one of the methods of a
// Mutex or RWMutex. A WaitGroup's waits, which have the same reason in a trace, do not
// count.
func locking(stack trace.Stack, methods ...string) bool {
	for f := range stack.Frames() {
		if !ofSync(f.Func) {
			return false
		}
		if receiver, method, ok := strings.Cut(f.Func, ")."); ok &&
			strings.HasSuffix(receiver, "Mutex") && slices.Contains(methods, method) {
			return true
		}
	}
	return false
}

// caller is the function that called package sync; "" if the stack has none.
func caller(stack trace.Stack) string {
	for f := range stack.Frames() {
		if !ofSync(f.Func) {
			return f.Func
		}
	}
	return ""
}

// running reports whether a function is on the stack.
func running(stack trace.Stack, function string) bool {
	for f := range stack.Frames() {
		if f.Func == function {
			return true
		}
	}
	return false
}

func ofSync(function string) bool {
	return strings.HasPrefix(function, "sync.") || strings.HasPrefix(function, "internal/sync.")
}
