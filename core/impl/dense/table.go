package dense

import "github.com/informerbench/informerbench/core/impl/indexing"

// table holds all objects and indexes. The store's lock guards it; Replace builds another.
type table struct {
	objects []any
	keys    []string // parallel to objects
	records map[string]*record
	indexes []map[string]*bucket // by the number of the index
}

// record is the object of one key and its places: objects[at], and bucket.records[place.At]
// for each index value, which leads back to the record.
type record struct {
	object any
	at     int
	places indexing.Places[*bucket]
}

type place = indexing.Place[*bucket]

// bucket is the objects that have one value in one index, each once. None is
// empty: values that come and go would grow the map for ever (kubernetes#84959).
type bucket struct {
	index   int // its number
	value   string
	objects []any
	records []*record // parallel to objects
}

// Of is for indexing.Places.
func (b *bucket) Of() (index int, value string) { return b.index, b.value }

func newTable(indexes, size int) *table {
	t := &table{
		objects: make([]any, 0, size),
		keys:    make([]string, 0, size),
		records: make(map[string]*record, size),
	}
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
		r = &record{at: len(t.objects)}
		t.records[key] = r
		t.objects = append(t.objects, obj)
		t.keys = append(t.keys, key)
	}
	r.object = obj
	t.objects[r.at] = obj
	t.move(r, values)
}

// move puts r's object into the buckets of its new values, removes it from all others, and
// replaces the object where it stays.
func (t *table) move(r *record, values indexing.Values) {
	r.places.Move(values,
		func(p place) { p.Bucket.objects[p.At] = r.object },
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
	b.objects, b.records = lengthen(b.objects, r.object), lengthen(b.records, r)
	return place{Bucket: b, At: len(b.records) - 1}
}

// leave removes an object from a bucket and swaps the bucket's last object into the hole.
// The removed object's record still names the place: the caller must correct that.
func (t *table) leave(p place) {
	b := p.Bucket
	last := len(b.records) - 1
	if p.At != last {
		moved := b.records[last]
		b.objects[p.At], b.records[p.At] = b.objects[last], moved
		moved.places.In(b).At = p.At
	}
	b.objects, b.records = shorten(b.objects), shorten(b.records)
	if last == 0 {
		delete(t.indexes[b.index], b.value)
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
	if last := len(t.keys) - 1; r.at != last {
		moved := t.keys[last]
		t.objects[r.at], t.keys[r.at] = t.objects[last], moved
		t.records[moved].at = r.at
	}
	t.objects, t.keys = shorten(t.objects), shorten(t.keys)
}

// lengthen is append, but a small slice grows by half and does not double: an index has
// many values with few objects each.
func lengthen[E any](list []E, e E) []E {
	if n := len(list); n == cap(list) && n < smallRoom {
		list = append(make([]E, 0, n+n/2+1), list...)
	}
	return append(list, e)
}

// smallRoom is the capacity up to which giving room back is not worth a copy.
const smallRoom = 64

// shorten removes the last element. It gives half of the room back once more than three
// quarters of it are empty.
func shorten[E any](list []E) []E {
	last := len(list) - 1
	clear(list[last:])
	list = list[:last]
	if room := cap(list); room > smallRoom && last < room/4 {
		list = append(make([]E, 0, room/2), list...)
	}
	return list
}

// extend adds the indexes of set that the table does not have yet, and fills them. It
// panics, with nothing touched, if an IndexFunc fails.
func (t *table) extend(set *indexing.Set) {
	known := len(t.indexes)
	added := set.Len() - known
	if added == 0 {
		return
	}
	values := indexing.MakeValues(added * len(t.keys))
	for i, key := range t.keys {
		values = set.AppendValues(values, known, key, t.objects[i])
	}
	t.growIndexes(added)
	for i, key := range t.keys {
		r := t.records[key]
		places := r.places.Append(nil)
		own := values.Object(i, added)
		for n := range added {
			for _, value := range own.List(n) {
				places = append(places, t.enter(r, known+n, value))
			}
		}
		r.places.Set(places)
	}
}
