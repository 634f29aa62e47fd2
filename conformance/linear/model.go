package linear

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informerbench/informerbench/contract"
)

// state is the whole content of the model's store.
type state struct {
	at      [maxKeys]*object // nil: absent
	indexes bits
	version int // 0 is ""
}

// apply makes the writes of c.
func (s *state) apply(c *call) {
	if c.whole {
		s.at = [maxKeys]*object{}
	}
	for _, w := range c.writes {
		s.at[w.key] = w.object
	}
	if c.version != 0 {
		s.version = c.version
	}
	s.indexes |= c.adds
}

// matching returns the objects that have one of c's values in c's index.
func (s *state) matching(c *call) (at [maxKeys]*object) {
	for k, o := range s.at {
		if o != nil && o.values[c.index]&c.values != 0 {
			at[k] = o
		}
	}
	return at
}

func (s state) hash() uint64 {
	h := uint64(s.version)<<8 | uint64(s.indexes)
	for _, o := range s.at {
		h *= 1099511628211 // FNV's
		if o != nil {
			h ^= uint64(o.number)
		}
	}
	return h
}

func present(at [maxKeys]*object) (keys bits) {
	for k, o := range at {
		if o != nil {
			keys |= bit(k)
		}
	}
	return keys
}

// result is the result of a call, the store's or the model's. Two results are the same if
// they are equal.
type result struct {
	at      [maxKeys]*object // the objects, by their own keys
	twice   *object          // a second object of a key, or the same one once more
	set     bits             // keys, values or indexes: the call's view decides
	failed  bool             // an error
	version int
	odd     string // a result that no store may return, in words
}

// history holds the clients' calls and results, and which of them are judged.
type history struct {
	start  bits // the indexes that the store was made with
	keys   int  // number of keys in use
	byKey  bool // every call concerns one key: each is judged by itself
	ops    []porcupine.Operation
	hidden bits // keys that are left out of the judgement
}

// judge looks for an order that explains the history, for at most patience.
func (h *history) judge(patience time.Duration) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(h.model(), h.ops, patience)
}

// model is porcupine's view of the history: its inputs are *call, its outputs
// result, its states state.
func (h *history) model() porcupine.Model {
	m := porcupine.Model{
		Init: func() any { return state{indexes: h.start} },
		Step: func(before, input, output any) (bool, any) {
			s, c, got := before.(state), input.(*call), output.(result)
			if c.kind.answer != nil && c.shown(c.kind.answer(s, c), h.hidden) != c.shown(got, h.hidden) {
				return false, before
			}
			if !c.kind.writes || got.failed {
				return true, before
			}
			s.apply(c)
			return true, s
		},
		Hash: func(of any) uint64 { return of.(state).hash() },
		DescribeOperation: func(input, output any) string {
			return describe(input.(*call), output.(result), h.hidden)
		},
		DescribeState: func(of any) string { return of.(state).text(h.hidden) },
	}
	if h.byKey {
		m.Partition = partition
	}
	return m
}

// partition gives each key its own calls.
func partition(ops []porcupine.Operation) [][]porcupine.Operation {
	byKey := make([][]porcupine.Operation, maxKeys)
	for _, op := range ops {
		k := op.Input.(*call).key
		byKey[k] = append(byKey[k], op)
	}
	return slices.DeleteFunc(byKey, func(ops []porcupine.Operation) bool { return len(ops) == 0 })
}

// shown leaves the hidden keys out of a result of c.
func (c *call) shown(r result, hidden bits) result {
	if hidden == 0 {
		return r
	}
	for k := range r.at {
		if hidden.has(k) {
			r.at[k] = nil
		}
	}
	if c.kind.sees == seesKeys {
		r.set &^= hidden
	}
	return r
}

// maxKeys is the most keys in a history.
const maxKeys = 4

// The indexes, by the number of values that an object has in them.
const (
	one   = iota // exactly one
	many         // none, several, or one twice
	maybe        // one or none
	maxIndexes
)

var (
	keyNames   = [maxKeys]string{"a", "b", "c", "d"}
	indexNames = [maxIndexes]string{"one", "many", "maybe"}
	valueNames = [...]string{"x", "y", "z"} // in each index
	manyValues = [...][]string{nil, {"x"}, {"x", "y"}, {"y", "y"}, {"z", "x", "y"}}
)

// bits is a set of keys, of values or of indexes, by their places in the arrays.
type bits uint8

func bit(n int) bits { return 1 << n }

const (
	allKeys    bits = 1<<maxKeys - 1
	allIndexes bits = 1<<maxIndexes - 1
)

func (b bits) has(n int) bool { return b&bit(n) != 0 }

func (b bits) text(names []string) string {
	var in []string
	for n, name := range names {
		if b.has(n) {
			in = append(in, name)
		}
	}
	return "{" + strings.Join(in, ", ") + "}"
}

// object is the object that calls store. No two writes of a history store the same one, so
// a read that returns an object shows which write it saw.
type object struct {
	number int // unique in its history; also its resource version
	key    int
	lists  [maxIndexes][]string // the results of the IndexFuncs
	values [maxIndexes]bits     // the same as sets
	// the value that stores get: the object itself, or a withMeta around it
	stored any
	// yields is the number of times that the goroutine yields when a store asks for the
	// object's index values or its version. It changes only while no client runs.
	yields int
}

// withMeta is an object that has a resource version; a bare *object has none.
type withMeta struct {
	metav1.ObjectMeta
	of *object
}

// GetResourceVersion yields, so that other clients can run between the write and the
// version in a store that separates the two.
func (m *withMeta) GetResourceVersion() string {
	m.of.makeWay()
	return m.ObjectMeta.ResourceVersion
}

func newObject(number, key int, meta bool, lists [maxIndexes][]string) *object {
	o := &object{number: number, key: key, lists: lists}
	for i, list := range lists {
		for _, value := range list {
			o.values[i] |= bit(slices.Index(valueNames[:], value))
		}
	}
	o.stored = o
	if meta {
		m := &withMeta{of: o}
		m.Name, m.ResourceVersion = keyNames[key], strconv.Itoa(number)
		o.stored = m
	}
	return o
}

// version returns the resource version that a store has after it stored o; 0 leaves the
// version unchanged.
func (o *object) version() int {
	if o == nil || o.stored == any(o) {
		return 0
	}
	return o.number
}

func (o *object) makeWay() {
	for range o.yields {
		runtime.Gosched()
	}
}

// item returns o as stores get it, nil if there is none.
func (o *object) item() any {
	if o == nil {
		return nil
	}
	return o.stored
}

// objectOf returns the object that a store returned as item; nil if no call stored item.
func objectOf(item any) *object {
	var o *object
	switch t := item.(type) {
	case *object:
		o = t
	case *withMeta:
		if t != nil {
			o = t.of
		}
	}
	if o == nil || o.stored != item {
		return nil
	}
	return o
}

// String names the object by its key and number.
func (o *object) String() string { return fmt.Sprintf("%s#%d", keyNames[o.key], o.number) }

// long returns the object's name with its index values and version.
func (o *object) long() string {
	var of []string
	for i, list := range o.lists {
		if len(list) > 0 {
			of = append(of, indexNames[i]+"="+strings.Join(list, ","))
		}
	}
	if o.version() != 0 {
		of = append(of, "version="+strconv.Itoa(o.version()))
	}
	return o.String() + "[" + strings.Join(of, " ") + "]"
}

// indexers returns the indexers of the given indexes, in a fresh map.
func indexers(of bits) contract.Indexers {
	m := contract.Indexers{}
	for i, name := range indexNames {
		if !of.has(i) {
			continue
		}
		m[name] = func(item any) ([]string, error) {
			o := objectOf(item)
			if o == nil {
				return nil, fmt.Errorf("the IndexFunc of %q was given %T(%v), which nobody stored", name, item,
					item)
			}
			o.makeWay()
			return o.lists[i], nil
		}
	}
	return m
}
