//go:build race || invariants

package lockfree

import (
	"sync/atomic"
	"unsafe"
)

// The invariants of tables, keys, indexes and buckets.

// table checks t, the table of index x, or of the keys if x is nil. It returns the number
// of live entries.
func (k *checker) table(t *table, x *index) (live int) {
	name := "keys"
	if x != nil {
		name = x.name
	}
	d := t.dir.Load()
	for i := 0; i < len(d.parts); {
		p := d.parts[i]
		span := 1
		if p.depth <= d.depth {
			span = 1 << (d.depth - p.depth)
		}
		whole := p.depth <= d.depth && i%span == 0 && i+span <= len(d.parts)
		for j := i; whole && j < i+span; j++ {
			whole = d.parts[j] == p && len(d.entries[j]) == len(p.entries) && &d.entries[j][0] == &p.entries[0]
		}
		if !whole {
			k.broken(ruleDirectory, "%s: at %d of %d, a part of depth %d", name, i, len(d.parts), p.depth)
		}
		if !whole {
			return live
		}
		live += k.part(t, p, x, name)
		i += span
	}
	return live
}

func (k *checker) part(t *table, p *part, x *index, name string) int {
	used, live := 0, 0
	for i := range p.entries {
		e := &p.entries[i]
		word := e.word.Load()
		if word == 0 {
			continue
		}
		used++
		r := e.rec.Load()
		key := r.key()
		if x != nil && r == noBucket {
			if word&longKey == longKey {
				continue // no search finds it
			}
			key = unsafe.String(e.key, word&longKey)
		}
		inPart, found := t.find(word, key)
		if t.word(key) != word || unsafe.String(e.key, len(key)) != key || inPart != p || found != e {
			k.broken(ruleSearch, "%s: %q", name, key)
		}
		if r != noBucket && !r.newest.Load().absent() {
			live++
		}
		if x == nil {
			k.key(e, r)
		} else {
			k.value(x, r)
		}
	}
	if used != p.used || live != p.live || used >= len(p.entries) {
		k.broken(ruleCounts,
			"%s: %d entries of %d, %d live; counted %d and %d", name, used, len(p.entries), live, p.used, p.live)
	}
	return live
}

// keys checks the table of the store.
func (k *checker) keys() {
	if live := k.table(&k.core.keys, nil); live != int(k.objects.n) {
		k.broken(ruleLive, "%d and %d", live, k.objects.n)
	}
}

// key checks a key's entry and record, and that the record knows its cell.
func (k *checker) key(e *entry, r *record) {
	k.record(r)
	newest := r.newest.Load()
	want := wordsOf(newest.obj)
	if want.kind != k.core.shown.kind {
		want.data = nil
	}
	if atomic.LoadPointer(&e.data) != want.data {
		k.broken(ruleShown, "%q", r.key())
	}
	if newest.absent() {
		if len(r.postings()) > 0 {
			k.broken(rulePostings, "%q is absent and has %d", r.key(), len(r.postings()))
		}
		return
	}
	if r.pos >= k.objects.n || k.objects.now(r.pos) != r {
		k.broken(rulePos, "%q at %d", r.key(), r.pos)
	}
	k.postingsOf(r)
}

func (k *checker) postingsOf(r *record) {
	all := r.postings()
	k.postings += len(all)
	for _, p := range all {
		ok := int(p.bucket) < len(k.buckets) && k.buckets[p.bucket] != nil
		if ok {
			a := &k.buckets[p.bucket].objects
			ok = p.pos < a.n && a.now(p.pos) == r
		}
		ok = ok && k.last[p.bucket] != r
		k.last[p.bucket] = r
		if !ok {
			k.broken(rulePosting, "%q in bucket %d at %d", r.key(), p.bucket, p.pos)
		}
	}
}

// index checks the table of an index, and that its values are its buckets.
func (k *checker) index(x *index) {
	k.filled = 0
	k.table(&x.buckets, x)
	if k.filled != int(x.values.n) {
		k.broken(ruleValues, "%s: %d buckets, %d values", x.name, k.filled, x.values.n)
	}
}

// value checks that the table of an index leads from a value to its bucket.
func (k *checker) value(x *index, r *record) {
	if r == noBucket {
		return
	}
	b := (*bucket)(unsafe.Pointer(r))
	if int(b.id) >= len(k.buckets) || k.buckets[b.id] != b {
		k.broken(ruleBucket, "the table of %s leads to %q", x.name, r.key())
	} else if b.objects.n > 0 {
		k.filled++
	}
}

func (k *checker) bucket(id uint32, b *bucket) {
	x := b.index
	ok := b.id == id && b.mark == unmarked && x.ordinal < len(k.indexes) && k.indexes[x.ordinal] == x
	if ok {
		_, e := x.buckets.find(x.buckets.word(b.key()), b.key())
		n := b.newest.Load()
		ok = e != nil && e.rec.Load() == &b.record && n == &b.first && n.past() == nil
	}
	if !ok {
		k.broken(ruleBucket, "%q of %s with id %d", b.key(), x.name, id)
	}
	if b.objects.n > 0 {
		if b.pos >= x.values.n || x.values.now(b.pos) != &b.record {
			k.broken(ruleValues, "%q of %s at %d", b.key(), x.name, b.pos)
		}
	}
	_, listed := k.emptied[b]
	if b.retired != listed || b.objects.n == 0 && !b.retired {
		k.broken(ruleEmptied, "%q of %s", b.key(), x.name)
	}
	_, free := k.ids[id]
	if free {
		k.broken(ruleFreeID, "%d is of %q", id, b.key())
	}
}
