package linear

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// A history is shrunk by steps that keep this invariant: if some order explains the history
// before the step, then some order explains it afterwards. So the rest is as wrong as the whole
// was, and after each step porcupine is asked whether it still is. The steps:
//
//   - A call that only reads is dropped. The order of the others explains them as before.
//   - A key is hidden: the objects under it are left out of every result, because results for
//     other keys do not depend on it. Only ListIndexFuncValues cannot be split by key: its calls
//     are dropped with the first hidden key.
//   - A write is dropped if no remaining call can have looked at what it left. Without it the
//     model differs only in what it set (a key, the version, an index), and only until the next
//     write of the same. A call that stands there in the order has answered as couldSee says. If
//     no call did, the same order without the write explains the rest. Objects are unique to
//     their writes, so a read that returns one cannot have looked while another was there.
//
// More is kept than must be where a person would miss it: the call that wrote what a result
// shows, even if by the model its object was gone, was half of a Transaction, or came of an
// AddIndexers that failed. Deletions are dropped last: if the store lost a write that followed a
// deletion, the rest without both is as wrong, but is not what happened.

// shrunk returns the history without everything that can be left out before the deadline.
func (h *history) shrunk(deadline time.Time) *history {
	if g := h.impossible(); g != nil {
		return g
	}
	best := h
	try := func(g *history) bool {
		if time.Now().After(deadline) || g.judge(patience) != porcupine.Illegal {
			return false
		}
		best = g
		return true
	}
	pass := func(may func(i int) bool) (took bool) {
		for k := range h.keys {
			took = !best.hidden.has(k) && try(best.hide(k)) || took
		}
		for i := len(best.ops) - 1; i >= 0; i-- {
			took = may(i) && try(best.without(i)) || took
		}
		return took
	}
	for pass(func(i int) bool { return best.droppable(i) && !best.removes(i) }) {
	}
	for pass(func(i int) bool { return best.droppable(i) }) {
	}
	return best
}

// removes reports whether call i deletes an object that a remaining call wrote, at the same
// time or before.
func (h *history) removes(i int) bool {
	d := h.ops[i]
	deleted := d.Input.(*call).touched() &^ d.Input.(*call).puts()
	return slices.ContainsFunc(h.ops, func(op porcupine.Operation) bool {
		return op.Call < d.Return && op.Input.(*call).puts()&deleted != 0
	})
}

// impossible finds a result that no state gives, such as two objects of one key in a list,
// and returns nil if there is none. The result is wrong by itself. The writes of the two
// objects are kept to explain it.
func (h *history) impossible() *history {
	for i, op := range h.ops {
		r := op.Output.(result)
		if r.odd == "" && r.twice == nil {
			continue
		}
		return h.only(func(j int, other porcupine.Operation) bool {
			return j == i || r.odd == "" &&
				slices.ContainsFunc(other.Input.(*call).writes, func(w write) bool {
					return w.object != nil && (w.object == r.twice || w.object == r.at[r.twice.key])
				})
		})
	}
	return nil
}

func (h *history) only(keep func(int, porcupine.Operation) bool) *history {
	g := *h
	g.ops = nil
	for i, op := range h.ops {
		if keep(i, op) {
			g.ops = append(g.ops, op)
		}
	}
	return &g
}

func (h *history) without(i int) *history {
	return h.only(func(j int, _ porcupine.Operation) bool { return j != i })
}

// hide leaves out a key, the calls that concern no other key, and all calls of
// ListIndexFuncValues.
func (h *history) hide(k int) *history {
	hidden := h.hidden | bit(k)
	versions := slices.ContainsFunc(h.ops, func(op porcupine.Operation) bool {
		return op.Input.(*call).kind.sees == seesVersion
	})
	g := h.only(func(_ int, op porcupine.Operation) bool {
		switch c := op.Input.(*call); {
		case c.kind == get:
			return !hidden.has(c.key)
		case c.kind.sees == seesValues:
			return false
		case c.kind.writes && c.adds == 0:
			return c.touched()&^hidden != 0 || c.version != 0 && versions
		}
		return true
	})
	g.hidden = hidden
	return g
}

// puts returns the keys under which c leaves an object.
func (c *call) puts() (put bits) {
	for _, w := range c.writes {
		if w.object != nil {
			put |= bit(w.key)
		}
	}
	return put
}

// names returns the keys that c's writes name.
func (c *call) names() (named bits) {
	for _, w := range c.writes {
		named |= bit(w.key)
	}
	return named
}

// touched returns the keys that c writes.
func (c *call) touched() bits {
	if c.whole {
		return allKeys
	}
	return c.names()
}

// droppable reports whether call i may be left out.
func (h *history) droppable(i int) bool {
	w := h.ops[i]
	if !w.Input.(*call).kind.writes {
		return true
	}
	return !slices.ContainsFunc(h.ops, func(r porcupine.Operation) bool {
		return r.Return >= w.Call && r.Call != w.Call && (h.mayShowWrites(r, w) || h.mayShowIndexes(r, w))
	})
}

// mayShowWrites reports whether r's result may depend on what w wrote, or names it.
func (h *history) mayShowWrites(r, w porcupine.Operation) bool {
	c, got := w.Input.(*call), r.Output.(result)
	for _, left := range c.writes {
		named := left.object != nil && !h.hidden.has(left.key) && got.at[left.key] == left.object
		if named || h.couldSeeWrite(w, r, left.key, left.object) ||
			couldSeeVersion(r, left.object.version()) || couldSeeVersion(r, left.last.version()) {
			return true
		}
	}
	for k := range h.keys {
		if c.whole && !c.names().has(k) && h.couldSeeWrite(w, r, k, nil) {
			return true
		}
	}
	return couldSeeVersion(r, c.version)
}

// mayShowIndexes is the same for the indexes that w added. If w was refused an index that
// the constructor or another call was given too, the index is not counted as w's.
func (h *history) mayShowIndexes(r, w porcupine.Operation) bool {
	refused := w.Output.(result).failed
	for x := range maxIndexes {
		if w.Input.(*call).adds.has(x) && couldSeeIndex(r, x) && (!refused || !h.added(x, w)) {
			return true
		}
	}
	return false
}

// couldSeeWrite is couldSee for what w left under the key. It reports false if w was a
// deletion and the key was certainly written anew before r.
func (h *history) couldSeeWrite(w, r porcupine.Operation, k int, o *object) bool {
	return !h.hidden.has(k) && couldSee(r, k, o) &&
		(o != nil || !slices.ContainsFunc(h.ops, func(x porcupine.Operation) bool {
			return w.Return < x.Call && x.Return < r.Call && x.Input.(*call).touched().has(k)
		}))
}

func couldSeeVersion(r porcupine.Operation, version int) bool {
	return version != 0 && r.Input.(*call).kind.sees == seesVersion &&
		r.Output.(result).version == version
}

// added reports whether a call other than w, or the constructor, was given the index.
func (h *history) added(x int, w porcupine.Operation) bool {
	return h.start.has(x) || slices.ContainsFunc(h.ops, func(op porcupine.Operation) bool {
		return op.Call != w.Call && op.Input.(*call).adds.has(x)
	})
}

// couldSee reports whether the call, given its result, may have looked at the key while o
// was there (nil: nothing).
func couldSee(r porcupine.Operation, k int, o *object) bool {
	c, got := r.Input.(*call), r.Output.(result)
	s := state{indexes: allIndexes}
	s.at[k] = o
	switch c.kind.sees {
	case seesObjects, seesKeys:
		if got.failed || c.kind == get && c.key != k {
			return false // the result does not depend on the key
		}
		want := c.kind.answer(s, c)
		return want.at[k] == got.at[k] && want.set.has(k) == got.set.has(k)
	case seesValues:
		return c.kind.answer(s, c).set&^got.set == 0
	}
	return false
}

// couldSeeIndex reports whether the call, given its result, may have looked while the index
// was there.
func couldSeeIndex(r porcupine.Operation, x int) bool {
	c, got := r.Input.(*call), r.Output.(result)
	switch c.kind {
	case addIndexers:
		return c.adds.has(x) && got.failed
	case getIndexers:
		return got.set.has(x)
	case listValues:
		return c.index == x
	}
	return c.kind.indexed && c.index == x && !got.failed
}

// finding is a violation: a history, first the one that was found and later one of fewer
// calls, and the shrunk rest of it.
type finding struct {
	whole, small *history
	calls        int // number of calls of the history that was found
	runs, broken int // runs of small's calls alone, and how many were wrong
}

// reruns is the most runs of a violation's calls alone.
const reruns = 300

// reduce shrinks the history, and looks for a smaller violation by running the rest again.
func reduce(h *history, newStore NewStore, r *rand.Rand, bound time.Duration,
	progress func()) finding {
	start := time.Now()
	f := finding{calls: len(h.ops), whole: h, small: h.shrunk(start.Add(bound / 2))}
	deadline := start.Add(bound)
	for f.runs < reruns && time.Now().Before(deadline) {
		prog := f.small.program()
		prog.shake(r)
		g, err := prog.record(newStore)
		progress()
		if err != nil {
			return f
		}
		f.runs++
		if g.judge(patience) != porcupine.Illegal {
			continue
		}
		f.broken++
		if s := g.shrunk(deadline); len(s.ops) < len(f.small.ops) {
			f = finding{calls: f.calls, whole: g, small: s}
		}
	}
	return f
}

// program returns the calls of the history as a program to run again.
func (h *history) program() *program {
	ops := slices.Clone(h.ops)
	slices.SortFunc(ops, byCall)
	p := &program{start: h.start, keys: h.keys, byKey: h.byKey}
	place := map[int]int{}
	for _, op := range ops {
		n, known := place[op.ClientId]
		if !known {
			n = len(p.clients)
			place[op.ClientId] = n
			p.clients = append(p.clients, nil)
		}
		c := op.Input.(*call)
		p.clients[n] = append(p.clients[n], c)
		for _, w := range c.writes {
			p.objects = append(p.objects, w.object, w.last)
		}
		p.objects = append(p.objects, c.probe)
	}
	p.objects = slices.DeleteFunc(p.objects, func(o *object) bool { return o == nil })
	return p
}

func byCall(a, b porcupine.Operation) int { return int(a.Call - b.Call) }
