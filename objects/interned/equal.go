package interned

import (
	"bytes"
	"math"
	"reflect"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
)

// equalPart says whether the parts at a and b, of one shape and length, are equal: bit by bit, so
// that -0 is not 0, but with nothing said about memory. It writes to a Quantity that no reader has,
// see settleKind, and otherwise only reads.
func equalPart(sh *shape, a, b unsafe.Pointer, n int) bool {
	if a == b {
		return true
	}
	switch sh.kind {
	case stringKind:
		return textAt(a, n) == textAt(b, n)
	case textKind:
		return *(*string)(a) == *(*string)(b)
	case listKind:
		return equalLists(*(*[]any)(a), *(*[]any)(b))
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
		case settleKind: // and then compared like other structs
			_, _ = (*resource.Quantity)(p).String(), (*resource.Quantity)(q).String()
		case stringKind:
			if *(*string)(p) != *(*string)(q) {
				return false
			}
		case treeKind:
			if !equalTrees(*(*any)(p), *(*any)(q)) {
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
		return equalFields(mapAt[map[string]any](a), mapAt[map[string]any](b))
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
			if !ok || !equal(sh.elem.ops[1:], unsafe.Pointer(&p[0]), unsafe.Pointer(&p[1])) {
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

func equalTrees(a, b any) bool {
	p, q := boxOf(&a), boxOf(&b)
	if p.typ != q.typ {
		return false
	}
	if p.data == q.data {
		return true
	}
	switch a := a.(type) {
	case string:
		return a == b.(string)
	case map[string]any:
		return equalFields(a, b.(map[string]any))
	case []any:
		return equalLists(a, b.([]any))
	case int64:
		return a == b.(int64)
	case bool:
		return a == b.(bool)
	case float64:
		return math.Float64bits(a) == math.Float64bits(b.(float64))
	}
	return false
}

func equalFields(a, b map[string]any) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	if len(a) == 0 {
		return true
	}
	for k, v := range a {
		if u, ok := b[k]; !ok || !equalTrees(v, u) {
			return false
		}
	}
	return true
}

func equalLists(a, b []any) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for i, v := range a {
		if !equalTrees(v, b[i]) {
			return false
		}
	}
	return true
}
