//go:build race || invariants

package lockfree

import "reflect"

// The invariants of arrays, cells, records and copies.

// now returns the record that the writer has in a cell, nil for nothing.
func (a *array) now(pos uint32) *record {
	if pos >= a.used.Load() {
		return nil
	}
	r := a.cell(pos).Load()
	if r == nil {
		return nil
	}
	if s := r.standIn(); s != nil {
		return s.of
	}
	return r
}

// array checks the array of a bucket, or of the store if the bucket is nil.
func (k *audit) array(a *array, name string, of *bucket) {
	used := a.used.Load()
	cells := uint32(0)
	if p := a.blocks.Load(); p != nil {
		cells = uint32(capacity(*p))
	}
	if a.n > used || used > cells {
		k.broken(ruleUsed, "%s: n is %d, used %d, of %d cells", name, a.n, used, cells)
	}
	if used > cells {
		return
	}
	free := used
	for free > 0 && a.cell(free-1).Load() == nil {
		free--
	}
	if used-free > mostFree {
		k.broken(ruleUsed, "%s: %d cells below %d are free", name, used-free, used)
	}
	for pos := range cells {
		r := a.cell(pos).Load()
		if pos >= used && r != nil {
			k.broken(ruleUsed, "%s: cell %d is in use, and used is %d", name, pos, used)
		}
		if pos < used {
			n := a.n
			if of != nil && of.until.Load() != 0 {
				n = 1
			}
			if (a.now(pos) != nil) != (pos < n) {
				k.broken(ruleLength, "%s: cell %d, n is %d", name, pos, a.n)
			}
		}
		if r != nil && r.standIn() != nil {
			k.standIns++
			_, waits := k.places[place{a, pos}]
			if !waits {
				k.broken(rulePlace, "%s: cell %d has a stand-in and does not wait", name, pos)
			}
		}
		k.chain(r, name, pos)
	}
}

// chain checks the stand-ins and the record that a cell leads to.
func (k *audit) chain(r *record, name string, pos uint32) {
	for limit := k.committed + 1; r != nil && r.standIn() != nil; r = r.standIn().past() {
		s := r.standIn()
		if s.seq >= limit || s.of != nil && s.of.standIn() != nil {
			k.broken(ruleChain, "%s: cell %d, since write %d", name, pos, s.seq)
		}
		if s.seq >= limit {
			return // it may be a circle
		}
		limit = s.seq
		_, spare := k.spares[s]
		if spare {
			k.broken(ruleSpare, "%s: cell %d", name, pos)
		}
		if s.of != nil && s.of.standIn() == nil {
			k.record(s.of)
		}
	}
	if r != nil {
		k.record(r)
	}
}

// record checks the versions of a true record.
func (k *audit) record(r *record) {
	newest := r.newest.Load()
	limit := k.committed + 1
	for n := newest; n != nil; n = n.past() {
		if n.seq >= limit {
			k.broken(ruleVersions, "%q has one of write %d", r.key(), n.seq)
			return // it may be a circle
		}
		limit = n.seq
	}
	if newest == nil && r.data == nil {
		k.broken(ruleVersions, "%q has neither a version nor an object", r.key())
	}
	if r.waits(&k.core.shown) {
		_, waits := k.updated[r]
		if !waits {
			k.broken(ruleUpdated, "%q is not settled and does not wait", r.key())
		}
	}
}

// copies checks the copies of the array of all objects. Readers make and drop some meanwhile.
func (k *audit) copies() {
	a := &k.objects
	blocks := a.copies.blocks.Load()
	if blocks == nil {
		return
	}
	waiting := 0
	for i, b := range *blocks {
		touched, found := b.touched.Load(), b.copy.Load()
		if touched > k.committed {
			waiting++ // for the next commit, after a write in place
			if touched > k.committed+1 || found != nil && found.seq == touched {
				k.broken(ruleCopy, "block %d was touched by write %d, and copied", i, touched)
			}
			continue
		}
		if found == nil || found.seq != touched {
			continue
		}
		first := i << blockShift
		if len(found.objects) != min(blockSize, int(a.n)-first) {
			k.broken(ruleCopy, "block %d: %d objects", i, len(found.objects))
		}
		for j, obj := range found.objects {
			r := a.now(uint32(first + j))
			if r == nil || r.standIn() != nil || !same(r.current(&k.core.shown), obj) {
				k.broken(ruleCopy, "block %d: object %d", i, j)
			}
		}
	}
	if waiting != a.copies.waiting {
		k.broken(ruleCopy, "%d blocks wait for a commit, counted %d", a.copies.waiting, waiting)
	}
}

// same reports whether a and b are one object. It compares pointers only: any two other
// objects of one type count as the same, since Go cannot compare all of them.
func same(a, b any) bool {
	kind := reflect.TypeOf(a)
	return kind == reflect.TypeOf(b) && (kind == nil || kind.Kind() != reflect.Pointer || a == b)
}
