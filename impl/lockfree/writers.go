package lockfree

import (
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/indexing"
)

// Add stores obj under key; it is Update by another name (STORE-2).
func (s *Store) Add(key string, obj any) { s.Update(key, obj) }

// Update stores obj under key and takes its resource version if it has metadata. It
// panics, with nothing written, if an IndexFunc fails (STORE-27, STORE-28).
// O(indexes). It waits for other writers only.
func (s *Store) Update(key string, obj any) {
	rv, known := indexing.VersionOf(obj)
	s.writer.Lock()
	defer s.writer.Unlock()
	v := s.view.Load()
	w := v.begin(rv, known)
	w.alone = true
	v.addValues(&w.indexValues, key, obj)
	if inPlace := v.put(w, v.keys.word(key), key, obj, v.indexes, &w.indexValues); !inPlace {
		v.core.commit()
	}
	v.checkSome()
}

// addValues adds the values of obj in each index to values. The caller holds the writer's
// mutex, so IndexFuncs are called one at a time (STORE-48).
func (v *view) addValues(values *indexing.Values, key string, obj any) {
	for _, x := range v.indexes {
		values.Add(x.valuesOf(key, obj))
	}
}

// Delete removes key, if it is there. The resource version stays as it was:
// DeleteWithObject moves it. O(indexes).
func (s *Store) Delete(key string) { s.DeleteWithObject(key, nil) }

// DeleteWithObject removes key, if it is there, and takes the resource version of
// obj, the object in its last state; obj may be nil, and is not kept. O(indexes). It waits
// for other writers only.
func (s *Store) DeleteWithObject(key string, obj any) {
	rv, known := indexing.VersionOf(obj)
	s.writer.Lock()
	defer s.writer.Unlock()
	v := s.view.Load()
	w := v.begin(rv, known)
	v.remove(w, v.keys.word(key), key)
	v.commit()
	v.shrinkKeys()
}

// Transaction applies the writes in their order, at one instant, and takes the
// resource version of the last one's object. A write of unknown type does nothing, as
// in client-go. If an IndexFunc fails it panics with none of the writes applied.
// O(len(txns)*indexes). It waits for other writers only.
func (s *Store) Transaction(txns ...contract.StoreTransaction) {
	switch len(txns) {
	case 0:
		return
	case 1:
		if t := txns[0]; t.Type == contract.TransactionTypeAdd ||
			t.Type == contract.TransactionTypeUpdate {
			s.Update(t.Key, t.Object) // which may be in place
			return
		}
	}
	rv, known := indexing.VersionOf(txns[len(txns)-1].Object)
	s.writer.Lock()
	defer s.writer.Unlock()
	v := s.view.Load()
	w := v.begin(rv, known)
	for _, t := range txns {
		v.addValues(&w.indexValues, t.Key, indexing.Stored(t))
	}
	var words [fetchLen]uint64
	for i, t := range txns {
		if i%fetchLen == 0 {
			words = v.fetch(txns[i:min(i+fetchLen, len(txns))])
		}
		word := words[i%fetchLen]
		switch t.Type {
		case contract.TransactionTypeAdd, contract.TransactionTypeUpdate:
			values := w.indexValues.Object(i, len(v.indexes))
			v.put(w, word, t.Key, t.Object, v.indexes, &values)
		case contract.TransactionTypeDelete:
			v.remove(w, word, t.Key)
		}
	}
	v.commit()
	v.shrinkKeys()
}

// AddIndexers adds indexes and fills them with the stored objects, at one instant. It
// returns an error, with nothing added, if the store has an index of one of the
// names, and panics, with nothing added, if an IndexFunc fails. O(n*len(newIndexers)),
// for which other writers wait; readers do not.
func (s *Store) AddIndexers(newIndexers contract.Indexers) error {
	s.writer.Lock()
	defer s.writer.Unlock()
	v := s.view.Load()
	for name := range newIndexers {
		if _, taken := v.byName[name]; taken {
			return indexing.ErrTaken(name)
		}
	}
	// All values are computed before a record is touched: the existing indexes share the
	// records.
	var added []*index
	var values []indexing.Values
	for name, compute := range newIndexers {
		x := newIndex(name, compute, len(v.indexes)+len(added))
		added, values = append(added, x), append(values, v.valuesOfAll(x))
	}
	for i, x := range added {
		v = v.withFilled(x, values[i])
	}
	s.view.Store(v)
	v.checkAll()
	return nil
}

// valuesOfAll computes the values of all stored objects, in the order of the array.
func (v *view) valuesOfAll(x *index) indexing.Values {
	all := indexing.MakeValues(int(v.objects.n))
	for _, r := range v.objects.records(v.committed.Load(), &v.shown) {
		// withFilled enters each value of a list: Append leaves none in it twice, unlike Add.
		all = all.Append(x.name, x.compute, r.key(), r.current(&v.shown))
	}
	return all
}

// withFilled returns v with one more index, of what is stored, which has these
// values. The index is as of the newest committed write: a reader that loads the new view
// opens a snapshot of that write or of a later one. An older snapshot still keeps versions
// of the records, but no cell of the index waits for it (array.since).
func (v *view) withFilled(x *index, values indexing.Values) *view {
	w := &v.write
	w.seq = v.committed.Load()
	for i, rec := range v.objects.records(w.seq, &v.shown) {
		for _, value := range values.List(i) {
			v.addToBucket(w, x, x.buckets.word(value), value, rec, true)
		}
	}
	return v.with(x)
}

// Bookmark sets the resource version. It waits for other writers only.
func (s *Store) Bookmark(rv string) {
	s.writer.Lock()
	defer s.writer.Unlock()
	v := s.view.Load()
	v.begin(rv, true)
	v.commit()
}
