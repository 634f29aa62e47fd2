package informertest

// Playing a history.

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/synthetic"
)

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
