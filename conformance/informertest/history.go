package informertest

// A random history as data: its writes, its faults, and the handlers that come and go.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/informerbench/informerbench/load/synthetic"
)

// history is one random history. Every step is valid in every state, so any part of a
// history is a history too.
type history struct {
	seed     uint64
	setup    setup
	handlers []temper // from before the start
	steps    []step
	// abrupt stops the informer right after the last step, whatever its state.
	abrupt bool
}

// temper is how a handler behaves.
type temper struct {
	kind   string        // "steady", "slow", "panicking" or "reading"
	resync time.Duration // its own resync period; negative for the informer's
}

// op is what a step does.
type op string

const (
	opWrite   op = "write"   // create the object, or update it
	opDelete  op = "delete"  // delete the object, if it exists
	opBurst   op = "burst"   // n writes and deletions without a pause
	opBeside  op = "beside"  // the same from another goroutine, with short pauses
	opSleep   op = "sleep"   // sleep for d
	opCut     op = "cut"     // cut the connection
	opMend    op = "mend"    // mend the connection
	opHold    op = "hold"    // leave requests unanswered
	opRelease op = "release" // end opHold
	// until the next comparison, a replica that stays at this state answers lists of any version
	opLag     op = "lag"
	opTear    op = "tear"    // the next streaming list ends after n events
	opAdd     op = "add"     // add a handler
	opRemove  op = "remove"  // remove handler number n of the present ones
	opCompare op = "compare" // mend and release, let time pass, and compare everything
)

type step struct {
	op     op
	n      int
	d      time.Duration
	seed   uint64 // of the step's own random choices
	temper temper
}

func (s step) String() string {
	switch s.op {
	case opWrite, opDelete:
		return fmt.Sprintf("%s %s", s.op, keyOf(s.n%keys))
	case opBurst, opBeside:
		return fmt.Sprintf("%s of %d", s.op, s.n)
	case opTear:
		return fmt.Sprintf("%s the next streaming list after %d events", s.op, s.n%keys)
	case opSleep:
		return fmt.Sprintf("%s %s", s.op, s.d)
	case opAdd:
		return fmt.Sprintf("%s a %s handler", s.op, s.temper)
	case opRemove:
		return fmt.Sprintf("%s handler %d", s.op, s.n)
	}
	return string(s.op)
}

func (t temper) String() string {
	if t.resync < 0 {
		return t.kind
	}
	return fmt.Sprintf("%s (resync %s)", t.kind, t.resync)
}

// String returns the history as a failure prints it.
func (h history) String() string {
	var b strings.Builder
	mode := "streaming"
	if h.setup.listing {
		mode = "listing"
	}
	fmt.Fprintf(&b, "%s, %d objects at the start, the source remembers %d events, resync %s", mode,
		h.setup.objects, h.setup.window, h.setup.resync)
	if h.setup.page > 0 {
		fmt.Fprintf(&b, ", lists in pages of %d", h.setup.page)
	}
	if h.setup.transform {
		b.WriteString(", with a transform")
	}
	if h.setup.cached {
		b.WriteString(", the source has a watch cache")
	}
	b.WriteByte('\n')
	for _, f := range h.setup.faults {
		fmt.Fprintf(&b, "fault %s: after %d, every %d, at most %d times, delay %s\n", f.Kind,
			f.AfterEvents, f.EveryEvents, f.Count, f.Delay)
	}
	for i, t := range h.handlers {
		fmt.Fprintf(&b, "handler %d: %s\n", i, t)
	}
	for i, s := range h.steps {
		fmt.Fprintf(&b, "%3d. %s\n", i+1, s)
	}
	if h.abrupt {
		b.WriteString("and then the informer is stopped at once\n")
	}
	return b.String()
}

// keys is the number of objects that a history writes to: few, so that writes meet.
const keys = 10

// generate draws a history.
func generate(seed uint64) history {
	r := rand.New(rand.NewPCG(seed, 0x1f0e))
	h := history{seed: seed}
	h.setup = setup{
		objects: r.IntN(keys + 1),
		window:  []int{2, 5, 20, 1000}[r.IntN(4)],
		listing: r.IntN(2) == 0,
		resync:  []time.Duration{0, time.Minute, 5 * time.Minute}[r.IntN(3)],
		faults:  generateFaults(r),
		// Pages are short: otherwise ten objects would never need a second one.
		page:      []int64{0, 2, 3}[r.IntN(3)],
		transform: r.IntN(4) == 0,
		cached:    r.IntN(4) == 0,
	}
	h.abrupt = r.IntN(4) == 0
	for range r.IntN(4) {
		h.handlers = append(h.handlers, generateTemper(r))
	}
	for range 10 + r.IntN(30) {
		h.steps = append(h.steps, generateStep(r))
	}
	return h
}

func generateTemper(r *rand.Rand) temper {
	return temper{
		kind:   []string{"steady", "steady", "slow", "panicking", "reading"}[r.IntN(5)],
		resync: []time.Duration{-1, -1, 0, time.Minute, 3 * time.Minute}[r.IntN(5)],
	}
}

func generateFaults(r *rand.Rand) (faults []synthetic.Fault) {
	for _, kind := range synthetic.FaultKinds() {
		if r.IntN(3) > 0 {
			continue
		}
		f := synthetic.Fault{Kind: kind, AfterEvents: r.IntN(15)}
		switch kind {
		case synthetic.FaultListError, synthetic.FaultTooLarge, synthetic.FaultExpireContinue,
			synthetic.FaultWatchRefused, synthetic.FaultCacheFilling:
			f.AfterEvents, f.EveryEvents, f.Count = r.IntN(3), 1+r.IntN(2), 1+r.IntN(3)
		case synthetic.FaultDelay:
			f.Delay = time.Duration(1+r.IntN(20)) * 100 * time.Millisecond
			f.EveryEvents = 4 + r.IntN(10)
		default:
			if r.IntN(2) == 0 {
				f.EveryEvents = 2 + r.IntN(10)
			}
		}
		faults = append(faults, f)
	}
	return faults
}

// without returns the history without faults of this kind.
func (h history) without(kind synthetic.FaultKind) history {
	h.setup.faults = slices.DeleteFunc(slices.Clone(h.setup.faults), func(f synthetic.Fault) bool {
		return f.Kind == kind
	})
	return h
}

// withoutPanics returns the history with steady handlers in the place of those that panic.
func (h history) withoutPanics() history {
	steady := func(t *temper) {
		if t.kind == "panicking" {
			t.kind = "steady"
		}
	}
	h.handlers, h.steps = slices.Clone(h.handlers), slices.Clone(h.steps)
	for i := range h.handlers {
		steady(&h.handlers[i])
	}
	for i := range h.steps {
		steady(&h.steps[i].temper)
	}
	return h
}

func generateStep(r *rand.Rand) step {
	s := step{n: r.IntN(1000), seed: r.Uint64()}
	switch p := r.IntN(100); {
	case p < 22:
		s.op = opWrite
	case p < 34:
		s.op = opDelete
	case p < 42:
		s.op, s.n = opBurst, 2+r.IntN(25)
	case p < 48:
		s.op, s.n = opBeside, 2+r.IntN(15)
	case p < 66:
		s.op, s.d = opSleep, []time.Duration{time.Millisecond, 100 * time.Millisecond, time.Second,
			10 * time.Second, 70 * time.Second}[r.IntN(5)]
	case p < 72:
		s.op = opCut
	case p < 78:
		s.op = opMend
	case p < 80:
		s.op = opHold
	case p < 83:
		s.op = opRelease
	case p < 85:
		s.op = opLag
	case p < 87:
		s.op = opTear
	case p < 92:
		s.op, s.temper = opAdd, generateTemper(r)
	case p < 97:
		s.op = opRemove
	default:
		s.op = opCompare
	}
	return s
}
