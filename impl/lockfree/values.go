package lockfree

import (
	"reflect"

	"github.com/informerbench/informerbench/internal/explore"
)

// entryValues keeps the objects themselves in the entries of a table, beside the records.
// So a Get does not wait for record and version, which lie elsewhere in memory. All fields
// are the writer's, or constant while several goroutines fill a core. Readers load an
// entry's value while the entry is settled.
//
// The value of a settled entry is the object of the newest committed version of its key.
// Writes are one at a time. A write
//
//	(1) unsettles the entries of what it changes,
//	(2) is committed,
//	(3) sets the values of these entries, also where it moved them to another part,
//	(4) and settles them.
//
// A Get (1) sees that the entry is settled, (2) loads the value, (3) sees again that the
// entry is settled; otherwise it looks at the version. If the value was there at the Get's
// step (1), the Get is linearized there. Else a write has set the value since, and the Get
// is linearized at that write's step (3): the write was committed before, and no other has
// begun yet.
//
// The part may have been replaced since the Get found it. Its entry then has the value at
// the moment of the replacement, or what the write that replaced the part has committed
// since. The Get is linearized at either moment, and both lie within it. For a core that
// was replaced see the package's comment.
//
// An atomic.Value takes objects of one type, and cannot be emptied. So a table settles
// objects of one type only, that of the first pointer it holds: nearly all stores hold
// nothing else. When a key is deleted, or gets an object of another type, its value becomes
// gone, the nil of that type, which keeps nothing alive. No later write settles an entry
// with this value; only the next copy of its part does. So a Get that has loaded gone finds
// at (3) that the entry is not settled. Until that copy, Gets of a key that was deleted and
// added again go by the version.
type entryValues struct {
	kind    reflect.Type
	gone    any
	changed []*entry // by the write under way
}

// unsettled is a bit of an entry's hash.
const unsettled = 1

// learn makes the type of obj the one of the table, if it has none.
func (v *entryValues) learn(obj any) {
	if kind := reflect.TypeOf(obj); v.kind == nil && kind != nil && kind.Kind() == reflect.Pointer {
		v.kind, v.gone = kind, reflect.Zero(kind).Interface()
	}
}

// unsettle is a write's step 1, for an entry that exists already.
func (v *entryValues) unsettle(e *entry) {
	if v != nil {
		explore.Point("unsettle.hash")
		e.hash.Store(e.hash.Load() | unsettled)
		v.note(e)
	}
}

// note remembers e, to be settled when the write under way is committed.
func (v *entryValues) note(e *entry) {
	if v != nil {
		v.changed = append(v.changed, e)
	}
}

// settle is a write's steps 3 and 4.
func (v *entryValues) settle() {
	for _, e := range v.changed {
		v.learn(e.rec.Load().newest.Load().obj)
		v.set(e)
	}
	v.changed = emptied(v.changed)
}

// set settles e, whose newest version is committed, if the object has the table's type and
// the value is not gone.
func (v *entryValues) set(e *entry) {
	if v == nil {
		return
	}
	obj, before := e.rec.Load().newest.Load().obj, e.value.Load()
	switch {
	case obj != nil && reflect.TypeOf(obj) == v.kind && (before == nil || before != v.gone):
		explore.Point("set.value")
		e.value.Store(obj)
		explore.Point("set.hash")
		e.hash.Store(e.hash.Load() &^ unsettled)
	case before != nil:
		explore.Point("set.gone")
		e.value.Store(v.gone)
	}
}
