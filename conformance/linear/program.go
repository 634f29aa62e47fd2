package linear

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/informerbench/informerbench/conformance/suite"
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

// patience bounds one search for an order, so that the case does not stall. Nearly all
// searches take well below a millisecond.
const patience = 2 * time.Second

// plan describes the histories of a case.
type plan struct {
	clause, name, why             string
	kinds                         []*kind // one is drawn for each call; repeated kinds are likelier
	about                         []*kind // if the store supports none of these, the case is skipped
	byKey                         bool
	clients, calls, keys, indexes span // calls is per client
	share                         int  // the case plays budget/share histories
}

var (
	manyClients = span{3, 5}
	shortRun    = span{4, 8}
	fewKeys     = span{2, maxKeys}
	fewIndexes  = span{1, maxIndexes}
)

var plans = []plan{
	{
		clause: "STORE-34", name: "by-key",
		why: "a controller that has written and then reads an older state decides on what it " +
			"knows to be wrong",
		kinds:   []*kind{add, update, update, remove, removeObject, transactionOfOne, get, get, get, get},
		byKey:   true,
		clients: manyClients, calls: span{20, 40}, keys: fewKeys, indexes: fewIndexes, share: 4,
	},
	{
		clause: "STORE-35", name: "objects",
		why: "a list that never was, or an older one after a newer one, is acted upon as if it " +
			"were the cluster",
		kinds:   []*kind{add, update, update, remove, replace, get, list, list, appendList, listKeys},
		about:   []*kind{list, appendList, listKeys},
		clients: manyClients, calls: shortRun, keys: fewKeys, indexes: fewIndexes, share: 1,
	},
	{
		clause: "STORE-35", name: "indexes",
		why: "an index that lags behind its objects gives a pod to two owners, or to none",
		kinds: []*kind{add, update, update, remove, replace, get, byIndex, byIndex, appendByIndex,
			index, indexKeys, listValues},
		about:   []*kind{byIndex, appendByIndex, index, indexKeys, listValues},
		clients: manyClients, calls: shortRun, keys: fewKeys, indexes: fewIndexes, share: 1,
	},
	{
		clause: "STORE-35", name: "indexers",
		why: "who adds an indexer reads it at once, while the watch goes on",
		kinds: []*kind{update, update, remove, replace, addIndexers, addIndexers, getIndexers, byIndex,
			byIndex, index, indexKeys, listValues},
		about:   []*kind{addIndexers},
		clients: manyClients, calls: shortRun, keys: fewKeys, indexes: span{maxIndexes, maxIndexes},
		share: 1,
	},
	{
		clause: "STORE-35", name: "transactions",
		why: "a batch stands for a burst of events; half of it never was",
		kinds: []*kind{update, remove, replace, transaction, transaction, transaction, get, list,
			byIndex, indexKeys, listValues},
		about:   []*kind{transaction},
		clients: manyClients, calls: shortRun, keys: fewKeys, indexes: fewIndexes, share: 1,
	},
	{
		clause: "STORE-35", name: "versions",
		why: "an informer says how far its cache is; a version ahead of the content hides that it " +
			"is behind",
		kinds: []*kind{add, update, update, remove, removeObject, replace, transaction, bookmark, get,
			list, lastVersion, lastVersion, lastVersion},
		about:   []*kind{lastVersion},
		clients: manyClients, calls: shortRun, keys: span{2, 2}, indexes: span{1, 1}, share: 1,
	},
	{
		clause: "STORE-35", name: "everything",
		why: "programs mix all calls, and what holds for each pair of them must hold for all together",
		kinds: []*kind{
			add, update, remove, removeObject, replace, transaction, bookmark, addIndexers,
			get, list, appendList, listKeys, byIndex, appendByIndex, index, indexKeys, listValues,
			getIndexers, lastVersion,
		},
		clients: manyClients, calls: shortRun, keys: fewKeys, indexes: fewIndexes, share: 1,
	},
}

// run records and judges histories until one is wrong, enough were right, or half of the
// case's time is over.
func (p plan) run(t *suite.T, newStore NewStore, histories int) {
	kinds, left := p.usable(t.Config(), newStore)
	if len(p.about) > 0 && !slices.ContainsFunc(p.about, func(k *kind) bool {
		return slices.Contains(kinds, k)
	}) {
		t.Skipf("%s", strings.Join(left, "; "))
	}
	var (
		r        = t.Rand()
		deadline = time.Now().Add(t.Config().CaseTimeout / 2)
		want     = max(1, t.Scale(histories)/p.share)
		sum      = tally{left: left, want: want}
	)
	defer func() { t.Notef("%s", sum) }()
	for sum.histories < want && time.Now().Before(deadline) {
		prog := p.draw(r, kinds)
		prog.shake(r)
		h, err := prog.record(newStore)
		t.Progress()
		sum.histories++
		if err != nil {
			t.Fatalf("history %d: a call that must not panic: %v", sum.histories, err)
		}
		sum.calls += len(h.ops)
		switch h.judge(min(patience, t.Patience()/2)) {
		case porcupine.Unknown:
			sum.undecided++
		case porcupine.Illegal:
			f := reduce(h, newStore, r, t.Config().CaseTimeout/8, t.Progress)
			t.Fatalf("history %d (%d clients): %s", sum.histories, len(prog.clients),
				f.report(suite.Settings[settings](t.Config()).drawings, p.clause))
		}
	}
}

// usable returns the kinds of calls that the store supports and does not waive. left says
// why the others are left out.
func (p plan) usable(cfg suite.Config, newStore NewStore) (kinds []*kind, left []string) {
	s := newStore(contract.Indexers{})
	why := map[*kind]string{}
	for _, k := range p.kinds {
		if k.power != nil && !k.power.has(s) {
			why[k] = "no " + k.power.method
		}
		for _, clause := range k.clauses {
			if reason, waived := cfg.Waived[clause]; waived {
				why[k] = fmt.Sprintf("%s is left out: %s is waived: %s", k.name, clause, reason)
			}
		}
	}
	if slices.Contains(p.kinds, addIndexers) && slices.Contains(p.kinds, getIndexers) &&
		why[getIndexers] == "" && sharesIndexers(newStore) {
		why[getIndexers] = "GetIndexers is left out: AddIndexers writes to the map that it returned " +
			"(STORE-26), and Go ends a process that reads such a map"
	}
	kinds = slices.DeleteFunc(slices.Clone(p.kinds), func(k *kind) bool { return why[k] != "" })
	left = slices.Sorted(maps.Values(why))
	return kinds, slices.Compact(left)
}

// sharesIndexers reports whether GetIndexers returns the store's own map.
func sharesIndexers(newStore NewStore) bool {
	s := newStore(indexers(bit(one)))
	before := s.GetIndexers()
	return s.AddIndexers(indexers(bit(many))) == nil && len(before) != 1
}

// tally is the text of Result.Note.
type tally struct {
	want, histories, calls, undecided int
	left                              []string
}

func (s tally) String() string {
	text := fmt.Sprintf("%d histories of %d calls in all", s.histories, s.calls)
	if s.undecided > 0 {
		text += fmt.Sprintf("; %d undecided: no order was found within %s, nor that there is none",
			s.undecided, patience)
	}
	if s.histories < s.want {
		text += fmt.Sprintf("; ended before all of %d", s.want)
	}
	return strings.Join(append([]string{text}, s.left...), "; ")
}
