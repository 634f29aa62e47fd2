package interned

import (
	"reflect"
	"strings"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
)

// next returns the notes of the part that the second pass has come to.
func (w *walk) next() node {
	w.at++
	return w.nodes[w.at-1]
}

// skip goes to the end of a part.
func (w *walk) skip(n node) { w.at, w.atField = int(n.end), int(n.endField) }

// known returns the part of the pool that equals the one at p, or nil. pooled says what to do with
// the one at p otherwise: it is going to the pool, and so share must be called for what it
// consists of, with inside set.
func (w *walk) known(nd node, sh *shape, p unsafe.Pointer, n int, inside bool) (
	known unsafe.Pointer, pooled bool) {
	if nd.known != nil {
		return nd.known, false
	}
	e, known := w.keeper.pool.find(nd.hash, sh, p, n)
	if e != nil && nd.path != 0 {
		w.keeper.guesses.slot(nd.path).Store(e)
	}
	return known, known == nil && !inside && w.keeper.sights.seen(nd.hash, w.owner)
}

// share replaces the parts of the value at p by equal ones of the pool, or enters them.
//
// If inside is set, the value is in a part that is going to the pool. Then its own parts are not
// entered, since they come again only with the whole, but its strings are copied, because they
// may hold a larger buffer.
//
// Only parts that no other object has are written to: a part of the pool is found there as long
// as it is in use, and then share does not go into it.
func (w *walk) share(ops []op, p unsafe.Pointer, inside bool) {
	for i := range ops {
		o := &ops[i]
		q := unsafe.Add(p, o.off) // Safety: ops are those of the type of the value at p
		switch o.kind {
		case rawKind, settleKind:
		case stringKind:
			if s := (*string)(q); *s != "" {
				w.shareText(s, w.next(), inside)
			}
		case sliceKind:
			if s := (*slice)(q); s.len > 0 {
				w.shareSlice(o.part, s, inside)
			}
		case treeKind:
			w.shareTree((*any)(q), inside)
		default: // a pointer, or a map, which is one
			if t := (*unsafe.Pointer)(q); *t != nil {
				w.sharePointer(o.part, t, inside)
			}
		}
	}
}

func (w *walk) sharePointer(sh *shape, p *unsafe.Pointer, inside bool) {
	n := w.next()
	known, pooled := w.known(n, sh, *p, 0, inside)
	if known == nil {
		if sh.kind == pointerKind {
			w.share(sh.elem.ops, *p, inside || pooled)
		} else {
			w.shareEntries(sh, *p, inside || pooled)
		}
		if pooled {
			known = w.keeper.pool.add(n.hash, sh, *p, 0)
		}
	}
	if known != nil && known != *p {
		*p = known // Safety: it points to a value of the same type
	}
	w.skip(n)
}

func (w *walk) shareText(s *string, n node, inside bool) {
	known, pooled := w.known(n, textShape, dataOf(*s), len(*s), inside)
	switch {
	case pooled:
		known = w.keeper.pool.add(n.hash, textShape, dataOf(strings.Clone(*s)), len(*s))
	case inside && known == nil:
		*s = strings.Clone(*s)
	}
	if known != nil && known != dataOf(*s) {
		*s = textAt(known, len(*s))
	}
}

func (w *walk) shareSlice(sh *shape, s *slice, inside bool) {
	n := w.next()
	known, pooled := w.known(n, sh, s.data, s.len, inside)
	if known == nil {
		size := sh.elem.typ.Size()
		if spare := uintptr(s.cap-s.len) * size; spare > 0 && (inside || pooled || spare >= leastSpare) {
			exact := reflect.MakeSlice(sh.typ, s.len, s.len)
			reflect.Copy(exact, reflect.NewAt(sh.typ, unsafe.Pointer(s)).Elem())
			s.data, s.cap = exact.UnsafePointer(), s.len
		}
		if !sh.elem.flat() {
			for i := range s.len {
				w.share(sh.elem.ops, unsafe.Add(s.data, uintptr(i)*size), inside || pooled)
			}
		}
		if pooled {
			known = w.keeper.pool.add(n.hash, sh, s.data, s.len)
		}
	}
	if known != nil && known != s.data {
		s.data, s.cap = known, s.len // Safety: it points to s.len elements of the same type
	}
	w.skip(n)
}

// leastSpare is how many bytes a slice must have to spare so that a copy without them pays.
const leastSpare = 128

// shareEntries is share for a map. An assignment to a string key that is there replaces the
// memory of the key too.
func (w *walk) shareEntries(sh *shape, m unsafe.Pointer, inside bool) {
	switch sh.kind {
	case fieldKind:
		w.shareFields(mapAt[map[string]any](m), inside)
	case textMapKind:
		m := mapAt[map[string]string](m)
		for k, v := range m {
			key, value := w.keeper.keys.share(k, hashText(k)), v
			if v != "" {
				w.shareText(&value, node{hash: hashText(v)}, inside)
			}
			if dataOf(key) != dataOf(k) || dataOf(value) != dataOf(v) {
				m[key] = value
			}
		}
	case quantityMapKind:
		m := mapAt[map[string]resource.Quantity](m)
		for k, v := range m {
			if key := w.keeper.keys.share(k, hashText(k)); dataOf(key) != dataOf(k) {
				m[key] = v
			}
		}
	}
}

func (w *walk) shareFields(m map[string]any, inside bool) {
	for range len(m) {
		f := &w.fields[w.atField]
		w.atField++
		key, value := w.keeper.keys.share(f.key, f.hash), f.value
		w.shareTree(&value, inside)
		if dataOf(key) != dataOf(f.key) || boxOf(&value).data != boxOf(&f.value).data {
			m[key] = value
		}
	}
}

// shareTree is share for a value as unstructured objects hold it.
func (w *walk) shareTree(p *any, inside bool) {
	b := boxOf(p)
	var sh *shape
	switch v := (*p).(type) {
	case string:
		if v == "" {
			return
		}
		sh = boxShape
	case map[string]any:
		if v == nil {
			return
		}
		sh = fieldsShape
	case []any:
		if v == nil {
			return
		}
		sh = listShape
	default:
		return
	}
	n := w.next()
	known, pooled := w.known(n, sh, b.data, 0, inside)
	if known == nil && (inside || pooled || sh != boxShape) {
		switch v := (*p).(type) {
		case string:
			*p = strings.Clone(v)
		case map[string]any:
			w.shareFields(v, inside || pooled)
		case []any:
			if cap(v) > len(v) && (inside || pooled || 16*(cap(v)-len(v)) >= leastSpare) {
				v = append(make([]any, 0, len(v)), v...)
				*p = v
			}
			for i := range v {
				w.shareTree(&v[i], inside || pooled)
			}
		}
		if pooled {
			known = w.keeper.pool.add(n.hash, sh, b.data, 0)
		}
	}
	if known != nil && known != b.data {
		b.data = known // Safety: it points to a value of the same type
	}
	w.skip(n)
}
