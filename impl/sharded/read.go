package sharded

import "slices"

const (
	// stackCuts is the number of lists that a read notes without allocating.
	stackCuts = 32
	// fewEntries is the largest number of entries that a read copies under the locks. That
	// takes less than a microsecond; freezing would make the next writer copy chunks.
	fewEntries = 32
	// everything, in the place of an index's number, asks find for all objects.
	everything = -1
)

// found holds the n entries that a read of several lists found at one instant. They are
// copied already, or in lists that are frozen.
type found struct {
	n    int
	few  []entry
	cuts []cut
}

// find looks, in every shard at one instant, for the objects that have one of the
// values in the index with the number, or for everything. cuts and few are memory
// of the caller's.
//
// find takes all read locks, in order, before it releases one: the instant is when it has
// the last one. Then it looks the lists up, a map look-up for each value and shard, and
// freezes them. With the locks held it allocates nothing and copies few entries. So it
// holds them for O(shards*len(values)) and not for O(n).
func (s *Store) find(cuts []cut, few []entry, number int, values ...string) found {
	if most := len(s.shards) * max(1, len(values)); most > cap(cuts) {
		cuts = make([]cut, 0, most)
	}
	n := 0
	s.rlockAll()
	for i := range s.shards {
		t := s.shards[i].mu.table
		if number == everything {
			cuts = append(cuts, t.all.look())
			n += t.all.n
			continue
		}
		for _, value := range values {
			if b := t.indexes[number][value]; b != nil {
				cuts = append(cuts, b.list.look())
				n += b.list.n
			}
		}
	}
	if n <= cap(few) {
		for _, c := range cuts {
			few = c.appendEntries(few)
		}
		cuts = nil
	} else {
		for _, c := range cuts {
			c.list.freeze()
		}
	}
	s.runlockAll()
	return found{n, few, cuts}
}

// objects returns the objects, outside the locks.
func (f found) objects() []any {
	list := make([]any, 0, f.n)
	for _, e := range f.few {
		list = append(list, e.object)
	}
	for _, c := range f.cuts {
		list = c.appendObjects(list)
	}
	return list
}

// keys returns the keys, outside the locks.
func (f found) keys() []string {
	keys := make([]string, 0, f.n)
	for _, e := range f.few {
		keys = append(keys, e.owner.key)
	}
	for _, c := range f.cuts {
		for _, chunk := range c.chunks {
			for _, r := range chunk.owners {
				keys = append(keys, r.key)
			}
		}
	}
	return keys
}

// distinct returns the objects, each key's once.
func (f found) distinct() []any {
	entries := make([]entry, 0, f.n)
	entries = append(entries, f.few...)
	for _, c := range f.cuts {
		entries = c.appendEntries(entries)
	}
	seen := make(map[*record]struct{}, f.n)
	list := make([]any, 0, f.n)
	for _, e := range entries {
		if _, again := seen[e.owner]; !again {
			seen[e.owner] = struct{}{}
			list = append(list, e.object)
		}
	}
	return list
}

// Get returns the object under key. O(1) under the read lock of the key's shard, no
// allocation.
func (s *Store) Get(key string) (item any, exists bool) {
	h := s.shardOf(key)
	h.rlock()
	r, exists := h.mu.table.records[key]
	if exists {
		item = r.object
	}
	h.mu.RUnlock()
	return item, exists
}

// List returns all objects, in no order, in a slice that is the caller's. O(n), of
// which O(shards) under the read locks.
func (s *Store) List() []any {
	var cuts [stackCuts]cut
	var few [fewEntries]entry
	return s.find(cuts[:0], few[:0], everything).objects()
}

// ListKeys returns all keys, in no order, in a slice that is the caller's. O(n), of
// which O(shards) under the read locks.
func (s *Store) ListKeys() []string {
	var cuts [stackCuts]cut
	var few [fewEntries]entry
	return s.find(cuts[:0], few[:0], everything).keys()
}

// ByIndex returns the objects that have the value in the index, in no order, in a
// slice that is the caller's. An index that the store does not have is an error;
// a value that no object has is not. O(shards+matches), of which O(shards) under
// the read locks.
func (s *Store) ByIndex(indexName, indexedValue string) ([]any, error) {
	number, err := s.indexes.Load().Find(indexName)
	if err != nil {
		return nil, err
	}
	var cuts [stackCuts]cut
	var few [fewEntries]entry
	return s.find(cuts[:0], few[:0], number, indexedValue).objects(), nil
}

// Index returns the objects that share a value of the index with obj, each once.
// The errors are those of ByIndex and of the IndexFunc, which runs outside the
// locks.
func (s *Store) Index(indexName string, obj any) ([]any, error) {
	set := s.indexes.Load()
	number, err := set.Find(indexName)
	if err != nil {
		return nil, err
	}
	values, err := set.Probe(number, obj)
	if err != nil {
		return nil, err
	}
	var cuts [stackCuts]cut
	var few [fewEntries]entry
	matches := s.find(cuts[:0], few[:0], number, values...)
	if len(values) == 1 {
		return matches.objects(), nil
	}
	return matches.distinct(), nil
}

// IndexKeys returns the keys of the objects that have the value in the index,
// sorted. The errors are those of ByIndex. O(shards + matches log matches), of which
// O(shards) under the read locks.
func (s *Store) IndexKeys(indexName, indexedValue string) ([]string, error) {
	number, err := s.indexes.Load().Find(indexName)
	if err != nil {
		return nil, err
	}
	var cuts [stackCuts]cut
	var few [fewEntries]entry
	keys := s.find(cuts[:0], few[:0], number, indexedValue).keys()
	slices.Sort(keys)
	return keys, nil
}

// ListIndexFuncValues returns the values that stored objects have in the index,
// in no order; an index that the store does not have has none. It walks each
// shard's values under the read locks: O(values*shards), where each shard has each
// value.
func (s *Store) ListIndexFuncValues(indexName string) []string {
	number, err := s.indexes.Load().Find(indexName)
	if err != nil {
		return []string{}
	}
	// A value that objects of several shards have is in the list several times.
	repeated := s.valuesOf(number)
	seen := make(map[string]struct{}, len(repeated))
	values := repeated[:0]
	for _, value := range repeated {
		if _, again := seen[value]; !again {
			seen[value] = struct{}{}
			values = append(values, value)
		}
	}
	return values
}

// valuesOf returns each shard's values at one instant, one shard's after the other's.
func (s *Store) valuesOf(number int) []string {
	var values []string
	for {
		n := 0
		s.rlockAll()
		for i := range s.shards {
			n += len(s.shards[i].mu.table.indexes[number])
		}
		enough := n <= cap(values)
		if enough {
			for i := range s.shards {
				for value := range s.shards[i].mu.table.indexes[number] {
					values = append(values, value)
				}
			}
		}
		s.runlockAll()
		if enough {
			return values
		}
		values = make([]string, 0, n+n/8) // allocated while no lock is held
	}
}
