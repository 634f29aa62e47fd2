//go:build race || invariants

package lockfree

import (
	"sync/atomic"
	"unsafe"
)

// The invariants of tables, keys, indexes and buckets.

// table checks t, the table of index x, or of the keys if x is nil. It returns the number
// of live entries.
func (k *audit) table(t *table, x *index) (live int) {
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
			whole = d.parts[j] == p && len(d.entries[j]) == len(p.entries) &&
				&d.entries[j][0] == &p.entries[0]
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

func (k *audit) part(t *table, p *part, x *index, name string) int {
	used, live := 0, 0
	for i := range p.entries {
		e := &p.entries[i]
		word := e.word.Load()
		if word == 0 {
			continue
		}
		used++
		item := e.item.Load()
		key := item.key()
		if item == noBucket {
			if word&longKey == longKey {
				continue // no search finds it
			}
			key = unsafe.String(e.key, word&longKey)
		}
		inPart, found := t.find(word, key)
		if t.word(key) != word || unsafe.String(e.key, len(key)) != key || inPart != p || found != e {
			k.broken(ruleSearch, "%s: %q", name, key)
		}
		switch {
		case x == nil:
			r := e.record()
			k.key(e, r)
			if !isAbsent(r.current(&k.core.shown)) {
				live++
			}
		case item != noBucket:
			k.value(x, e.bucket())
			live++
		}
	}
	if used != p.used || live != p.live || used >= len(p.entries) {
		k.broken(ruleCounts,
			"%s: %d entries of %d, %d live; counted %d and %d", name, used, len(p.entries), live, p.used,
			p.live)
	}
	return live
}

// keys checks the table of the store.
func (k *audit) keys() {
	if live := k.table(&k.core.keys, nil); live != int(k.objects.n) {
		k.broken(ruleLive, "%d and %d", live, k.objects.n)
	}
}

// key checks a key's entry and record, and that the record knows its cell.
func (k *audit) key(e *entry, r *record) {
	k.record(r)
	want := wordsOf(r.current(&k.core.shown))
	if want.kind != k.core.shown.kind {
		want.data = nil
	}
	if atomic.LoadPointer(&e.data) != want.data {
		k.broken(ruleShown, "%q", r.key())
	}
	if isAbsent(r.current(&k.core.shown)) {
		if n := len(k.core.postings(r)); n > 0 || k.core.more(r) != nil {
			k.broken(rulePostings, "%q is absent and has %d", r.key(), n)
		}
		return
	}
	if r.pos >= k.objects.n || k.objects.now(r.pos) != r {
		k.broken(rulePos, "%q at %d", r.key(), r.pos)
	}
	k.postingsOf(r)
}

func (k *audit) postingsOf(r *record) {
	all := k.core.postings(r)
	k.postings += len(all)
	if more := k.core.more(r); more != nil {
		k.wide++
	}
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

// value checks the buckets of a value: the newest, to which the table leads, and those before.
func (k *audit) value(x *index, b *bucket) {
	for later := (*bucket)(nil); b != nil; later, b = b, b.prior.Load() {
		if int(b.ordinal) != x.ordinal || int(b.pos) >= len(k.buckets) || k.buckets[b.pos] != b {
			k.broken(ruleBucket, "the table of %s leads to %q", x.name, b.key())
			return
		}
		since, until := b.objects.since, b.until.Load()
		if b.later != later || later != nil &&
			(until == 0 || until > later.objects.since || b.key() != later.key()) ||
			until != 0 && until < since || max(since, until) > k.committed {
			k.broken(ruleTimes, "%q of %s, from %d to %d", b.key(), x.name, since, until)
			return // it may be a circle
		}
		k.reached++
	}
}

func (k *audit) bucket(id uint32, b *bucket) {
	if b.pos != id || b.mark != unmarked {
		k.broken(ruleBucket, "%q with id %d", b.key(), id)
	}
	over := b.until.Load() != 0
	_, listed := k.emptied[b]
	if b.retired != listed || over && !listed || over != (b.objects.n == 0) {
		k.broken(ruleEmptied, "%q", b.key())
	}
	_, free := k.ids[id]
	if free {
		k.broken(ruleFreeID, "%d is of %q", id, b.key())
	}
}
