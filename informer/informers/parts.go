package informers

import (
	"reflect"
	"unsafe"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// parts are what an informer of client-go's is made of.
type parts struct {
	lw         cache.ListerWatcher
	example    runtime.Object
	identifier cache.InformerNameAndResource
}

// partsOf takes an informer apart that client-go's generated code has made. Only that code says
// how a type is listed. Clientset methods looked up by name would do as well, but then the linker
// keeps every method of the program, which doubles a small one. ok is false for an informer of
// another kind, or of a client-go whose informer has other fields.
//
// Safety: the fields are read once, before the informer is handed out and anything writes them,
// and only if they have the expected types.
func partsOf(i cache.SharedIndexInformer) (p parts, ok bool) {
	v := reflect.Indirect(reflect.ValueOf(i))
	for v.Kind() == reflect.Struct {
		wrapped := v.FieldByName("SharedIndexInformer")
		if !wrapped.IsValid() {
			return p, take(v, "listerWatcher", &p.lw) && take(v, "objectType", &p.example) &&
				take(v, "identifier", &p.identifier)
		}
		v = reflect.Indirect(reflect.ValueOf(wrapped.Interface()))
	}
	return p, false
}

// take copies the field of an addressable struct.
func take[T any](from reflect.Value, name string, to *T) bool {
	field := from.FieldByName(name)
	if !field.IsValid() || !field.CanAddr() || field.Type() != reflect.TypeFor[T]() {
		return false
	}
	*to = *(*T)(unsafe.Pointer(field.UnsafeAddr()))
	return true
}
