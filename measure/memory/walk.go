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
// Bytes within a struct or an array are those of the fields that lie there. What the allocator adds
// is counted where the allocation is.
type walker struct {
	root  *node
	guide reflect.Type // the Go type that names an unstructured object's fields, or customObject
	seed  maphash.Seed
	equal map[piece]*count
	tiny  tinyBlock
	n     int32 // the object at hand, from 1
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
	if t := scheme.AllKnownTypes()[gvk]; t != nil && form == FormUnstructured {
		w.guide = t
	}
	return w
}

// object adds an object.
func (w *walker) object(obj runtime.Object) {
	w.n++
	w.root.seen(w.n)
	if u, ok := obj.(*unstructured.Unstructured); ok {
		w.add(w.root, slot(8, true)-8, 0)
		w.value(reflect.ValueOf(u.Object), w.guide, w.root)
		return
	}
	v := reflect.ValueOf(obj).Elem()
	w.add(w.root, slot(int(v.Type().Size()), true)-int(v.Type().Size()), 0)
	w.value(v, v.Type(), w.root)
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

func (w *walker) text(s string) uint64 { return maphash.String(w.seed, s) }

// value counts a value, its own bytes included, and returns the hash of its content. guide is the
// type that names its fields: the value's own, or that of the Go type which it stands for; nil is
// unknown.
func (w *walker) value(v reflect.Value, guide reflect.Type, n *node) (hash uint64) {
	size := int(v.Type().Size())
	switch v.Kind() {
	case reflect.String:
		hash = w.text(v.String())
		w.add(n, size+w.stringBytes(v.Len()), hash)
		return hash
	case reflect.Pointer:
		if v.IsNil() || v.Type() == location {
			break
		}
		hash = w.value(v.Elem(), v.Type().Elem(), n)
		of := int(v.Type().Elem().Size())
		w.add(n, size+w.alloc(of, v.Type().Elem())-of, hash)
		return hash
	case reflect.Struct:
		left := size
		for _, f := range fieldsOf(v.Type()) {
			hash = mix(hash, w.value(v.Field(f.index), f.typ, n.field(f.name, w.n)))
			left -= int(f.typ.Size())
		}
		w.add(n, left, hash)
		return hash
	case reflect.Slice:
		return w.slice(v, guide, n)
	case reflect.Map:
		return w.mapping(v, guide, n)
	case reflect.Interface:
		if v.IsNil() {
			break
		}
		return w.boxed(v, guide, n)
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
	w.add(n, size, hash)
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
	elem := v.Type().Elem()
	taken := w.alloc(v.Cap()*int(elem.Size()), elem)
	if elem.Kind() == reflect.Uint8 {
		hash = maphash.Bytes(w.seed, v.Bytes())
		w.add(n, int(v.Type().Size())+taken, hash)
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
	w.add(n, int(v.Type().Size())+taken-v.Len()*int(elem.Size()), hash)
	return hash
}

func (w *walker) mapping(v reflect.Value, guide reflect.Type, n *node) (hash uint64) {
	size := int(v.Type().Size())
	if v.IsNil() {
		w.add(n, size, 0)
		return 0
	}
	key, elem := v.Type().Key(), v.Type().Elem()
	size += mapSlots(v.Type(), v.Len())
	for it := v.MapRange(); it.Next(); {
		below, of := n, guide
		if key.Kind() == reflect.String {
			below, of = n.key(it.Key().String(), guide, w.n)
		}
		h := mix(w.value(it.Key(), key, below), w.value(it.Value(), of, below))
		hash += h // in any order
		for _, t := range []reflect.Type{key, elem} {
			if t.Size() <= inlineMost {
				size -= int(t.Size()) // counted below
			} else {
				size += w.alloc(int(t.Size()), t) - int(t.Size())
			}
		}
	}
	hash = mix(hash, uint64(v.Len()))
	w.add(n, size, hash)
	return hash
}

// boxed counts an interface and what is in it. Small numbers and what is a pointer by itself need
// no allocation.
func (w *walker) boxed(v reflect.Value, guide reflect.Type, n *node) (hash uint64) {
	in := v.Elem()
	size, of := int(v.Type().Size()), int(in.Type().Size())
	switch in.Kind() {
	case reflect.Map, reflect.Pointer:
		size -= of
	case reflect.Bool:
		size -= of
	default:
		if small := in.CanInt() && in.Int() >= 0 && in.Int() < 256; !small && !in.IsZero() {
			size += w.alloc(of, in.Type())
		}
		size -= of
	}
	hash = w.value(in, guide, n)
	w.add(n, size, hash)
	return hash
}
