package lockfree

import (
	"reflect"

	"github.com/informerbench/informerbench/internal/explore"
)

// entryValues keeps in the entries of a table, beside the records, the objects themselves, so
// that a Get need not wait for record and node, which lie elsewhere in memory. All of it is
// the writer's, or constant while several goroutines fill a core; readers load an
// entry's value while it is settled.
//
// The value of a settled entry is the object of the newest committed node of its key. A
// write, of which there is one at a time,
//
//	(1) unsettles the entries of what it changes,
//	(2) is committed,
//	(3) sets the values of these entries, also where it moved them to another part,
//	(4) and settles them.
//
// A Get (1) sees that the entry is settled, (2) loads the value, (3) sees that the entry
// is settled; otherwise it looks at the node. The value it returns was there when it
// did (1), and it is linearized there; or a write has set it since then, and the Get is
// linearized where that write did (3), before which it was committed and after which no
// other has begun yet. In a part that was replaced since the Get found it, an entry has
// what was there when it was replaced, or what the write that replaced it has committed
// since: the Get is linearized at either moment, and both lie within it. For a core that
// was replaced see the package's comment.
//
// An atomic.Value takes objects of one type, and it can not be emptied. So a table
// settles objects of one type only, that of the first pointer it holds: nearly all
// stores hold nothing else. The value of what is deleted, or gives way to another type,
// becomes gone, the nil of that type, which keeps nothing alive. No later write settles
// an entry with this value, only the next copy of its part does: so a Get that has loaded
// it finds that out by (3), and Gets of a name that was deleted and came again go by the
// node until then.
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

// unsettle is a write's step 1 for an entry that there is.
func (v *entryValues) unsettle(e *entry) {
	if v != nil {
		explore.Point("unsettle.hash")
		e.hash.Store(e.hash.Load() | unsettled)
		v.note(e)
	}
}

// note has e settled when the write under way is committed.
func (v *entryValues) note(e *entry) {
	if v != nil {
		v.changed = append(v.changed, e)
	}
}

// settle is steps 3 and 4.
func (v *entryValues) settle() {
	for _, e := range v.changed {
		v.learn(e.rec.Load().newest.Load().obj)
		v.set(e)
	}
	v.changed = emptied(v.changed)
}

// set settles e, whose node is committed, if it can.
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
