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
	"github.com/informerbench/informerbench/load"
)

// played is what came of a history.
type played struct {
	problems []problem
	hangs    bool
	log      []string // what was written to the source
	calls    int      // of handlers
	struck   int      // faults, and cuts of the line
	faults   map[load.FaultKind]int
}

// player plays a history in a world.
type player struct {
	*world
	h       history
	played  played
	release func()     // of the requests that are held; nil if none is
	live    []*witness // those that were not removed
	removed []*witness // since the last comparison
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
			p.stop() // while requests are held, if they are
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

// write creates or updates, and erase deletes; others may do so at the same time.
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

// logLocked notes what was done to an object, under the lock of writing.
func (p *player) logLocked(what string, obj runtime.Object) {
	p.writing.log = append(p.writing.log, fmt.Sprintf("  %9s %s %s\n", time.Since(p.begin).Round(time.Millisecond), what, describe(obj)))
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
				panic("this handler panics, as the suite asks")
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

// quietly is longer than the longest back-off and what the slowest handler may have
// before it.
const quietly = 7 * time.Minute

// setbacks is how many faults have struck after which the informer has to try again.
func (p *player) setbacks() (n int) {
	for kind, times := range p.source.Struck() {
		if kind != load.FaultDropBookmarks && kind != load.FaultDelay {
			n += times
		}
	}
	return n
}

// compareQuietly waits until everything has come, and compares. Faults that are still to
// strike may each cost another back-off, so a quiet time begins anew with each.
func (p *player) compareQuietly() {
	p.free()
	p.gate.mend()
	p.gate.catchUp()
	for before := -1; before != p.setbacks(); {
		before = p.setbacks()
		p.advance(quietly)
	}
	for _, h := range p.removed {
		h.silence("INFORMER-14")
	}
	p.removed = nil
	p.compareLive()
}

// compareLive leaves out handlers that were removed: they may stand anywhere.
func (p *player) compareLive() {
	p.witnesses, p.live = p.live, p.witnesses
	p.compare()
	p.witnesses, p.live = p.live, p.witnesses
}
