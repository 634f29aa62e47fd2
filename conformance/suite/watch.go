package suite

import (
	"fmt"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Watch tells the goroutines of a guarded function whether the function has stalled. Any
// goroutine may call its methods.
type Watch struct {
	patience time.Duration
	members  family
	steps    atomic.Uint64 // calls of Progress
	stalled  chan struct{}
	// noticed has the ids of the function's goroutines that failed the case after the stall: they
	// waited on purpose, and are not what the function waits for.
	noticed sync.Map
}

// Join makes the calling goroutine one of the guarded function's. A goroutine whose parent
// may end at once must call it first: Guard could not tell whose child it is. It takes some
// microseconds.
func (w *Watch) Join() { w.members.add(ownID()) }

// Progress notes that the function has advanced. Call it in loops that the function itself
// bounds, and never in a loop that only the implementation under test can end: such a loop
// would look busy for ever.
func (w *Watch) Progress() { w.steps.Add(1) }

// Stalled returns a channel that is closed when Guard finds the function stalled. A
// goroutine of the function that waits for something must also wait for Stalled, and then
// give up. A goroutine in a synctest bubble must poll the channel, which belongs to no
// bubble.
func (w *Watch) Stalled() <-chan struct{} { return w.stalled }

// Patience is how long the function may go without progress; see Guard.
func (w *Watch) Patience() time.Duration { return w.patience }

// Stall describes why Guard gave up a function.
type Stall struct {
	After    time.Duration // the time charged without progress; with Overtime, in all
	Overtime bool          // the function made progress, but used up its whole bound
	Waiting  bool          // at the last look every goroutine of the function waited
	Returned bool          // it returned after Stalled was closed; else its goroutines go on
	Stacks   string        // of at most mostTold of its goroutines; "" if all that waited gave up
}

// StillRunning begins the text of a stall by overtime, and of a stall whose function did
// not return after Stalled was closed.
const StillRunning = "still running after"

func (s *Stall) String() string {
	what := "a goroutine loops without end"
	if s.Waiting {
		what = "every goroutine waits (a lock left held, a lost wake-up?)"
	}
	took := s.After.Round(time.Millisecond)
	switch {
	case s.Overtime:
		return fmt.Sprintf("%s %s, which is all that a case may take\n%s", StillRunning, took, s.Stacks)
	case s.Returned && s.Stacks == "":
		return fmt.Sprintf("no progress for %s", took)
	case s.Returned:
		return fmt.Sprintf("no progress for %s: %s\n%s", took, what, s.Stacks)
	}
	return fmt.Sprintf("%s %s without progress: a call does not return, and %s\n%s", StillRunning,
		took, what, s.Stacks)
}

// Guard runs f on a goroutine of its own. It returns nil when f returns or ends its
// goroutine. If f makes no progress for patience, or takes longer than bound (0: no bound),
// Guard closes Stalled, gives f a grace period to end by itself, and returns a Stall. Go
// cannot end a goroutine, so the goroutines of an f that does not return are left behind.
//
// Patience is not wall-clock time, because a healthy function on a busy machine may not run for
// seconds. Guard looks several times in patience at the function's goroutines: f's own, those
// that called Join, those that they started, and the rest of their synctest bubbles.
//
//   - If every one waits (for a lock, a channel, a timer), the whole interval counts. One that
//     gets no processor is runnable and does not wait, so a busy machine cannot cause this.
//   - Otherwise the processor time counts that one runnable goroutine of this process got: an
//     endless loop uses patience up, a starved function does not.
//
// An interval counts at most twice its nominal length: a stop of the process is not charged. A
// look stops the process for some ten microseconds for each of its goroutines, so the next one
// comes after ten times as long as it took, up to a quarter of patience. Guard takes no look
// while f calls Progress often enough. It must run in real time, outside any bubble.
func Guard(patience, bound time.Duration, f func(w *Watch)) *Stall {
	w := &Watch{patience: patience, stalled: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Join()
		f(w)
	}()

	tick := min(max(patience/20, time.Millisecond), 100*time.Millisecond)
	interval := tick
	meter := newMeter()
	// pause reports whether the function returned within the interval.
	pause := func() bool {
		select {
		case <-done:
			return true
		case <-time.After(interval):
			return false
		}
	}
	// charge looks at the function's goroutines. It returns how much of the interval counts, and
	// sets the next one.
	charge := func(wall, share time.Duration) (charged time.Duration, members []goroutine,
		waiting bool) {
		begin := time.Now()
		members, whole := w.members.look()
		interval = max(tick, min(10*time.Since(begin), patience/4))
		if waiting = whole && allWait(members); waiting {
			share = wall
		}
		return share, members, waiting
	}
	var idle, total time.Duration // charged since the last progress, and in all
	for steps := w.steps.Load(); ; {
		if pause() {
			return nil
		}
		wall, share := meter.read(2 * interval)
		interval = tick
		if now := w.steps.Load(); now != steps {
			steps, idle = now, 0
			total += share
			if bound == 0 || total < bound {
				continue
			}
		}
		share, members, waiting := charge(wall, share)
		idle += share
		total += share
		overtime := bound > 0 && total >= bound
		if idle < patience && !overtime {
			continue
		}
		s := &Stall{After: idle, Overtime: overtime && idle < patience, Waiting: waiting,
			Stacks: tell(members)}
		if s.Overtime {
			s.After = total
		}
		close(w.stalled)
		// The grace period is counted as patience is, because a starved function is slow to
		// return. In wall-clock time it is at most ten times as long.
		grace := max(patience/4, minGrace)
		for end := time.Now().Add(10 * grace); grace > 0 && time.Now().Before(end); {
			if s.Returned = pause(); s.Returned {
				break
			}
			share, _, _ := charge(meter.read(2 * interval))
			grace -= share
		}
		if s.Returned {
			members = w.others(members)
			s.Waiting, s.Stacks = allWait(members), tell(members)
		}
		return s
	}
}

// others are the members but those that gave up, and those that wait for these: their parents.
func (w *Watch) others(members []goroutine) []goroutine {
	for i := 0; i < len(members); i++ {
		if _, gaveUp := w.noticed.Load(members[i].id); gaveUp {
			w.noticed.Store(members[i].creator, true)
			members, i = slices.Delete(members, i, i+1), -1 // a parent may come before its child
		}
	}
	return members
}

// minGrace is the shortest grace period of a stalled function.
const minGrace = 50 * time.Millisecond

// meter measures the time that passed, and the processor time that one goroutine got of it.
type meter struct {
	at      time.Time
	cpu     time.Duration
	samples []metrics.Sample
}

func newMeter() *meter {
	return &meter{at: time.Now(), cpu: processTime(), samples: []metrics.Sample{
		{Name: "/sched/goroutines/running:goroutines"},
		{Name: "/sched/goroutines/runnable:goroutines"},
	}}
}

// read returns the wall time since the last read, at most limit. share is the processor
// time that a goroutine got in it if it was runnable all the time.
func (m *meter) read(limit time.Duration) (wall, share time.Duration) {
	at, cpu := time.Now(), processTime()
	metrics.Read(m.samples)
	var want uint64
	for _, s := range m.samples {
		want += s.Value.Uint64()
	}
	wall = min(at.Sub(m.at), limit)
	// The calling goroutine is one of those that run, and is not counted.
	share = min(wall, (cpu-m.cpu)/time.Duration(max(1, int(want)-1)))
	m.at, m.cpu = at, cpu
	return wall, share
}

// mostTold is the most stacks in the text of a stall.
const mostTold = 8

// tell returns the goroutines' stacks. Running goroutines come first: they show the loop of
// a function that loops for ever. Goroutines that wait durably come last: synctest would
// have woken or reported them if another goroutine did not stop the bubble.
func tell(members []goroutine) string {
	var ranks [3][]string
	for _, g := range members {
		rank := 0
		switch {
		case g.durable:
			rank = 2
		case g.waits():
			rank = 1
		}
		ranks[rank] = append(ranks[rank], g.text)
	}
	out := slices.Concat(ranks[:]...)
	if len(out) > mostTold {
		out = append(out[:mostTold:mostTold],
			fmt.Sprintf("and %d more goroutines of the case", len(out)-mostTold))
	}
	return strings.Join(out, "\n\n")
}
