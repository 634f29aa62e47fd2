package mutexmap

import (
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/indexing"
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

// buildAll returns new postings of items for each index.
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

// planLocked appends two lists to plan for each index: the values of old and those of obj,
// which replaces it. It panics if an IndexFunc fails, and touches nothing.
func (s *Store) planLocked(plan indexing.Values, key string, old, obj any) indexing.Values {
	for _, x := range s.mu.indexes {
		plan = plan.Append(x.name, x.compute, key, old).Append(x.name, x.compute, key, obj)
	}
	return plan
}

// applyLocked moves a key in the indexes as planned.
func (s *Store) applyLocked(key string, plan indexing.Values) {
	for i, x := range s.mu.indexes {
		m := plan.Move(i)
		x.move(key, m.From, m.To)
	}
}

// move takes a key from its old values to its new ones.
func (x *index) move(key string, from, to []string) {
	if len(from) == 1 && len(to) == 1 && from[0] == to[0] {
		return
	}
	for _, value := range from {
		remove(x.keys, value, key)
	}
	for _, value := range to {
		add(x.keys, value, key)
	}
}

// storeLocked puts obj under key, in the items and in every index.
func (s *Store) storeLocked(key string, obj any) {
	var room indexing.Room
	plan := s.planLocked(room.Values(), key, s.mu.items[key], obj)
	s.mu.items[key] = obj
	s.applyLocked(key, plan)
}

// removeLocked takes key out of the items and of every index.
func (s *Store) removeLocked(key string) {
	old, exists := s.mu.items[key]
	if !exists {
		return
	}
	var room indexing.Room
	plan := s.planLocked(room.Values(), key, old, nil)
	delete(s.mu.items, key)
	s.applyLocked(key, plan)
}
