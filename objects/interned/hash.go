package interned

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
)

// walk is one call of Keep. Its first pass hashes the object from the leaves up and writes down
// each part. Its second pass goes the same way with these notes, from the root down, and skips
// what lies inside of a part that it has replaced.
type walk struct {
	pool   *pool
	sights *sights
	keys   *keys
	owner  uint32 // tells this object from others, see sights

	nodes    []node
	fields   []field
	at       int // in nodes, of the second pass
	atField  int
	depth    int
	tooLarge bool

	quantity resource.Quantity // a map's value while it is hashed
}

// node is a part that the first pass has met.
type node struct {
	hash uint64
	// end and endField are how many nodes and fields were noted when the part was complete.
	end, endField int32
}

// field is an entry of a map[string]any. It is noted because a map has no order in which a second
// pass would meet the same entries.
type field struct {
	hash  uint64 // of the key
	key   string
	value any
}

// Objects beyond these bounds are left as they are. One that leads to itself is deeper.
const (
	mostDepth = 200
	mostNodes = 1 << 20
)

var (
	seed   = maphash.MakeSeed()
	k0, k1 = newSalt(), newSalt()
)

func newSalt() uint64 { return rand.Uint64() | 1 }

// hashText is maphash.String, but takes half of the time for strings as short as most keys are.
func hashText(s string) uint64 {
	n := len(s)
	p := dataOf(s)
	switch { // Safety: both reads are of the n bytes at p
	case n > 16 || n < 4:
		return maphash.String(seed, s)
	case n >= 8:
		return mix(*(*uint64)(p)+uint64(n), *(*uint64)(unsafe.Add(p, n-8)))
	default:
		return mix(uint64(*(*uint32)(p))+uint64(n)<<32, uint64(*(*uint32)(unsafe.Add(p, n-4))))
	}
}

// mix returns a hash of two hashes; their order matters.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^k0, b^k1)
	return hi ^ lo
}

// open notes a part whose content is about to be hashed. The caller must call close.
func (w *walk) open() int {
	w.depth++
	if w.depth > mostDepth || len(w.nodes) >= mostNodes {
		w.tooLarge = true
	}
	w.nodes = append(w.nodes, node{})
	return len(w.nodes) - 1
}

func (w *walk) close(i int, hash uint64) uint64 {
	w.depth--
	w.nodes[i] = node{hash, int32(len(w.nodes)), int32(len(w.fields))}
	return hash
}

// leaf notes a part without parts.
func (w *walk) leaf(hash uint64) uint64 { return w.close(w.open(), hash) }

// hash returns the hash of the value at p, which has the steps ops, on top of the hash h.
func (w *walk) hash(ops []op, p unsafe.Pointer, h uint64) uint64 {
	if w.tooLarge {
		return h
	}
	for i := range ops {
		o := &ops[i]
		q := unsafe.Add(p, o.off) // Safety: ops are those of the type of the value at p
		var x uint64
		switch o.kind {
		case rawKind:
			x = hashRaw(q, o.size)
		case settleKind:
			_ = (*resource.Quantity)(q).String()
		case stringKind:
			if s := *(*string)(q); s != "" {
				x = w.leaf(hashText(s))
			}
		case pointerKind:
			if t := *(*unsafe.Pointer)(q); t != nil {
				n := w.open()
				x = w.close(n, w.hash(o.part.elem.ops, t, o.part.salt))
			}
		case sliceKind:
			if s := (*slice)(q); s.data != nil {
				x = w.hashSlice(o.part, s)
			}
		case treeKind:
			x = w.hashTree(*(*any)(q))
		default:
			if m := *(*unsafe.Pointer)(q); m != nil {
				n := w.open()
				x = w.close(n, w.hashMap(o.part, m))
			}
		}
		if x != 0 {
			h = mix(h+uint64(i), x)
		}
	}
	return h
}

// hashRaw returns 0 for a number that is 0.
func hashRaw(p unsafe.Pointer, size uintptr) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(p))
	case 4:
		return uint64(*(*uint32)(p))
	case 8:
		return *(*uint64)(p)
	}
	var h uint64
	b := unsafe.Slice((*byte)(p), size) // Safety: size is that of the value at p
	for ; len(b) >= 8; b = b[8:] {
		h = mix(h, binary.LittleEndian.Uint64(b))
	}
	for _, c := range b {
		h = mix(h, uint64(c))
	}
	return h
}

func (w *walk) hashSlice(sh *shape, s *slice) uint64 {
	h := sh.salt + uint64(s.len)
	if s.len == 0 {
		return h
	}
	n := w.open()
	size := sh.elem.typ.Size()
	if sh.elem.flat() {
		h = mix(h, maphash.Bytes(seed, unsafe.Slice((*byte)(s.data), size*uintptr(s.len))))
	} else {
		for i := range s.len {
			h = w.hash(sh.elem.ops, unsafe.Add(s.data, uintptr(i)*size), h+uint64(i))
		}
	}
	return w.close(n, h)
}

// hashMap returns a sum over the entries, because they come in any order. Only a map[string]any
// gets notes of its values; the entries of other maps are not shared one by one, or are strings.
func (w *walk) hashMap(sh *shape, m unsafe.Pointer) uint64 {
	h := sh.salt
	switch sh.kind {
	case fieldKind:
		return w.hashFields(mapAt[map[string]any](m))
	case textMapKind:
		for k, v := range mapAt[map[string]string](m) {
			h += mix(hashText(k), hashText(v))
		}
	case quantityMapKind:
		for k, v := range mapAt[map[string]resource.Quantity](m) {
			w.quantity = v
			h += w.unnoted(sh.elem.ops[1:], unsafe.Pointer(&w.quantity), hashText(k))
		}
	default:
		k, v := reflect.New(sh.key.typ), reflect.New(sh.elem.typ)
		for i := reflectMap(sh, m).MapRange(); i.Next(); {
			k.Elem().SetIterKey(i)
			v.Elem().SetIterValue(i)
			h += w.unnoted(sh.elem.ops, v.UnsafePointer(),
				w.unnoted(sh.key.ops, k.UnsafePointer(), k1))
		}
	}
	return h
}

// unnoted is hash for a copy of a value that is of no use to the second pass.
func (w *walk) unnoted(ops []op, p unsafe.Pointer, h uint64) uint64 {
	nodes, fields := len(w.nodes), len(w.fields)
	h = w.hash(ops, p, h)
	clear(w.fields[fields:])
	w.nodes, w.fields = w.nodes[:nodes], w.fields[:fields]
	return h
}

// hashTree is hash for a value as unstructured objects hold it. Other values are told apart by
// their memory.
func (w *walk) hashTree(v any) uint64 {
	switch v := v.(type) {
	case nil:
		return 0
	case string:
		if v == "" {
			return boxShape.salt
		}
		return w.leaf(hashText(v) + boxShape.salt)
	case map[string]any:
		if v == nil {
			return fieldsShape.salt + 1
		}
		n := w.open()
		return w.close(n, w.hashFields(v))
	case []any:
		if v == nil {
			return listShape.salt - 1
		}
		n := w.open()
		h := listShape.salt + uint64(len(v))
		for _, e := range v {
			h = mix(h, w.hashTree(e))
		}
		return w.close(n, h)
	case int64:
		return mix(k0, uint64(v))
	case float64:
		return mix(k1, math.Float64bits(v))
	case bool:
		if v {
			return k0
		}
		return k1
	default:
		b := boxOf(&v)
		return mix(uint64(uintptr(b.typ)), uint64(uintptr(b.data)))
	}
}

func (w *walk) hashFields(m map[string]any) uint64 {
	h := fieldsShape.salt
	if w.tooLarge || len(m) == 0 {
		return h
	}
	for k, v := range m {
		x := hashText(k)
		w.fields = append(w.fields, field{x, k, v})
		h += mix(x, w.hashTree(v))
	}
	return h
}
