package metamorphic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/informerbench/informerbench/contract"
)

// history is a generated list of calls.
type history struct {
	operations []*operation
	keys       []string // all keys that it may use
	objects    int      // the number of objects that it stores or asks with
}

// compareEvery is the number of calls between two comparisons of the whole state.
const compareEvery = 500

// period is a stretch of a history in which some calls come more often than others.
type period struct {
	weights [kinds]int
	// empties says that the period deletes every key, and ends when all are deleted.
	empties bool
}

// periods are, in order: a store fills, is updated, is relisted and updated, is mostly
// read, and is emptied.
var periods = []period{
	{weights: with(1, map[kind]int{opAdd: 60, opUpdate: 15, opDelete: 5, opTransaction: 4,
		opBookmark: 1, opAddIndexers: 1})},
	{weights: with(2, map[kind]int{opUpdate: 60, opAdd: 10, opDelete: 10, opDeleteWithObject: 5,
		opTransaction: 6, opBookmark: 2, opAddIndexers: 1})},
	{weights: with(1, map[kind]int{opReplace: 1, opUpdate: 40, opAdd: 10, opDelete: 10,
		opDeleteWithObject: 2, opTransaction: 4, opAddIndexers: 2})},
	{weights: with(5, map[kind]int{opUpdate: 10, opDelete: 2, opAddIndexers: 1})},
	{weights: with(1, map[kind]int{opDelete: 40, opDeleteWithObject: 15, opTransaction: 3}),
		empties: true},
}

// with returns the weights of the writes, and of the reads at reads times their common
// weights.
func with(reads int, writes map[kind]int) (weights [kinds]int) {
	common := map[kind]int{
		opGet: 8, opList: 1, opListKeys: 1, opByIndex: 8, opIndexKeys: 5, opIndex: 5,
		opListIndexFuncValues: 3,
		opGetIndexers:         1, opVersion: 4, opResync: 1,
	}
	for k, w := range common {
		weights[k] = reads * w
	}
	for k, w := range writes {
		weights[k] = w
	}
	return weights
}

// generator makes a history. It uses neither a store nor a model. It draws keys from
// ranges, so that a call more often than not meets a key that is there.
type generator struct {
	rng     *rand.Rand
	keys    []string
	length  int // calls of the whole history
	made    int // calls so far
	objects int
	version int

	period *period
	left   int     // calls until the period ends
	span   int     // the period uses the first span keys
	doomed []int   // keys that a period which empties the store has still to delete
	recent []write // the last writes, so that values and objects come again
	next   int     // number of writes that replaced one in recent
	queued []*operation
}

// remembered is the number of recent writes whose objects and values later calls reuse.
const remembered = 64

func generate(seed uint64, calls, keys int) history {
	g := &generator{rng: rand.New(rand.NewPCG(seed, 0x6d6574616d6f7270)), length: calls}
	for n := range keys {
		g.keys = append(g.keys, fmt.Sprintf("ns-%d/pod-%04d", n%7, n))
	}
	var h history
	compare := &operation{kind: opCompare}
	for ; g.made < calls; g.made++ {
		if g.left == 0 {
			g.begin()
		}
		g.left--
		h.operations = append(h.operations, g.operation())
		if g.made%compareEvery == compareEvery-1 {
			h.operations = append(h.operations, compare)
		}
	}
	h.operations = append(h.operations, compare)
	h.keys, h.objects = g.keys, g.objects
	return h
}

// begin starts a period; the first one fills the store.
func (g *generator) begin() {
	n := g.rng.IntN(len(periods))
	if g.made == 0 {
		n = 0
	}
	g.period = &periods[n]
	g.span = max(1, len(g.keys)/[]int{1, 1, 5, 30}[g.rng.IntN(4)])
	g.left = 1 + g.rng.IntN(max(1, g.length/20))
	if g.period.empties {
		g.doomed = g.rng.Perm(len(g.keys))
		g.left = -1 // never 0 before doomed is empty; see victim
	}
}

// operation draws one call.
func (g *generator) operation() *operation {
	if len(g.queued) > 0 {
		op := g.queued[0]
		g.queued = g.queued[1:]
		return op
	}
	op := &operation{kind: g.kind()}
	switch op.kind {
	case opAdd, opUpdate:
		w := g.write(contract.TransactionTypeUpdate, 40)
		op.key, op.object = w.key, w.object
	case opDelete:
		op.key = g.victim()
	case opDeleteWithObject:
		op.key = g.victim()
		if g.rng.IntN(4) > 0 {
			op.object = g.object()
		}
	case opReplace:
		op.version = g.newVersion()
		op.writes, op.none = g.content()
	case opTransaction:
		op.writes = g.batch()
	case opAddIndexers:
		if later := g.eligible(); later < indexCount && g.rng.IntN(3) == 0 {
			return g.obstacle(later)
		}
		op.adds = g.someIndexes()
	case opBookmark:
		op.version = g.newVersion()
	case opGet:
		op.key = g.key()
	case opByIndex, opIndexKeys:
		op.index, op.value = g.indexAndValue()
	case opListIndexFuncValues:
		op.index, _ = g.indexAndValue()
	case opIndex:
		op.index, _ = g.indexAndValue()
		op.object = g.again().object
		if op.object == nil || g.rng.IntN(2) == 0 {
			op.object = g.object()
			g.poison(op.object, 8)
		}
	}
	return op
}

// kind draws a kind of call by the weights of the period.
func (g *generator) kind() kind {
	sum := 0
	for _, w := range g.period.weights {
		sum += w
	}
	at := g.rng.IntN(sum)
	for k, w := range g.period.weights {
		if at -= w; at < 0 {
			return kind(k)
		}
	}
	return opResync // not reached: at was less than the sum
}

func (g *generator) key() string { return g.keys[g.rng.IntN(g.span)] }

// victim returns a key to delete: the next of doomed, or any key if doomed is empty.
func (g *generator) victim() string {
	n := len(g.doomed)
	if n == 0 {
		return g.key()
	}
	k := g.doomed[n-1]
	g.doomed = g.doomed[:n-1]
	if n == 1 {
		g.left = 0
	}
	return g.keys[k]
}

func (g *generator) newVersion() string {
	g.version++
	return strconv.Itoa(g.version)
}

// again returns one of the last writes. Its object is nil if there is none yet.
func (g *generator) again() write {
	if len(g.recent) == 0 {
		return write{}
	}
	return g.recent[g.rng.IntN(len(g.recent))]
}

// write draws an object and its key. One write in 30 takes a recent object: under its own
// key nothing changes, under another key the store holds the object twice. The IndexFunc
// fails on one new object in rarity.
func (g *generator) write(kind contract.TransactionType, rarity int) write {
	w := write{kind, g.key(), nil}
	if g.rng.IntN(30) == 0 {
		old := g.again()
		w.object = old.object
		if g.rng.IntN(2) == 0 && old.object != nil {
			w.key = old.key
		}
	}
	if w.object == nil {
		w.object = g.object()
		g.poison(w.object, rarity)
	}
	if len(g.recent) < remembered {
		g.recent = append(g.recent, w)
	} else {
		g.recent[g.next%remembered] = w
		g.next++
	}
	return w
}

// content draws the argument of a Replace: nil, an empty map, or up to twice span objects.
func (g *generator) content() (writes []write, none bool) {
	switch g.rng.IntN(10) {
	case 0:
		return nil, true
	case 1:
		return nil, false
	}
	taken := map[string]bool{}
	for range 1 + g.rng.IntN(2*g.span) {
		if w := g.write("", 0); !taken[w.key] {
			taken[w.key] = true
			writes = append(writes, w)
		}
	}
	if g.rng.IntN(8) == 0 {
		i := g.rng.IntN(len(writes))
		writes[i].object = g.object()
		g.poison(writes[i].object, 1)
	}
	return writes, false
}

// batch draws a Transaction of no writes, of a few, or of up to 149.
func (g *generator) batch() []write {
	n := g.rng.IntN(8)
	if g.rng.IntN(6) == 0 {
		n = g.rng.IntN(150)
	}
	bad := -1
	if n > 0 && g.rng.IntN(8) == 0 {
		bad = g.rng.IntN(n)
	}
	var writes []write
	for i := range n {
		how := g.rng.IntN(3)
		if g.period.empties {
			how = 0
		}
		switch how {
		case 0:
			w := write{kind: contract.TransactionTypeDelete, key: g.victim()}
			if g.rng.IntN(2) == 0 {
				w.object = g.object()
			}
			writes = append(writes, w)
		case 1:
			writes = append(writes, g.write(contract.TransactionTypeAdd, 0))
		default:
			writes = append(writes, g.write(contract.TransactionTypeUpdate, 0))
		}
		if w := &writes[i]; i == bad && w.kind != contract.TransactionTypeDelete {
			w.object = g.object()
			g.poison(w.object, 1)
		}
		if g.period.empties && g.left == 0 {
			break // that deleted the last key
		}
	}
	return writes
}

// eligible returns how many of the indexes may exist by now. The others come later.
func (g *generator) eligible() int {
	return min(indexCount, atFirst+g.made*(indexCount-atFirst+1)/max(1, g.length))
}

// someIndexes draws the argument of AddIndexers: names that are taken as well as new ones.
func (g *generator) someIndexes() []int {
	return g.rng.Perm(g.eligible())[:[]int{0, 1, 1, 1, 2, 2}[g.rng.IntN(6)]]
}

// obstacle returns a write of an object on which the index fails. It queues a call that
// tries to add the index, and one that deletes the object.
func (g *generator) obstacle(index int) *operation {
	bad := &operation{kind: opUpdate, key: g.key(), object: g.object()}
	bad.object.poison, bad.object.panics = index, g.rng.IntN(2) == 0
	g.queued = []*operation{{kind: opAddIndexers, adds: []int{index}}, {kind: opDelete, key: bad.key}}
	return bad
}

// indexAndValue draws an index and a value to ask it for, mostly a value of a recent
// object.
func (g *generator) indexAndValue() (index, value string) {
	if g.rng.IntN(30) == 0 {
		return unknownIndex, "x"
	}
	n := g.rng.IntN(min(indexCount, g.eligible()+1)) // or an index that is not there yet
	value = "nowhere"
	if o := g.again().object; o != nil && len(o.values[n]) > 0 && g.rng.IntN(8) > 0 {
		value = o.values[n][g.rng.IntN(len(o.values[n]))]
	}
	return indexNames[n], value
}

// object makes a new object. Nodes come and go: their numbers rise as the history goes on.
func (g *generator) object() *object {
	o := &object{id: g.objects, poison: -1}
	g.objects++
	if g.rng.IntN(10) > 0 {
		o.version = g.newVersion()
	}
	r := g.rng
	o.values[namespace] = []string{fmt.Sprintf("ns-%d", r.IntN(7))}
	if r.IntN(8) > 0 {
		o.values[node] = []string{fmt.Sprintf("node-%d", g.made/1000+r.IntN(2+g.span/20))}
	}
	for range max(0, r.IntN(6)-1) {
		o.values[labels] = append(o.values[labels], fmt.Sprintf("label-%d", r.IntN(12)))
	}
	o.values[owner] = []string{fmt.Sprintf("owner-%d", o.id-o.id%(1+r.IntN(2)))}
	o.values[phase] = []string{[]string{"Pending", "Running", "Failed"}[r.IntN(3)]}
	if n := r.IntN(20); n < 4 {
		o.values[rare] = []string{[]string{"", "a", "b", "a"}[n]}
	}
	return o.dress()
}

// poison makes an index fail on o, for one object in rarity; 0 is never. It mostly picks an
// index that is there, since otherwise the write would not fail.
func (g *generator) poison(o *object, rarity int) {
	if rarity == 0 || g.rng.IntN(rarity) > 0 {
		return
	}
	o.poison = g.rng.IntN(atFirst)
	if g.rng.IntN(4) == 0 {
		o.poison = g.rng.IntN(indexCount)
	}
	o.panics = g.rng.IntN(2) == 0
}

// writesOnly leaves out the calls that change nothing, except the last call.
func writesOnly(ops []*operation) []*operation {
	last := len(ops) - 1
	out := slices.DeleteFunc(slices.Clone(ops[:last]), func(op *operation) bool {
		return !op.kind.changes()
	})
	return append(out, ops[last])
}
