package metamorphic

import (
	"maps"
	"slices"

	"github.com/informerbench/informerbench/contract"
)

// model is the oracle: a map of the objects, and every question is answered by looking at
// all of them.
type model struct {
	items   map[string]*object
	present [indexCount]bool
	version string
	// versionOpen says that the contract leaves open which version a store has.
	versionOpen bool
}

func newModel() *model {
	m := &model{items: map[string]*object{}}
	for n := range atFirst {
		m.present[n] = true
	}
	return m
}

// outcome is how a call ends.
type outcome int

const (
	returns  outcome = iota
	errs             // it returns an error
	errsOn           // it returns the error of the IndexFunc
	panics           // it panics, because an IndexFunc failed
	passesOn         // it passes on the panic of an IndexFunc
	anyway           // the contract leaves it open; no store gets the call
)

// answer is what a call must return. Only the fields of its kind are set.
type answer struct {
	how     outcome
	object  *object   // nil if there is none
	objects []*object // in any order
	keys    []string  // sorted
	values  []string  // sorted
	version string    // the store's resource version after the call
	// versionOpen says that version is one of several right ones.
	versionOpen bool
	all         *state
}

// apply applies the call to the model and returns what a store must answer.
func (m *model) apply(op *operation) answer {
	a := m.answer(op)
	a.version, a.versionOpen = m.version, m.versionOpen
	return a
}

func (m *model) answer(op *operation) answer {
	switch op.kind {
	case opAdd, opUpdate:
		if how := m.refusal(op.object); how != returns {
			return answer{how: how}
		}
		m.items[op.key] = op.object
		m.see(op.object)
	case opDelete:
		delete(m.items, op.key)
	case opDeleteWithObject:
		delete(m.items, op.key)
		m.see(op.object)
	case opReplace:
		return m.replace(op)
	case opTransaction:
		return m.transaction(op)
	case opAddIndexers:
		return m.addIndexers(op)
	case opBookmark:
		m.setVersion(op.version)
	case opGet:
		return answer{object: m.items[op.key]}
	case opList:
		return answer{objects: slices.Collect(maps.Values(m.items))}
	case opListKeys:
		return answer{keys: m.sortedKeys()}
	case opByIndex, opIndexKeys, opIndex, opListIndexFuncValues:
		return m.ask(op)
	case opGetIndexers:
		return answer{values: m.indexNames()}
	case opCompare:
		return answer{all: m.state()}
	}
	return answer{}
}

// refusal returns how a write of the object ends: not by returning if an existing index
// fails on it.
func (m *model) refusal(o *object) outcome {
	switch {
	case o == nil || o.poison < 0 || !m.present[o.poison]:
		return returns
	case o.panics:
		return passesOn
	}
	return panics
}

// refusalOf returns how a write of all of them ends. If several objects fail, the store
// chooses which one it meets first.
func (m *model) refusalOf(writes []write) outcome {
	all, failing := returns, 0
	for _, w := range writes {
		if w.kind == contract.TransactionTypeDelete {
			continue // the object of a deletion is not indexed
		}
		if how := m.refusal(w.object); how != returns {
			all = how
			failing++
		}
	}
	if failing > 1 {
		return panics
	}
	return all
}

// see takes over the resource version of an object that has one.
func (m *model) see(o *object) {
	if o.hasVersion() {
		m.setVersion(o.version)
	}
}

func (m *model) setVersion(version string) { m.version, m.versionOpen = version, false }

func (m *model) replace(op *operation) answer {
	if how := m.refusalOf(op.writes); how != returns {
		return answer{how: how}
	}
	m.items = make(map[string]*object, len(op.writes))
	for _, w := range op.writes {
		m.items[w.key] = w.object
	}
	m.setVersion(op.version)
	return answer{}
}

// transaction takes the version of the last object (STORE-43). If that has none and one
// before it has, the contract leaves open whether a store takes that one or keeps its own.
func (m *model) transaction(op *operation) answer {
	if how := m.refusalOf(op.writes); how != returns {
		return answer{how: how}
	}
	for _, w := range op.writes {
		if w.kind == contract.TransactionTypeDelete {
			delete(m.items, w.key)
		} else {
			m.items[w.key] = w.object
		}
	}
	if slices.ContainsFunc(op.writes, func(w write) bool { return w.object.hasVersion() }) {
		m.versionOpen = true
		m.see(op.writes[len(op.writes)-1].object)
	}
	return answer{}
}

// addIndexers returns an error for a name that is taken, and panics if a new index fails on
// an object. If both hold, the contract leaves open which comes first.
func (m *model) addIndexers(op *operation) answer {
	taken := slices.ContainsFunc(op.adds, func(n int) bool { return m.present[n] })
	fails := false
	for _, o := range m.items {
		fails = fails || o.poison >= 0 && !m.present[o.poison] && slices.Contains(op.adds, o.poison)
	}
	switch {
	case taken && fails:
		return answer{how: anyway}
	case taken:
		return answer{how: errs}
	case fails:
		return answer{how: panics}
	}
	for _, n := range op.adds {
		m.present[n] = true
	}
	return answer{}
}

// ask answers a read of an index.
func (m *model) ask(op *operation) answer {
	n := indexNumber(op.index)
	known := n >= 0 && m.present[n]
	switch {
	case op.kind == opListIndexFuncValues && !known:
		return answer{}
	case op.kind == opListIndexFuncValues:
		return answer{values: m.valuesOf(n)}
	case !known:
		return answer{how: errs}
	case op.kind == opIndex && op.object.poison == n && op.object.panics:
		return answer{how: passesOn}
	case op.kind == opIndex && op.object.poison == n:
		return answer{how: errsOn}
	}
	var a answer
	for key, o := range m.items {
		switch op.kind {
		case opIndex:
			if slices.ContainsFunc(o.values[n], func(v string) bool {
				return slices.Contains(op.object.values[n], v)
			}) {
				a.objects = append(a.objects, o)
			}
		case opByIndex:
			if slices.Contains(o.values[n], op.value) {
				a.objects = append(a.objects, o)
			}
		default:
			if slices.Contains(o.values[n], op.value) {
				a.keys = append(a.keys, key)
			}
		}
	}
	slices.Sort(a.keys)
	return a
}

func (m *model) sortedKeys() []string { return slices.Sorted(maps.Keys(m.items)) }

// valuesOf returns the values that stored objects have in an index, each once, sorted.
func (m *model) valuesOf(n int) []string {
	seen := map[string]bool{}
	for _, o := range m.items {
		for _, v := range o.values[n] {
			seen[v] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func (m *model) indexNames() []string {
	var names []string
	for n, there := range m.present {
		if there {
			names = append(names, indexNames[n])
		}
	}
	slices.Sort(names)
	return names
}

// state holds the answer to every question that a store can be asked.
type state struct {
	items   map[string]*object // a copy
	keys    []string
	objects []*object
	names   []string // of the indexes that are there
	indexes map[string]map[string]*matches
}

// matches are the objects with one value in an index, and their keys.
type matches struct {
	objects []*object
	keys    []string // sorted
}

func (m *model) state() *state {
	s := &state{items: maps.Clone(m.items), keys: m.sortedKeys(), names: m.indexNames(),
		indexes: map[string]map[string]*matches{}}
	for _, key := range s.keys {
		s.objects = append(s.objects, m.items[key])
	}
	for _, name := range s.names {
		n, sets := indexNumber(name), map[string]*matches{}
		for i, key := range s.keys {
			for at, v := range s.objects[i].values[n] {
				if slices.Contains(s.objects[i].values[n][:at], v) {
					continue // an object that has the value twice is found once
				}
				if sets[v] == nil {
					sets[v] = &matches{}
				}
				sets[v].objects = append(sets[v].objects, s.objects[i])
				sets[v].keys = append(sets[v].keys, key)
			}
		}
		s.indexes[name] = sets
	}
	return s
}
