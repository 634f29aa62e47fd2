package lockfree

import (
	"sync/atomic"
	"unsafe"
)

// shown keeps the objects themselves in the entries of a table, beside the records. So a Get
// does not wait for the record, which lies elsewhere in memory. All fields are the
// writer's, or constant while several goroutines fill a core, but readers read kind.
//
// An interface is two words: one says which type, the other is a pointer to the value, or
// the value itself if that is a pointer. An entry has the second one only, as data, and so has a
// settled record. The first is the same for all of a core: kind, of the first object that the core
// held. Nearly all stores hold objects of one type. An object of another type, or a nil pointer,
// whose data are nil, is not shown, and stays in a version of its record.
//
// Data that are not nil are the newest committed object of the entry's key. Writes are one at a
// time. A write with a number (for the others see inplace.go)
//
//	(1) sets the data of the entries that it changes to nil,
//	(2) is committed,
//	(3) sets these data to the new objects, also where it moved the entries to another part.
//
// A Get loads the data. If they are nil, the Get opens a snapshot and reads the record. Otherwise
// the last write of the key before this load has passed step 3, and the next one has not come
// to step 1. So the object is the newest committed one, and the Get is linearized at the load.
//
// The part may have been replaced since the Get found it. Its entry then has the data at the
// moment of the replacement, or what the write that replaced the part has committed since.
// The Get is linearized at either moment, and both lie within it. For a core that was
// replaced see the package's comment.
//
// kind is set once, before any data are. A reader reads it after it has loaded data, or atomically.
type shown struct {
	kind    unsafe.Pointer
	changed []*entry // by the write under way
}

// words are the two words of an interface, as sync/atomic.Value takes them apart too. Safety: kind
// and data go together again only as objectOf puts them: a data of the store goes with the store's
// kind, which never changes. Both are pointers to the collector, wherever they lie.
type words struct{ kind, data unsafe.Pointer }

func wordsOf(obj any) words { return *(*words)(unsafe.Pointer(&obj)) }

// objectOf returns the object of these words.
func objectOf(kind, data unsafe.Pointer) (obj any) {
	*(*words)(unsafe.Pointer(&obj)) = words{kind, data}
	return obj
}

// learn sets kind to the type of obj, unless it is set or obj is a tombstone's.
func (s *shown) learn(obj any) {
	if s.kind == nil {
		if !isAbsent(obj) {
			atomic.StorePointer(&s.kind, wordsOf(obj).kind) // readBlock may load it
		}
	}
}

// hide is a write's step 1, for an entry that exists already.
func (s *shown) hide(e *entry) {
	if s != nil {
		if e.shows() {
			atomic.StorePointer(&e.data, nil)
		}
		s.note(e)
	}
}

// shows reports whether the entry has an object's data. Writer only. The object is then that
// of the key's newest version, which is committed, and the write under way has not changed it.
func (e *entry) shows() bool { return atomic.LoadPointer(&e.data) != nil }

// note remembers e, to be shown when the write under way is committed.
func (s *shown) note(e *entry) {
	if s != nil {
		s.changed = append(s.changed, e)
	}
}

// show is a write's step 3.
func (s *shown) show() {
	for _, e := range s.changed {
		obj := e.record().current(s)
		s.learn(obj)
		s.set(e, obj)
	}
	s.changed = emptied(s.changed)
}

// set shows obj, the object of the newest version of e's key, which is committed, if it has the
// table's type.
func (s *shown) set(e *entry, obj any) {
	if s == nil {
		return
	}
	if s.fits(obj) {
		atomic.StorePointer(&e.data, wordsOf(obj).data)
	}
}

// fits reports whether obj is of the type of kind, and its data are not nil: such objects are in
// entries, and in settled records, as their data alone.
func (s *shown) fits(obj any) bool {
	w := wordsOf(obj)
	return w.kind == s.kind && w.data != nil
}
