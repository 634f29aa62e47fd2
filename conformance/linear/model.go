package linear

import (
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
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
