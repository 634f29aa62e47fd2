package packed

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// treeCodec is for unstructured objects. A value is a head, a varint of a tag in the low four bits
// and a number above them, and what the table says:
//
//	tag       number              then
//	tagConst  which constant
//	tagInt    zigzag of the int
//	tagLong   0                   an int that needs more bits: 8 bytes, little endian
//	tagFloat  0                   8 bytes, little endian
//	tagText   length              the bytes
//	tagWord   index in the words
//	tagMap    entries             for each, sorted: a head of a text or a word, and the value
//	tagList   values              the values
//
// Keys and strings that several samples have are words: the objects of a generation share them,
// and decoding one allocates nothing.
type treeCodec struct{}

const (
	tagConst = iota
	tagInt
	tagLong
	tagFloat
	tagText
	tagWord
	tagMap
	tagList
	tagBits = 4
)

// constants are the values that need no number. Nil and empty maps and lists are different.
var constants = [...]any{nil, false, true, map[string]any(nil), []any(nil)}

const (
	constNil = iota
	constFalse
	constTrue
	constNilMap
	constNilList
)

const (
	deepest   = 1000 // levels of a tree: one with a cycle ends here
	mostWords = 4096
	longest   = 256 // bytes of a word
)

// words are the strings that a generation of objects has in common.
type words struct {
	index   map[string]uint64
	strings []string
	boxed   []any // the same, as values
}

func (w *words) len() int {
	if w == nil {
		return 0
	}
	return len(w.strings)
}

// treeWriter encodes one tree.
type treeWriter struct {
	dst     []byte
	words   map[string]uint64
	entries []entry // of all maps that are being written, as a stack
	depth   int
}

type entry struct {
	key   string
	value any
}

func (treeCodec) encode(s *scratch, obj any, w *words) ([]byte, bool) {
	t := &s.tree
	t.dst = s.raw[:0]
	raw, ok := t.encode(obj.(*unstructured.Unstructured).Object, w)
	s.raw, t.dst = raw, nil
	return raw, ok
}

func (t *treeWriter) encode(root map[string]any, w *words) ([]byte, bool) {
	t.words, t.depth = nil, 0
	if w != nil {
		t.words = w.index
	}
	ok := t.value(root)
	clear(t.entries[:cap(t.entries)])
	t.entries, t.words = t.entries[:0], nil
	return t.dst, ok
}

func (t *treeWriter) head(tag, n uint64) { t.dst = binary.AppendUvarint(t.dst, n<<tagBits|tag) }

// value appends v. It returns false for a type that JSON does not decode to.
func (t *treeWriter) value(v any) bool {
	switch v := v.(type) {
	case nil:
		t.head(tagConst, constNil)
	case bool:
		if v {
			t.head(tagConst, constTrue)
		} else {
			t.head(tagConst, constFalse)
		}
	case string:
		t.text(v)
	case int64:
		z := uint64(v)<<1 ^ uint64(v>>63)
		if z>>(64-tagBits) != 0 {
			t.head(tagLong, 0)
			t.dst = binary.LittleEndian.AppendUint64(t.dst, uint64(v))
		} else {
			t.head(tagInt, z)
		}
	case float64:
		t.head(tagFloat, 0)
		t.dst = binary.LittleEndian.AppendUint64(t.dst, math.Float64bits(v))
	case map[string]any:
		return t.tree(v)
	case []any:
		return t.list(v)
	default:
		return false
	}
	return true
}

func (t *treeWriter) text(s string) {
	if i, ok := t.words[s]; ok {
		t.head(tagWord, i)
		return
	}
	t.head(tagText, uint64(len(s)))
	t.dst = append(t.dst, s...)
}

func (t *treeWriter) list(v []any) bool {
	if v == nil {
		t.head(tagConst, constNilList)
		return true
	}
	if t.depth++; t.depth > deepest {
		return false
	}
	t.head(tagList, uint64(len(v)))
	for _, e := range v {
		if !t.value(e) {
			return false
		}
	}
	t.depth--
	return true
}

func (t *treeWriter) tree(v map[string]any) bool {
	if v == nil {
		t.head(tagConst, constNilMap)
		return true
	}
	if t.depth++; t.depth > deepest {
		return false
	}
	t.head(tagMap, uint64(len(v)))
	start := len(t.entries)
	for key, value := range v {
		t.entries = append(t.entries, entry{key, value})
	}
	end := len(t.entries)
	// In order, because equal maps are to give equal bytes.
	slices.SortFunc(t.entries[start:end], func(a, b entry) int {
		return strings.Compare(a.key, b.key)
	})
	for i := start; i < end; i++ {
		e := t.entries[i]
		t.text(e.key)
		if !t.value(e.value) {
			return false
		}
	}
	t.entries = t.entries[:start]
	t.depth--
	return true
}

var errTree = errors.New("malformed tree")

func (treeCodec) decode(raw []byte, obj any, w *words) error {
	r := treeReader{src: raw, words: w}
	root, ok := r.value().(map[string]any)
	if r.bad || !ok || len(r.src) != 0 {
		return errTree
	}
	obj.(*unstructured.Unstructured).Object = root
	return nil
}

// treeReader decodes one tree. After an error it is bad and reads nothing but nil.
type treeReader struct {
	src   []byte
	words *words
	depth int
	bad   bool
}

func (r *treeReader) fail() any {
	r.bad, r.src = true, nil
	return nil
}

func (r *treeReader) head() (tag, n uint64) {
	h, size := binary.Uvarint(r.src)
	if size <= 0 {
		r.fail()
		return tagConst, constNil
	}
	r.src = r.src[size:]
	return h & (1<<tagBits - 1), h >> tagBits
}

func (r *treeReader) value() any {
	switch tag, n := r.head(); tag {
	case tagConst:
		if n < uint64(len(constants)) {
			return constants[n]
		}
	case tagInt:
		return int64(n>>1) ^ -int64(n&1)
	case tagLong:
		if len(r.src) >= 8 {
			return int64(r.fixed())
		}
	case tagFloat:
		if len(r.src) >= 8 {
			return math.Float64frombits(r.fixed())
		}
	case tagText:
		if n <= uint64(len(r.src)) {
			return r.text(n)
		}
	case tagWord:
		if n < uint64(r.words.len()) {
			return r.words.boxed[n]
		}
	case tagMap:
		return r.tree(n)
	case tagList:
		return r.list(n)
	}
	return r.fail()
}

func (r *treeReader) fixed() uint64 {
	v := binary.LittleEndian.Uint64(r.src)
	r.src = r.src[8:]
	return v
}

func (r *treeReader) text(n uint64) string {
	s := string(r.src[:n])
	r.src = r.src[n:]
	return s
}

func (r *treeReader) key() string {
	switch tag, n := r.head(); {
	case tag == tagWord && n < uint64(r.words.len()):
		return r.words.strings[n]
	case tag == tagText && n <= uint64(len(r.src)):
		return r.text(n)
	}
	r.fail()
	return ""
}

// enter starts a map or a list of n parts, each of at least size bytes.
func (r *treeReader) enter(n, size uint64) bool {
	r.depth++
	return r.depth <= deepest && n <= uint64(len(r.src))/size
}

func (r *treeReader) tree(n uint64) any {
	if !r.enter(n, 2) {
		return r.fail()
	}
	m := make(map[string]any, n)
	for range n {
		key := r.key()
		m[key] = r.value()
		if r.bad {
			return nil
		}
	}
	r.depth--
	return m
}

func (r *treeReader) list(n uint64) any {
	if !r.enter(n, 1) {
		return r.fail()
	}
	l := make([]any, n)
	for i := range l {
		if l[i] = r.value(); r.bad {
			return nil
		}
	}
	r.depth--
	return l
}
