package linear

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/anishathalye/porcupine"

	"github.com/informerbench/informerbench/contract"
)

// span is a range of sizes, both ends included.
type span struct{ least, most int }

func (s span) draw(r *rand.Rand) int { return s.least + r.IntN(s.most-s.least+1) }

// dice draws the parts of a program.
type dice struct {
	r       *rand.Rand
	keys    int
	indexes bits
	last    int // the last number that next returned
	objects []*object
}

// next returns a number that is new in the history.
func (d *dice) next() int {
	d.last++
	return d.last
}

func (d *dice) key() int { return d.r.IntN(d.keys) }

// object draws a new object. It has metadata if meta is true, or else by chance.
func (d *dice) object(key int, meta bool) *object {
	var lists [maxIndexes][]string
	lists[one] = []string{valueNames[d.r.IntN(len(valueNames))]}
	lists[many] = slices.Clone(manyValues[d.r.IntN(len(manyValues))])
	if d.r.IntN(2) == 0 {
		lists[maybe] = []string{valueNames[d.r.IntN(2)]}
	}
	o := newObject(d.next(), key, meta || d.r.IntN(4) != 0, lists)
	d.objects = append(d.objects, o)
	return o
}

// index draws one of the indexes in use.
func (d *dice) index() int {
	for {
		if i := d.r.IntN(maxIndexes); d.indexes.has(i) {
			return i
		}
	}
}

func (d *dice) someIndexes() bits {
	some := bit(d.index())
	return some | bits(d.r.Uint32())&d.indexes
}

func (d *dice) drawStore(c *call) {
	c.key = d.key()
	o := d.object(c.key, false)
	c.writes, c.version = []write{{key: c.key, object: o}}, o.version()
}

func (d *dice) drawValue(c *call) { c.index, c.values = d.index(), bit(d.r.IntN(len(valueNames))) }

// drawBatch draws the writes of a Transaction. The object of the last write has metadata:
// otherwise the contract leaves open which version the store takes.
func (d *dice) drawBatch(c *call, writes int, key func() int) {
	for n := range writes {
		w := write{key: key(), as: contract.TransactionTypeDelete}
		final := n == writes-1
		switch d.r.IntN(3) {
		case 0:
			w.as, w.object = contract.TransactionTypeAdd, d.object(w.key, final)
		case 1:
			w.as, w.object = contract.TransactionTypeUpdate, d.object(w.key, final)
		default:
			if final || d.r.IntN(2) == 0 {
				w.last = d.object(w.key, final)
			}
		}
		c.writes = append(c.writes, w)
		c.version = max(w.object.version(), w.last.version())
	}
}

// program holds the clients' calls of one history.
type program struct {
	start   bits
	keys    int
	byKey   bool
	clients [][]*call
	objects []*object
}

// draw draws a program of calls of the given kinds.
func (p plan) draw(r *rand.Rand, kinds []*kind) *program {
	d := &dice{r: r, keys: p.keys.draw(r)}
	for _, i := range r.Perm(maxIndexes)[:p.indexes.draw(r)] {
		d.indexes |= bit(i)
	}
	prog := &program{start: d.indexes, keys: d.keys, byKey: p.byKey,
		clients: make([][]*call, p.clients.draw(r))}
	if slices.Contains(kinds, addIndexers) {
		prog.start &= bits(r.Uint32())
	}
	calls := p.calls.draw(r)
	for n := range prog.clients {
		for range calls {
			c := &call{kind: kinds[r.IntN(len(kinds))]}
			if c.kind.draw != nil {
				c.kind.draw(d, c)
			}
			prog.clients[n] = append(prog.clients[n], c)
		}
	}
	prog.objects = d.objects
	return prog
}

// shake draws where goroutines yield. In a third of the histories they do not yield inside
// the store: some races open only if the store runs through.
func (p *program) shake(r *rand.Rand) {
	calm := r.IntN(3) == 0
	for _, o := range p.objects {
		o.yields = 0
		if !calm {
			o.yields = burst(r)
		}
	}
	for _, mine := range p.clients {
		for _, c := range mine {
			c.yields = burst(r)
		}
	}
}

func burst(r *rand.Rand) int {
	switch n := r.IntN(16); {
	case n == 0:
		return 1 + r.IntN(8)
	case n < 6:
		return 1
	}
	return 0
}

// record runs the program on a fresh store. It returns an error if a call panicked.
func (p *program) record(newStore NewStore) (*history, error) {
	h := &history{start: p.start, keys: p.keys, byKey: p.byKey}
	for n, mine := range p.clients {
		for _, c := range mine {
			if c.kind.prepare != nil {
				c.kind.prepare(c)
			}
			h.ops = append(h.ops, porcupine.Operation{ClientId: n, Input: c})
		}
	}
	s := newStore(indexers(p.start))

	var (
		clock, ready atomic.Int64
		panicked     atomic.Pointer[string]
		wg           sync.WaitGroup
		rest         = h.ops
	)
	for _, calls := range p.clients {
		mine := rest[:len(calls)]
		rest = rest[len(calls):]
		wg.Go(func() {
			var at *call
			defer func() {
				if v := recover(); v != nil {
					text := fmt.Sprintf("%s panics: %v\n%s", at.text(0), v, debug.Stack())
					panicked.CompareAndSwap(nil, &text)
				}
			}()
			// Starting a goroutine takes longer than a call. Without this loop the clients
			// would run one after the other.
			for ready.Add(1); ready.Load() < int64(len(p.clients)); {
				runtime.Gosched()
			}
			for n := range mine {
				op := &mine[n]
				at = op.Input.(*call)
				for range at.yields {
					runtime.Gosched()
				}
				op.Call = clock.Add(1)
				got := at.kind.run(s, at)
				op.Return = clock.Add(1)
				op.Output = at.read(got)
			}
		})
	}
	wg.Wait()
	if text := panicked.Load(); text != nil {
		return nil, errors.New(*text)
	}
	return h, nil
}
