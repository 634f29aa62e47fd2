package lockfree

import (
	"sync/atomic"
)

// A write in place is an Update without a version.
//
// An Update that keeps the index values replaces the object in the record if the record is
// settled, the new object is of the store's type, no snapshot is open, and nothing waits to be
// reclaimed. An object without a resource version is also refused while the newest stamp is of
// a write in place. A write in place has no number:
//
//	I1  look at the slots: none is taken
//	I2  touch the block of copies; set the entry's data to nil
//	I3  put the object into the record
//	I4  set the entry's data to the object
//
// It is linearized at I3, or where its stamp becomes the newest, if it puts the same object there
// once more. A snapshot may be opened after I1, so its reader may find the former object or the
// new one.
//
// If a reader with a slot loads anything before I3 of a write in place, then I1 of every later one
// finds its slot taken, as long as the reader keeps it. That is what readers.go shows of W1,
// which is I3 here, and W3.
// So there is one write in place at most whose I3 lies between two loads of a reader, and it
// changes one object, which the reader loads once (and array.length once more, only to see that
// there is one). No write with a number was committed
// between the reader's load of committed and that I3: I1 would have come later still, and
// found the slot. So the reader is linearized right before I3 if it finds the former object, and
// after it if it finds the new one. If it does not read the object, both are right.
//
// A Get has a slot if it finds no data. Data that are not nil are the newest object, as values.go
// says: I2 and I4 stand for its steps 1 and 3.
//
// A list copies a block only if it was last touched by a write of the list's snapshot or before. I2
// touches the block with the number that the next commit will have. So a list that
// begins after I3 reads the block cell by cell until that commit. Therefore writes in place end
// with a commit of their own when a list has asked for it, or some blocks wait
// (copies.touchInPlace).
//
// For the resource version see resourceversion.go.

// inPlace puts obj in the place of rec's object, to which e leads, if the write under way can be
// made so, and reports whether it was. The write is over then. obj has the index values that
// rec has.
func (c *core) inPlace(w *write, e *entry, rec *record, obj any) bool {
	to := wordsOf(obj)
	switch {
	case rec.newest.Load() != nil,
		to.kind != c.shown.kind, to.data == nil,
		c.retireList.len() > 0, // a write with a number sees to it
		// that stamp watches a record, perhaps this one
		!w.known && c.resourceVersion.newest.Load().seq == noWrite,
		!c.idle():
		return false
	}
	commit := c.objects.copies.touchInPlace(w, rec.pos)
	atomic.StorePointer(&e.data, nil)
	if w.known {
		c.resourceVersion.set(w.rv, noWrite, rec, uintptr(to.data))
	}
	rec.setData(to.data)
	atomic.StorePointer(&e.data, to.data)
	if commit {
		c.committed.Store(w.seq)
		c.objects.copies.committed()
	}
	return true
}
