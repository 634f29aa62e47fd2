package interned

import (
	"bytes"
	"math"
	"reflect"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
)

// equalPart says whether the parts at a and b, of one shape and length, are equal, which has
// nothing to do with where they lie. It only reads.
func equalPart(sh *shape, a, b unsafe.Pointer, n int) bool {
	if a == b {
		return true
	}
	switch sh.kind {
	case stringKind:
		return textAt(a, n) == textAt(b, n)
	case textKind:
		return *(*string)(a) == *(*string)(b)
	case pointerKind:
		return equal(sh.elem.ops, a, b)
	case sliceKind:
		return equalSlices(sh.elem, a, b, n)
	default:
		return equalMaps(sh, a, b)
	}
}

// equal is equalPart for values with the steps ops.
func equal(ops []op, a, b unsafe.Pointer) bool {
	for i := range ops {
		o := &ops[i]
		// Safety: ops are those of the type of the values at a and b.
		p, q := unsafe.Add(a, o.off), unsafe.Add(b, o.off)
		switch o.kind {
		case rawKind:
			if !equalRaw(p, q, o.size) {
				return false
			}
		case settleKind: // its string is compared
		case stringKind:
			if *(*string)(p) != *(*string)(q) {
				return false
			}
		case treeKind:
			// Objects of Go types hardly have such values. The hashes tell 0 from -0.
			if !reflect.DeepEqual(*(*any)(p), *(*any)(q)) {
				return false
			}
		case sliceKind:
			s, t := (*slice)(p), (*slice)(q)
			if s.len != t.len || (s.data == nil) != (t.data == nil) ||
				s.data != t.data && !equalSlices(o.part.elem, s.data, t.data, s.len) {
				return false
			}
		default:
			s, t := *(*unsafe.Pointer)(p), *(*unsafe.Pointer)(q)
			if s != t && (s == nil || t == nil || !equalPart(o.part, s, t, 0)) {
				return false
			}
		}
	}
	return true
}

func equalRaw(p, q unsafe.Pointer, size uintptr) bool {
	switch size {
	case 1:
		return *(*uint8)(p) == *(*uint8)(q)
	case 4:
		return *(*uint32)(p) == *(*uint32)(q)
	case 8:
		return *(*uint64)(p) == *(*uint64)(q)
	}
	// Safety: size is that of the values at p and q.
	return bytes.Equal(unsafe.Slice((*byte)(p), size), unsafe.Slice((*byte)(q), size))
}

func equalSlices(elem *shape, a, b unsafe.Pointer, n int) bool {
	size := elem.typ.Size()
	if elem.flat() {
		return n == 0 || equalRaw(a, b, size*uintptr(n))
	}
	for i := range n {
		if !equal(elem.ops, unsafe.Add(a, uintptr(i)*size), unsafe.Add(b, uintptr(i)*size)) {
			return false
		}
	}
	return true
}

func equalMaps(sh *shape, a, b unsafe.Pointer) bool {
	switch sh.kind {
	case fieldKind:
		return reflect.DeepEqual(mapAt[map[string]any](a), mapAt[map[string]any](b))
	case textMapKind:
		s, t := mapAt[map[string]string](a), mapAt[map[string]string](b)
		if len(s) != len(t) {
			return false
		}
		for k, v := range s {
			if u, ok := t[k]; !ok || u != v {
				return false
			}
		}
	case quantityMapKind:
		s, t := mapAt[map[string]resource.Quantity](a), mapAt[map[string]resource.Quantity](b)
		if len(s) != len(t) {
			return false
		}
		var p [2]resource.Quantity
		for k, v := range s {
			u, ok := t[k]
			p[0], p[1] = v, u
			if !ok || !equal(sh.elem.ops, unsafe.Pointer(&p[0]), unsafe.Pointer(&p[1])) {
				return false
			}
		}
	default:
		s, t := reflectMap(sh, a), reflectMap(sh, b)
		if s.Len() != t.Len() {
			return false
		}
		p, q := reflect.New(sh.elem.typ), reflect.New(sh.elem.typ)
		for i := s.MapRange(); i.Next(); {
			u := t.MapIndex(i.Key())
			if !u.IsValid() {
				return false
			}
			p.Elem().SetIterValue(i)
			q.Elem().Set(u)
			if !equal(sh.elem.ops, p.UnsafePointer(), q.UnsafePointer()) {
				return false
			}
		}
	}
	return true
}

// noted compares values as unstructured objects hold them. It goes through the notes of one of the
// values, since that takes less time than its maps.
type noted struct {
	fields []field
	at     int
}

// equalPart is equalPart where noted are the fields of the part at b.
func (e *noted) equalPart(sh *shape, a, b unsafe.Pointer, n int) bool {
	switch {
	case a == b:
		return true
	case sh.kind == fieldKind:
		return e.equalFields(mapAt[map[string]any](a), mapAt[map[string]any](b))
	case sh.kind == listKind:
		return e.equalLists(*(*[]any)(a), *(*[]any)(b))
	}
	return equalPart(sh, a, b, n)
}

func (e *noted) equalTrees(a, b any) bool {
	if boxOf(&a).typ != boxOf(&b).typ {
		return false
	}
	switch b := b.(type) {
	case string:
		return a.(string) == b
	case map[string]any:
		return e.equalFields(a.(map[string]any), b)
	case []any:
		return e.equalLists(a.([]any), b)
	case int64:
		return a.(int64) == b
	case bool:
		return a.(bool) == b
	case float64:
		return math.Float64bits(a.(float64)) == math.Float64bits(b)
	}
	return boxOf(&a).data == boxOf(&b).data
}

func (e *noted) equalFields(a, b map[string]any) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for range len(b) {
		f := &e.fields[e.at]
		e.at++
		if v, ok := a[f.key]; !ok || !e.equalTrees(v, f.value) {
			return false
		}
	}
	return true
}

func (e *noted) equalLists(a, b []any) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for i, v := range b {
		if !e.equalTrees(a[i], v) {
			return false
		}
	}
	return true
}
