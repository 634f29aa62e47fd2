package memory

import (
	"hash/maphash"
	"math"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// walker divides the bytes of decoded objects among field paths. Decoded objects share nothing, so
// every value that it meets is counted.
//
// Bytes within a struct or an array are those of the fields that lie there, and equal to another
// object's if the whole allocation is. What the allocator adds is counted where the allocation is.
type walker struct {
	root  *node
	guide reflect.Type // the Go type that names an unstructured object's fields, or customObject
	seed  maphash.Seed
	equal map[piece]*count
	tiny  tinyBlock
	n     int32 // the object at hand, from 1
	// within are the fields of the allocations at hand, whose content is not known to its end.
	within []inline
}

// inline are bytes of a field within an allocation.
type inline struct {
	of    *node
	bytes int
}

// piece is what a field has in some objects: its content, as a hash.
type piece struct {
	of   *node
	hash uint64
}

// count is how many bytes a piece takes, in how many objects.
type count struct {
	bytes   int64
	object  int32
	several bool
}

func newWalker(gvk schema.GroupVersionKind, form string) *walker {
	w := &walker{root: &node{}, seed: maphash.MakeSeed(), equal: map[piece]*count{},
		guide: customObject}
	if t := scheme().AllKnownTypes()[gvk]; t != nil && form == FormUnstructured {
		w.guide = t
	}
	return w
}

// object adds an object.
func (w *walker) object(obj runtime.Object) {
	w.n++
	w.root.seen(w.n)
	v, guide := reflect.ValueOf(obj).Elem(), reflect.TypeOf(obj).Elem()
	size := int(v.Type().Size())
	if u, ok := obj.(*unstructured.Unstructured); ok {
		v, guide = reflect.ValueOf(u.Object), w.guide
	}
	w.allocated(w.root, slot(size, true)-size, w.value(v, guide, w.root), 0)
}

// allocated counts the fields of an allocation, those in within from a place on, and what the
// allocator adds.
func (w *walker) allocated(n *node, added int, hash uint64, from int) {
	w.add(n, added, hash)
	for _, f := range w.within[from:] {
		w.add(f.of, f.bytes, hash)
	}
	w.within = w.within[:from]
}

// add counts bytes of a field whose content has a hash.
func (w *walker) add(n *node, bytes int, hash uint64) {
	if bytes == 0 {
		return
	}
	n.bytes += int64(bytes)
	c := w.equal[piece{n, hash}]
	if c == nil {
		c = &count{object: w.n}
		w.equal[piece{n, hash}] = c
	}
	c.bytes += int64(bytes)
	c.several = c.several || c.object != w.n
}

// mix joins hashes, in their order.
func mix(a, b uint64) uint64 {
	a = (a ^ b) * 0x9e3779b97f4a7c15
	return a ^ a>>29
}

// value counts a value, its own bytes included, and returns the hash of its content. guide is the
// type that names its fields: the value's own, or that of the Go type which it stands for; nil is
// unknown.
func (w *walker) value(v reflect.Value, guide reflect.Type, n *node) (hash uint64) {
	size := int(v.Type().Size())
	if v.Kind() == reflect.Struct {
		for _, f := range fieldsOf(v.Type()) {
			hash = mix(hash, w.value(v.Field(f.index), f.typ, n.field(f.name, w.n)))
			size -= int(f.typ.Size())
		}
		w.within = append(w.within, inline{n, size}) // what aligns the fields
		return hash
	}
	w.within = append(w.within, inline{n, size})
	from := len(w.within)
	switch v.Kind() {
	case reflect.String:
		hash = maphash.String(w.seed, v.String())
		w.add(n, w.stringBytes(v.Len()), hash)
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != location {
			of := v.Type().Elem()
			hash = w.value(v.Elem(), of, n)
			w.allocated(n, w.alloc(int(of.Size()), of)-int(of.Size()), hash, from)
		}
	case reflect.Slice:
		return w.slice(v, guide, n)
	case reflect.Map:
		return w.mapping(v, guide, n)
	case reflect.Interface:
		if !v.IsNil() {
			return w.boxed(v.Elem(), guide, n)
		}
	case reflect.Bool:
		if v.Bool() {
			hash = 1
		}
	case reflect.Float32, reflect.Float64:
		hash = math.Float64bits(v.Float())
	default:
		switch {
		case v.CanInt():
			hash = uint64(v.Int())
		case v.CanUint():
			hash = v.Uint()
		}
	}
	return hash
}

// location is the type of time zones, which all times share.
var location = reflect.TypeFor[*time.Location]()

// alloc is what an allocation of n bytes of a type takes.
func (w *walker) alloc(n int, t reflect.Type) int {
	if hasPointers(t) {
		return slot(n, true)
	}
	return w.tiny.take(n)
}

// stringBytes is what a string's bytes take. Strings of one byte lie in a table of the runtime.
func (w *walker) stringBytes(n int) int {
	if n <= 1 {
		return 0
	}
	return w.tiny.take(n)
}

func (w *walker) slice(v reflect.Value, guide reflect.Type, n *node) (hash uint64) {
	elem, from := v.Type().Elem(), len(w.within)
	taken := w.alloc(v.Cap()*int(elem.Size()), elem)
	if elem.Kind() == reflect.Uint8 {
		hash = maphash.Bytes(w.seed, v.Bytes())
		w.add(n, taken, hash)
		return hash
	}
	n.list = n.list || !opaque(guide)
	of := elem
	if guide != v.Type() {
		of = elemOf(guide)
	}
	for i := range v.Len() {
		hash = mix(hash, w.value(v.Index(i), of, n))
	}
	hash = mix(hash, uint64(v.Len()))
	w.allocated(n, taken-v.Len()*int(elem.Size()), hash, from)
	return hash
}

func (w *walker) mapping(v reflect.Value, guide reflect.Type, n *node) (hash uint64) {
	if v.IsNil() {
		return 0
	}
	key, elem, from := v.Type().Key(), v.Type().Elem(), len(w.within)
	size := mapSlots(v.Type(), v.Len())
	for it := v.MapRange(); it.Next(); {
		below, of := n, guide
		if key.Kind() == reflect.String {
			below, of = n.key(it.Key().String(), guide, w.n)
		}
		hash += mix(w.value(it.Key(), key, below), w.value(it.Value(), of, below)) // in any order
		for _, t := range []reflect.Type{key, elem} {
			size -= int(t.Size()) // counted by value
			if t.Size() > inlineMost {
				size += w.alloc(int(t.Size()), t)
			}
		}
	}
	hash = mix(hash, uint64(v.Len()))
	w.allocated(n, size, hash, from)
	return hash
}

// boxed counts what is in an interface. Small numbers, zeros and what is a pointer by itself need
// no allocation.
func (w *walker) boxed(in reflect.Value, guide reflect.Type, n *node) (hash uint64) {
	size, from := int(in.Type().Size()), len(w.within)
	hash = w.value(in, guide, n)
	added := -size
	small := in.CanInt() && in.Int() >= 0 && in.Int() < 256 || in.IsZero()
	if k := in.Kind(); k != reflect.Map && k != reflect.Pointer && k != reflect.Bool && !small {
		added += w.alloc(size, in.Type())
	}
	w.allocated(n, added, hash, from)
	return hash
}
