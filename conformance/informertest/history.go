package informertest

// A random history as data: its writes, its faults, and the handlers that come and go.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informerbench/informerbench/contract"
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

// Playing a history.

// played is the result of playing a history.
type played struct {
	problems []problem
	hangs    bool
	log      []string // the writes to the source
	calls    int      // calls of handlers
	struck   int      // faults that struck, and cuts of the connection
	faults   map[synthetic.FaultKind]int
}

// player plays a history in a world.
type player struct {
	*world
	h       history
	played  played
	release func()     // releases the held requests; nil if none are held
	live    []*witness // handlers that were not removed
	removed []*witness // handlers removed since the last comparison
	n       int        // handlers so far
	begin   time.Time

	writing struct {
		sync.Mutex
		log []string
	}
}

// playHistory plays h in a bubble.
func playHistory(newInformer contract.NewInformer, h history) played {
	var p *player
	failed, left := inBubble(func() {
		p = &player{world: open(newInformer, h.setup), h: h}
		defer func() {
			p.stop() // requests may still be held
			p.free()
			p.close()
		}()
		p.run()
	})
	var out played
	if p != nil {
		out = p.played
		out.problems, out.log = p.problems(), p.writing.log
		out.faults = p.source.Struck()
		for _, n := range out.faults {
			out.struck += n
		}
		for _, w := range p.witnesses {
			out.calls += len(w.calls())
		}
	}
	if failed != "" {
		out.problems = append(out.problems, problem{"INFORMER-29", failed})
	}
	if left != "" {
		out.problems = append(out.problems, problem{"INFORMER-23", "goroutines are left:\n" + left})
	}
	return out
}

func (p *player) run() {
	for _, t := range p.h.handlers {
		p.addHandler(t)
	}
	p.begin = time.Now()
	p.start()
	for _, s := range p.h.steps {
		p.do(s)
	}
	if !p.h.abrupt {
		p.compareQuietly()
	}
}

func (p *player) do(s step) {
	r := rand.New(rand.NewPCG(s.seed, 0))
	switch s.op {
	case opWrite:
		p.write(s.n%keys, s.n)
	case opDelete:
		p.erase(s.n % keys)
	case opBurst:
		for range s.n {
			p.either(r)
		}
	case opBeside:
		p.helpers.Go(func() {
			for range s.n {
				p.either(r)
				time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
			}
		})
	case opSleep:
		time.Sleep(s.d)
	case opCut:
		p.played.struck++
		p.gate.cut([]error{errCut, errBroken}[s.n%2])
	case opMend:
		p.gate.mend()
	case opHold:
		if p.release == nil {
			p.release = p.gate.hold()
		}
	case opRelease:
		p.free()
	case opLag:
		p.gate.lag()
	case opTear:
		p.played.struck++
		p.gate.tear(s.n % keys)
	case opAdd:
		p.addHandler(s.temper)
	case opRemove:
		if len(p.live) > 0 {
			i := s.n % len(p.live)
			gone := p.live[i]
			p.live = append(p.live[:i:i], p.live[i+1:]...)
			p.remove(gone)
			p.removed = append(p.removed, gone)
		}
	case opCompare:
		p.compareQuietly()
	}
}

func (p *player) free() {
	if p.release != nil {
		p.release()
		p.release = nil
	}
}

func (p *player) either(r *rand.Rand) {
	i, n := r.IntN(keys), r.IntN(100)
	if r.IntN(3) == 0 {
		p.erase(i)
	} else {
		p.write(i, n)
	}
}

// write creates or updates an object, and erase deletes one. Several goroutines may call
// them at once.
func (p *player) write(i, n int) {
	p.writing.Lock()
	defer p.writing.Unlock()
	key := keyOf(i)
	obj, err := p.source.Update(pod(key, n))
	if apierrors.IsNotFound(err) {
		obj, err = p.source.Create(pod(key, n))
	}
	p.logLocked("write", must(obj, err))
}

func (p *player) erase(i int) {
	p.writing.Lock()
	defer p.writing.Unlock()
	if _, there := p.source.Snapshot()[keyOf(i)]; there {
		p.logLocked("delete", p.delete(keyOf(i)))
	}
}

// logLocked records a write of an object. The caller holds the lock of writing.
func (p *player) logLocked(what string, obj runtime.Object) {
	p.writing.log = append(p.writing.log,
		fmt.Sprintf("  %9s %s %s\n", time.Since(p.begin).Round(time.Millisecond), what, describe(obj)))
}

func (p *player) addHandler(t temper) {
	h := &witness{name: fmt.Sprintf("handler %d (%s)", p.n, t)}
	p.n++
	switch t.kind {
	case "slow":
		h.act = func(call) { time.Sleep(200 * time.Millisecond) }
	case "panicking":
		h.panics = true
		h.act = func(c call) {
			if version(c.new)%4 == 0 {
				panic(handlerPanic)
			}
		}
	case "reading":
		h.reads = true
	}
	if t.resync < 0 {
		p.add(h, nil)
	} else {
		p.add(h, &t.resync)
	}
	p.live = append(p.live, h)
}

// quietly is longer than the longest back-off and the backlog of the slowest handler
// together.
const quietly = 7 * time.Minute

// mostRounds bounds the quiet times. A history whose informer tries again for ever would go
// on, in virtual time, after its case has been ended.
const mostRounds = 100

// setbacks returns the number of faults so far after which the informer has to try again.
func (p *player) setbacks() (n int) {
	for kind, times := range p.source.Struck() {
		if kind != synthetic.FaultDropBookmarks && kind != synthetic.FaultDelay {
			n += times
		}
	}
	return n
}

// compareQuietly waits until all events have arrived, and compares. Each fault that still
// strikes may cost another back-off, so the quiet time begins anew with each.
func (p *player) compareQuietly() {
	p.free()
	p.gate.mend()
	p.gate.catchUp()
	for before, rounds := -1, 0; before != p.setbacks(); rounds++ {
		if rounds == mostRounds {
			p.problem("INFORMER-29", "the informer never comes to rest: %d times it had to try again in "+
				"%d quiet times of %s", before, rounds, quietly)
			break
		}
		before = p.setbacks()
		p.advance(quietly)
	}
	for _, h := range p.removed {
		h.silence("INFORMER-14")
	}
	p.removed = nil
	p.compareLive()
}

// compareLive compares without the removed handlers, whose views may be of any time.
func (p *player) compareLive() {
	p.witnesses, p.live = p.live, p.witnesses
	p.compare()
	p.witnesses, p.live = p.live, p.witnesses
}
