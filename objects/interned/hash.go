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
	keeper *Keeper
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
	hash  uint64
	path  uint64         // the way to it from the root, see guesses
	known unsafe.Pointer // the part of the pool that was guessed right
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

// step returns the way to the i-th step from a place that path leads to.
func step(path uint64, i int) uint64 { return (path + uint64(i) + 1) * 0x9e37_79b9_7f4a_7c15 }

// leaf notes a part without parts.
func (w *walk) leaf(hash uint64) uint64 {
	w.nodes = append(w.nodes, node{hash: hash, end: int32(len(w.nodes)) + 1,
		endField: int32(len(w.fields))})
	return hash
}

// hash returns the hash of the value at p, which has the steps ops, on top of the hash h.
func (w *walk) hash(ops []op, p unsafe.Pointer, h, path uint64) uint64 {
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
		case sliceKind:
			if s := (*slice)(q); s.len > 0 {
				x = w.hashPart(o.part, s.data, s.len, step(path, i))
			} else if s.data != nil {
				x = o.part.salt
			}
		case treeKind:
			x = w.hashTree(*(*any)(q), step(path, i))
		default: // a pointer, or a map, which is one
			if t := *(*unsafe.Pointer)(q); t != nil {
				x = w.hashPart(o.part, t, 0, step(path, i))
			}
		}
		if x != 0 {
			h = mix(h+uint64(i), x)
		}
	}
	return h
}

// hashPart notes the part at p and returns its hash.
func (w *walk) hashPart(sh *shape, p unsafe.Pointer, n int, path uint64) uint64 {
	if w.depth == mostDepth || len(w.nodes) >= mostNodes {
		w.tooLarge = true
	}
	if w.tooLarge {
		return 0
	}
	if e, known := w.keeper.guesses.right(path, sh, p, n); e != nil {
		w.leaf(e.hash)
		w.nodes[len(w.nodes)-1].known = known
		return e.hash
	}
	i := len(w.nodes)
	w.nodes = append(w.nodes, node{})
	w.depth++
	h := sh.salt + uint64(n)
	switch sh.kind {
	case pointerKind:
		h = w.hash(sh.elem.ops, p, h, path)
	case sliceKind:
		size := sh.elem.typ.Size()
		if sh.elem.flat() {
			h = mix(h, maphash.Bytes(seed, unsafe.Slice((*byte)(p), size*uintptr(n))))
			break
		}
		for j := range n {
			h = w.hash(sh.elem.ops, unsafe.Add(p, uintptr(j)*size), h+uint64(j), step(path, j))
		}
	case listKind:
		list := *(*[]any)(p)
		h += uint64(len(list))
		for j, v := range list {
			h = mix(h, w.hashTree(v, step(path, j)))
		}
	default:
		h += w.hashEntries(sh, p, path)
	}
	w.depth--
	w.nodes[i] = node{hash: h, path: path, end: int32(len(w.nodes)), endField: int32(len(w.fields))}
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

// hashEntries returns a sum over the entries of a map, because they come in any order. Only those
// of a map[string]any get notes: the entries of others are strings, or not shared one by one.
func (w *walk) hashEntries(sh *shape, m unsafe.Pointer, path uint64) (h uint64) {
	switch sh.kind {
	case fieldKind:
		fields := mapAt[map[string]any](m)
		if len(fields) == 0 {
			return 0 // which a range takes longer to find out
		}
		for k, v := range fields {
			x := hashText(k)
			w.fields = append(w.fields, field{x, k, v})
			h += mix(x, w.hashTree(v, step(path, int(x))))
		}
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
			x := w.unnoted(sh.key.ops, k.UnsafePointer(), k1)
			h += w.unnoted(sh.elem.ops, v.UnsafePointer(), x)
		}
	}
	return h
}

// unnoted is hash for a copy of a value that is of no use to the second pass.
func (w *walk) unnoted(ops []op, p unsafe.Pointer, h uint64) uint64 {
	nodes, fields := len(w.nodes), len(w.fields)
	h = w.hash(ops, p, h, h)
	clear(w.nodes[nodes:])
	clear(w.fields[fields:])
	w.nodes, w.fields = w.nodes[:nodes], w.fields[:fields]
	return h
}

// hashTree is hash for a value as unstructured objects hold it. Other values are told apart by
// their memory.
func (w *walk) hashTree(v any, path uint64) uint64 {
	switch t := v.(type) {
	case nil:
		return 0
	case string:
		if t == "" {
			return boxShape.salt
		}
		return w.leaf(hashText(t) + boxShape.salt)
	case map[string]any:
		if t != nil {
			return w.hashPart(fieldsShape, boxOf(&v).data, 0, path)
		}
	case []any:
		if t != nil {
			return w.hashPart(listShape, boxOf(&v).data, 0, path)
		}
	case int64:
		return mix(k0, uint64(t))
	case float64:
		return mix(k1, math.Float64bits(t))
	case bool:
		if t {
			return k0
		}
		return k1
	}
	b := boxOf(&v)
	return mix(uint64(uintptr(b.typ)), uint64(uintptr(b.data)))
}
