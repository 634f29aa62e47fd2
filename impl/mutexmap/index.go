package mutexmap

import (
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/internal/indexing"
)

type (
	set = map[string]struct{}
	// postings maps an indexed value to the keys that have it. No set in it is
	// empty: values that come and go would grow the map for ever (kubernetes#84959).
	postings = map[string]set
)

// index is one secondary index. name and compute never change; keys is guarded
// by the store's lock.
type index struct {
	name    string
	compute contract.IndexFunc
	keys    postings
}

// valuesOf computes the values of a stored or storable object. It panics if the
// IndexFunc fails, so it must run before anything is touched.
func (x *index) valuesOf(key string, obj any) []string {
	return indexing.ValuesOf(x.name, x.compute, key, obj)
}

func add(keys postings, value, key string) {
	matches := keys[value]
	if matches == nil {
		matches = set{}
		keys[value] = matches
	}
	matches[key] = struct{}{}
}

func remove(keys postings, value, key string) {
	matches := keys[value]
	delete(matches, key)
	if len(matches) == 0 {
		delete(keys, value)
	}
}

// buildAll returns the postings of items for each index, built aside.
func buildAll(indexes []*index, items map[string]any) []postings {
	built := make([]postings, len(indexes))
	for i := range built {
		built[i] = postings{}
	}
	// Objects outside, indexes inside: an object is fetched from memory once.
	for key, obj := range items {
		for i, x := range indexes {
			for _, value := range x.valuesOf(key, obj) {
				add(built[i], value, key)
			}
		}
	}
	return built
}

// move takes a key from its old values in an index to its new ones.
type move struct {
	index    *index
	from, to []string
}

func (m move) apply(key string) {
	for _, value := range m.from {
		remove(m.index.keys, value, key)
	}
	for _, value := range m.to {
		add(m.index.keys, value, key)
	}
}

func (m move) reversed() move { return move{m.index, m.to, m.from} }

// planLocked appends to moves what storing obj in the place of old changes in the
// indexes: nothing, for an index where both have the same single value. It panics
// if an IndexFunc fails, and touches nothing.
func (s *Store) planLocked(moves []move, key string, old, obj any) []move {
	for _, x := range s.mu.indexes {
		from, to := x.valuesOf(key, old), x.valuesOf(key, obj)
		if len(from) == 1 && len(to) == 1 && from[0] == to[0] {
			continue
		}
		moves = append(moves, move{x, from, to})
	}
	return moves
}

// stackMoves is how many changed indexes a write plans without allocating.
const stackMoves = 4

// storeLocked puts obj under key, in the items and in every index.
func (s *Store) storeLocked(key string, obj any) {
	var room [stackMoves]move
	moves := s.planLocked(room[:0], key, s.mu.items[key], obj)
	s.mu.items[key] = obj
	for _, m := range moves {
		m.apply(key)
	}
}

// removeLocked takes key out of the items and of every index.
func (s *Store) removeLocked(key string) {
	old, exists := s.mu.items[key]
	if !exists {
		return
	}
	var room [stackMoves]move
	moves := s.planLocked(room[:0], key, old, nil)
	delete(s.mu.items, key)
	for _, m := range moves {
		m.apply(key)
	}
}
