package interned

import (
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kind says how a piece of memory is hashed, compared and shared.
type kind uint8

const (
	// rawKind is memory compared by its bits: numbers, and pointers that are left alone.
	rawKind kind = iota
	// settleKind is a Quantity that String is called on, so that no reader's call writes.
	settleKind
	// The kinds from here on are parts: what one write of a pointer replaces.
	stringKind
	pointerKind
	sliceKind
	textMapKind     // a map from a kind of string to a kind of string
	quantityMapKind // a map from a kind of string to Quantity, as corev1.ResourceList
	otherMapKind
	treeKind  // any, with a value as unstructured objects hold it
	fieldKind // map[string]any
	listKind  // []any in an any
	textKind  // string in an any
)

// shape is how values of one Go type are walked. There is one for each type in the process.
type shape struct {
	kind kind // of a part
	typ  reflect.Type
	elem *shape // what a pointer, a slice or a map leads to
	key  *shape // of a map of otherMapKind
	salt uint64 // tells the hashes of parts of different types apart
	ops  []op   // what a value of the type consists of
}

// op is one step in the walk of a value.
type op struct {
	kind kind
	off  uintptr
	size uintptr // of rawKind
	part *shape  // of a part
}

// The shapes of parts that all unstructured objects have.
var (
	textShape   = &shape{kind: stringKind, salt: newSalt()}
	boxShape    = &shape{kind: textKind, salt: newSalt()}
	listShape   = &shape{kind: listKind, salt: newSalt()}
	fieldsShape = &shape{kind: fieldKind, salt: newSalt()}
)

var (
	roots  sync.Map // from a reflect.Type to the *shape of an object of it
	shapes struct {
		sync.Mutex
		of map[reflect.Type]*shape
	}
)

var (
	timeType     = reflect.TypeFor[time.Time]()
	quantityType = reflect.TypeFor[resource.Quantity]()
	fieldsType   = reflect.TypeFor[metav1.FieldsV1]()
	anyType      = reflect.TypeFor[any]()
	metaType     = reflect.TypeFor[metav1.ObjectMeta]()
)

// rootOf returns how an object of the struct type t is walked. Unlike in a part, a field that
// hides its content is passed over there, and so is what no two objects have in common.
func rootOf(t reflect.Type) *shape {
	if s, ok := roots.Load(t); ok {
		return s.(*shape)
	}
	shapes.Lock()
	defer shapes.Unlock()
	if shapes.of == nil {
		shapes.of = map[reflect.Type]*shape{}
	}
	s := &shape{typ: t, salt: newSalt()}
	s.addRoot(t, 0)
	roots.Store(t, s)
	return s
}

func (s *shape) addRoot(t reflect.Type, off uintptr) {
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case t == metaType && (f.Name == "Name" || f.Name == "UID" || f.Name == "ResourceVersion"):
		case !f.IsExported():
		case hides(f.Type) && f.Type.Kind() == reflect.Struct:
			s.addRoot(f.Type, off+f.Offset)
		case hides(f.Type):
		case f.Type == metaType:
			s.addRoot(f.Type, off+f.Offset)
		default:
			s.add(f.Type, off+f.Offset)
		}
	}
}

// hides says whether values of t have state in them that methods may write while others read:
// unexported fields, as those of sync.Mutex and of protobuf messages. Parts have none of it.
func hides(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() > mostElements || hides(t.Elem())
	case reflect.Struct:
		if known(t) {
			return false
		}
		for i := range t.NumField() {
			if f := t.Field(i); !f.IsExported() || hides(f.Type) {
				return true
			}
		}
	}
	return false
}

// mostElements is the length above which an array is left alone, since each element has steps.
const mostElements = 64

// known are the types whose unexported fields are constant or, in a Quantity, settled.
func known(t reflect.Type) bool {
	return t == timeType || t == quantityType || t == fieldsType || t.PkgPath() == "unique"
}

// shapeLocked returns the shape of t. A type that leads to itself finds its unfinished shape.
func shapeLocked(t reflect.Type) *shape {
	if s := shapes.of[t]; s != nil {
		return s
	}
	s := &shape{typ: t, salt: newSalt()}
	shapes.of[t] = s
	s.setPart(t)
	s.add(t, 0)
	return s
}

// setPart sets what makes s a part, if it is one. The kind comes first, for types that lead to
// themselves.
func (s *shape) setPart(t reflect.Type) {
	if !isPart(t) {
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		s.kind = pointerKind
	case reflect.Slice:
		s.kind = sliceKind
	default:
		text := t.Key().Kind() == reflect.String
		switch {
		case text && t.Elem().Kind() == reflect.String:
			s.kind = textMapKind
		case text && t.Elem() == quantityType:
			s.kind = quantityMapKind
		default:
			s.kind = otherMapKind
		}
		s.key = shapeLocked(t.Key())
	}
	s.elem = shapeLocked(t.Elem())
}

// isPart says whether a pointer, a slice or a map leads to values that may be shared.
func isPart(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Map:
		return !hides(t.Key()) && t.Key().Kind() != reflect.Interface && !hides(t.Elem())
	case reflect.Pointer, reflect.Slice:
		return !hides(t.Elem()) && t.Elem().Size() > 0
	}
	return false
}

// add appends the steps of a value of type t that lies at off.
func (s *shape) add(t reflect.Type, off uintptr) {
	switch t.Kind() {
	case reflect.String:
		s.addPart(textShape, off)
	case reflect.Pointer, reflect.Slice, reflect.Map:
		switch {
		case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String && t.Elem() == anyType:
			s.addPart(fieldsShape, off)
		case isPart(t):
			s.addPart(shapeLocked(t), off)
		default:
			s.addRaw(off, t.Size())
		}
	case reflect.Interface:
		if t == anyType {
			s.ops = append(s.ops, op{kind: treeKind, off: off})
			return
		}
		s.addRaw(off, t.Size())
	case reflect.Array:
		for i := range t.Len() {
			s.add(t.Elem(), off+uintptr(i)*t.Elem().Size())
		}
	case reflect.Struct:
		if t.PkgPath() == "unique" {
			s.addRaw(off, t.Size())
			return
		}
		if t == quantityType {
			s.ops = append(s.ops, op{kind: settleKind, off: off})
		}
		for i := range t.NumField() {
			s.add(t.Field(i).Type, off+t.Field(i).Offset)
		}
	default:
		s.addRaw(off, t.Size())
	}
}

// addPart appends a part at off.
func (s *shape) addPart(part *shape, off uintptr) {
	s.ops = append(s.ops, op{kind: part.kind, off: off, part: part})
}

// addRaw appends size bytes at off, to the step before if it ends there.
func (s *shape) addRaw(off, size uintptr) {
	if size == 0 {
		return
	}
	if n := len(s.ops); n > 0 && s.ops[n-1].kind == rawKind && s.ops[n-1].off+s.ops[n-1].size == off {
		s.ops[n-1].size += size
		return
	}
	s.ops = append(s.ops, op{kind: rawKind, off: off, size: size})
}

// flat says whether values of the type are compared by their bits alone.
func (s *shape) flat() bool {
	return len(s.ops) == 1 && s.ops[0].kind == rawKind && s.ops[0].size == s.typ.Size()
}
