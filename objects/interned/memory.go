package interned

import (
	"reflect"
	"unsafe"
)

// slice is the memory of a slice.
type slice struct {
	data     unsafe.Pointer
	len, cap int
}

// box is the memory of an any. Safety: data is a pointer that the garbage collector follows, and
// only a pointer to an equal value of the same type is written to it.
type box struct{ typ, data unsafe.Pointer }

func boxOf(v *any) *box { return (*box)(unsafe.Pointer(v)) }

// mapAt returns the map whose memory is m. Safety: a map is one pointer, and maps of types that
// differ only in the names of the types of key and value have the same layout.
func mapAt[M any](m unsafe.Pointer) M { return *(*M)(unsafe.Pointer(&m)) }

// reflectMap is mapAt for any type. Safety: sh is the shape of the map's type.
func reflectMap(sh *shape, m unsafe.Pointer) reflect.Value {
	return reflect.NewAt(sh.typ, unsafe.Pointer(&m)).Elem()
}

// textAt returns the n bytes at p. Safety: they are never written.
func textAt(p unsafe.Pointer, n int) string { return unsafe.String((*byte)(p), n) }

func dataOf(s string) unsafe.Pointer { return unsafe.Pointer(unsafe.StringData(s)) }
