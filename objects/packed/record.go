package packed

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"sync/atomic"
	"unique"
	"unsafe"
	"weak"

	"github.com/klauspost/compress/s2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// record is a packed object: 64 bytes, beside its blob and the 16 bytes that the runtime needs for
// a weak pointer. The first three fields are immutable.
type record struct {
	blob      blob
	namespace unique.Handle[string]
	made      *generation
	// decoded is the object: at first the one that was kept, later the one that was decoded last.
	decoded weakPointer
	// hot is the same object while the record is in its keeper's hot set, and else nil.
	hot    atomic.Pointer[byte]
	values [2]atomic.Pointer[list] // slots 0 and 1
	more   atomic.Pointer[laterSlot]
}

// GetObjectMeta returns the identity and the version of the object. It makes records pass
// meta.Accessor, so that stores can key and compare them without decoding.
func (r *record) GetObjectMeta() metav1.Object {
	name, uid, version, _ := r.parts()
	return &metav1.ObjectMeta{Namespace: r.namespace.Value(), Name: name,
		UID: types.UID(uid), ResourceVersion: version}
}

// blob points to a length of four bytes and as many bytes of one allocation: the lengths of name,
// UID and resource version (varints), these strings, and the compressed object. The collector does
// not scan it, for it has no pointers.
type blob struct{ length *[4]byte }

const blobHeader = len(blob{}.length)

// newBlob copies b, whose first blobHeader bytes are free for the length of the rest.
func newBlob(b []byte) blob {
	b = bytes.Clone(b)
	length := (*[blobHeader]byte)(b)
	binary.LittleEndian.PutUint32(length[:], uint32(len(b)-blobHeader))
	return blob{length}
}

// bytes returns what follows the length, read-only. Safety: newBlob allocated that many bytes.
func (b blob) bytes() []byte {
	n := binary.LittleEndian.Uint32(b.length[:])
	return unsafe.Slice((*byte)(unsafe.Pointer(b.length)), blobHeader+int(n))[blobHeader:]
}

// appendParts starts the bytes of a blob.
func appendParts(blob []byte, m metav1.Object) []byte {
	name, uid, version := m.GetName(), string(m.GetUID()), m.GetResourceVersion()
	for _, s := range []string{name, uid, version} {
		blob = binary.AppendUvarint(blob, uint64(len(s)))
	}
	return append(append(append(blob, name...), uid...), version...)
}

// parts returns what a blob is made of. The strings share its memory.
func (r *record) parts() (name, uid, version string, packed []byte) {
	rest := r.blob.bytes()
	var lengths [3]uint64
	for i := range lengths {
		n := 0
		lengths[i], n = binary.Uvarint(rest)
		rest = rest[n:]
	}
	next := func(n uint64) string {
		part := rest[:n]
		rest = rest[n:]
		return unsafe.String(unsafe.SliceData(part), len(part))
	}
	name, uid, version = next(lengths[0]), next(lengths[1]), next(lengths[2])
	return name, uid, version, rest
}

// object returns the object that the record stands for. Readers agree on one:
//
//  1. decoded still has an object: return that.
//  2. It was collected: decode a copy, and swap the dead pointer for one to the copy.
//  3. Another reader swapped first: start over at 1, with the copy for step 2. The compare-and-swap
//     fails only if the pointer changed, and it changes only from a dead one to a live one.
func (r *record) object() any {
	var copied any
	for {
		ref := r.decoded.load()
		if p := ref.Value(); p != nil {
			return r.made.group.objectAt(p)
		}
		if copied == nil {
			var err error
			if copied, err = r.decode(); err != nil {
				name, _, _, _ := r.parts()
				panic(fmt.Sprintf("packed: decode %s %q: %v", reflect.TypeOf(copied),
					r.namespace.Value()+"/"+name, err))
			}
		}
		if r.decoded.swap(ref, weakTo(copied)) {
			return copied
		}
	}
}

// decode makes a new object. With an error it returns the unfinished one, for its type.
func (r *record) decode() (any, error) {
	s := scratches.Get().(*scratch)
	defer s.release()
	return r.decodeWith(s)
}

func (r *record) decodeWith(s *scratch) (any, error) {
	g := r.made.group
	obj := g.newObject()
	_, _, _, packed := r.parts()
	raw, err := r.made.decompress(s.raw[:cap(s.raw)], packed)
	if err != nil {
		return obj, err
	}
	s.raw = raw
	if err := g.codec.decode(raw, obj, r.made.words); err != nil {
		return obj, err
	}
	if tm := typeMetaIn(obj); tm != nil {
		*tm = g.TypeMeta // protobuf has none
	}
	return obj, nil
}

// roomy is an unstructured object in a block of 64 bytes. Alone it has 8, so that 1,024 of them lie
// in one span of the heap, and the runtime searches the weak pointers of a span one by one: making
// one takes 3 us, and 0.4 us in here.
type roomy struct {
	unstructured.Unstructured
	_ [56]byte
}

func (g *group) newObject() any {
	if _, ok := g.codec.(treeCodec); ok {
		return &new(roomy).Unstructured
	}
	return reflect.New(g.typ).Interface()
}

// s2 uses a dictionary only for the first 64 KiB of a block. Larger objects go without.
const mostForDictionary = s2.MaxDictSize

func (m *generation) compress(dst, raw []byte) []byte {
	if m.dictionary == nil || len(raw) > mostForDictionary {
		return s2.Encode(dst, raw)
	}
	return m.dictionary.Encode(dst, raw)
}

func (m *generation) decompress(dst, packed []byte) ([]byte, error) {
	n, err := s2.DecodedLen(packed)
	if err != nil {
		return nil, err
	}
	if m.dictionary == nil || n > mostForDictionary {
		return s2.Decode(dst, packed)
	}
	return m.dictionary.Decode(dst, packed)
}

// weakPointer is a weak pointer that may be loaded and swapped concurrently. Safety: a
// weak.Pointer is one word, a pointer to the runtime's handle of the object, as the declaration of
// handleSize checks. All accesses after the record is published are atomic.
type weakPointer struct{ ref weak.Pointer[byte] }

const handleSize = unsafe.Sizeof(weak.Pointer[byte]{})

var _ [unsafe.Sizeof(unsafe.Pointer(nil))]byte = [handleSize]byte{}

func (w *weakPointer) load() weak.Pointer[byte] {
	u := atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(&w.ref)))
	return *(*weak.Pointer[byte])(unsafe.Pointer(&u))
}

func (w *weakPointer) swap(from, to weak.Pointer[byte]) bool {
	return atomic.CompareAndSwapPointer((*unsafe.Pointer)(unsafe.Pointer(&w.ref)),
		*(*unsafe.Pointer)(unsafe.Pointer(&from)), *(*unsafe.Pointer)(unsafe.Pointer(&to)))
}

// firstByte returns a pointer to the struct that obj points to. Safety: a pointer to the first byte
// keeps the whole struct alive, and objectAt restores its type. A struct without fields has no
// first byte, but no object has no fields.
func firstByte(obj any) *byte { return (*byte)(reflect.ValueOf(obj).UnsafePointer()) }

func weakTo(obj any) weak.Pointer[byte] { return weak.Make(firstByte(obj)) }

// objectAt returns the object at p. Safety: p comes from an object of this group's record, so it
// points to a struct of the group's type. An interface that holds a pointer is a word for the
// type, here that of a nil object, and the pointer.
func (g *group) objectAt(p *byte) any {
	obj := g.nilObject
	(*[2]unsafe.Pointer)(unsafe.Pointer(&obj))[1] = unsafe.Pointer(p)
	return obj
}
