package sharded

import (
	"slices"

	"github.com/informerbench/informerbench/impl/internal/indexing"
)

// table is what one shard holds: the keys whose hash it has, and of each index the
// part that is about those keys. The shard's lock guards it; Replace puts another
// in its place.
type table struct {
	records map[string]*record
	all     list
	indexes []map[string]*bucket // by the number of the index
}

// record is what is known of one key. It says where its object stands, and each of
// those places leads back to it.
type record struct {
	key    string // never changes: readers of a frozen list read it without a lock
	object any
	at     int      // in table.all
	first  [2]place // the first ones of its places; those without a bucket are free
	more   *[]place // the others, if it has more: most objects have one value in each of two indexes
}

// place is where an object stands in a bucket.
type place struct {
	bucket *bucket
	at     int
}

// bucket is the shard's objects that have one value in one index, each once. None
// is empty: values that come and go would grow the map for ever (kubernetes#84959).
type bucket struct {
	list  list
	index int // its number
	value string
}

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
func (t *table) store(key string, obj any, values [][]string) {
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

// move takes r's object into the buckets of its new values, out of those that are
// none of them, and renews it where it stays.
func (t *table) move(r *record, values [][]string) {
	var room [stackPlaces]place
	places := r.places(room[:0])
	stays := places[:0]
	for _, p := range places {
		if slices.Contains(values[p.bucket.index], p.bucket.value) {
			p.bucket.list.set(p.at, r.object)
			stays = append(stays, p)
		} else {
			t.leave(p)
		}
	}
	wanted := 0
	for _, list := range values {
		wanted += len(list)
	}
	if wanted == len(stays) && wanted == len(places) { // values are distinct: none came or went
		return
	}
	for number, list := range values {
		for _, value := range list {
			if !slices.ContainsFunc(stays, func(p place) bool { return p.bucket.index == number && p.bucket.value == value }) {
				stays = append(stays, t.enter(r, number, value))
			}
		}
	}
	r.setPlaces(stays)
}

// enter puts r's object at the end of a bucket and returns its place there, which is
// for the caller to remember.
func (t *table) enter(r *record, number int, value string) place {
	b := t.indexes[number][value]
	if b == nil {
		b = &bucket{index: number, value: value}
		t.indexes[number][value] = b
	}
	return place{b, b.list.add(r.object, r)}
}

// leave empties a place of a bucket and moves the bucket's last object there. The
// record that had the place still names it: that is for the caller to mend.
func (t *table) leave(p place) {
	if moved := p.bucket.list.remove(p.at); moved != nil {
		moved.placeIn(p.bucket).at = p.at
	}
	if p.bucket.list.n == 0 {
		delete(t.indexes[p.bucket.index], p.bucket.value)
	}
}

// stackPlaces is how many places a write handles without allocating.
const stackPlaces = 8

// places appends r's places to room.
func (r *record) places(room []place) []place {
	for _, p := range r.first {
		if p.bucket != nil {
			room = append(room, p)
		}
	}
	if r.more != nil {
		room = append(room, *r.more...)
	}
	return room
}

// setPlaces makes places, which are copied, all that r has.
func (r *record) setPlaces(places []place) {
	n := copy(r.first[:], places)
	clear(r.first[n:])
	r.more = nil
	if n < len(places) {
		more := slices.Clone(places[n:])
		r.more = &more
	}
}

// placeIn returns r's place in a bucket that has it.
func (r *record) placeIn(b *bucket) *place {
	for i := range r.first {
		if r.first[i].bucket == b {
			return &r.first[i]
		}
	}
	more := *r.more
	return &more[slices.IndexFunc(more, func(p place) bool { return p.bucket == b })]
}

// remove takes key out, if it is there.
func (t *table) remove(key string) {
	r, ok := t.records[key]
	if !ok {
		return
	}
	delete(t.records, key)
	var room [stackPlaces]place
	for _, p := range r.places(room[:0]) {
		t.leave(p)
	}
	if moved := t.all.remove(r.at); moved != nil {
		moved.at = r.at
	}
}

// addition is what an index that is added must hold, computed before anything is
// touched.
type addition struct {
	record *record
	values [][]string // per added index
}

// additions computes what extend needs for the indexes that set has more than the
// table. It panics, and touches nothing, if an IndexFunc fails.
func (t *table) additions(set *indexing.Set) []addition {
	if set.Len() == len(t.indexes) {
		return nil
	}
	out := make([]addition, 0, len(t.records))
	for key, r := range t.records {
		out = append(out, addition{r, set.AppendValues(nil, len(t.indexes), key, r.object)})
	}
	return out
}

// extend adds indexes, so that there are so many, and fills them.
func (t *table) extend(indexes int, additions []addition) {
	known := len(t.indexes)
	t.growIndexes(indexes - known)
	for _, a := range additions {
		places := a.record.places(nil)
		for i, list := range a.values {
			for _, value := range list {
				places = append(places, t.enter(a.record, known+i, value))
			}
		}
		a.record.setPlaces(places)
	}
}
