package sharded

import "github.com/informerbench/informerbench/impl/indexing"

// table holds one shard's keys, and of each index the part that leads to those keys. The
// shard's lock guards it; Replace puts another in its place.
type table struct {
	records map[string]*record
	all     list
	indexes []map[string]*bucket // by the number of the index
}

// record is the object of one key and its places. Each place leads back to the record.
type record struct {
	key    string // never changes: readers of a frozen list read it without a lock
	object any
	at     int // in table.all
	places indexing.Places[*bucket]
}

type place = indexing.Place[*bucket]

// bucket is the shard's objects that have one value in one index, each once. None
// is empty: values that come and go would grow the map for ever (kubernetes#84959).
type bucket struct {
	list  list
	index int // its number
	value string
}

// Of is for indexing.Places.
func (b *bucket) Of() (index int, value string) { return b.index, b.value }

// entry is an object with its record.
type entry struct {
	object any
	owner  *record
}

func newTable(indexes, size int) *table {
	t := &table{records: make(map[string]*record, size)}
	t.growIndexes(indexes)
	return t
}

func (t *table) growIndexes(by int) {
	for range by {
		t.indexes = append(t.indexes, map[string]*bucket{})
	}
}

// store puts obj under key; values has a list for every index.
func (t *table) store(key string, obj any, values indexing.Values) {
	r := t.records[key]
	if r == nil {
		r = &record{key: key}
		r.at = t.all.add(obj, r)
		t.records[key] = r
	} else {
		t.all.set(r.at, obj)
	}
	r.object = obj
	t.move(r, values)
}

// move puts r's object into the buckets of its new values, removes it from all others, and
// replaces the object where it stays.
func (t *table) move(r *record, values indexing.Values) {
	r.places.Move(values,
		func(p place) { p.Bucket.list.set(p.At, r.object) },
		t.leave,
		func(index int, value string) place { return t.enter(r, index, value) })
}

// enter puts r's object at the end of a bucket and returns its place there, which the
// caller must remember.
func (t *table) enter(r *record, number int, value string) place {
	b := t.indexes[number][value]
	if b == nil {
		b = &bucket{index: number, value: value}
		t.indexes[number][value] = b
	}
	return place{Bucket: b, At: b.list.add(r.object, r)}
}

// leave removes an object from a bucket and swaps the bucket's last object into the hole.
// The removed object's record still names the place: the caller must correct that.
func (t *table) leave(p place) {
	if moved := p.Bucket.list.remove(p.At); moved != nil {
		moved.places.In(p.Bucket).At = p.At
	}
	if p.Bucket.list.n == 0 {
		delete(t.indexes[p.Bucket.index], p.Bucket.value)
	}
}

// remove takes key out, if it is there.
func (t *table) remove(key string) {
	r, ok := t.records[key]
	if !ok {
		return
	}
	delete(t.records, key)
	r.places.Leave(t.leave)
	if moved := t.all.remove(r.at); moved != nil {
		moved.at = r.at
	}
}

// addition is the content of indexes that are to be added, computed before anything is
// touched.
type addition struct {
	records []*record
	values  indexing.Values // of the records, in the indexes that are added
}

// addition computes what extend needs for the indexes that set has more than the
// table. It panics, and touches nothing, if an IndexFunc fails.
func (t *table) addition(set *indexing.Set) addition {
	known := len(t.indexes)
	if set.Len() == known {
		return addition{}
	}
	a := addition{make([]*record, 0, len(t.records)),
		indexing.MakeValues((set.Len() - known) * len(t.records))}
	for key, r := range t.records {
		a.records = append(a.records, r)
		a.values = set.AppendValues(a.values, known, key, r.object)
	}
	return a
}

// extend adds and fills indexes until the table has the given number.
func (t *table) extend(indexes int, a addition) {
	known := len(t.indexes)
	added := indexes - known
	t.growIndexes(added)
	for i, r := range a.records {
		places := r.places.Append(nil)
		own := a.values.Object(i, added)
		for n := range added {
			for _, value := range own.List(n) {
				places = append(places, t.enter(r, known+n, value))
			}
		}
		r.places.Set(places)
	}
}
