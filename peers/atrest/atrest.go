// Package atrest has the ways to keep objects that were proposed for Kubernetes, each in its
// plainest form: an object is encoded when it comes, and decoded at every read. They are there to
// be compared with; each read costs a whole decode and returns a new copy.
package atrest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/informerbench/informerbench/contract"
)

// Keeper keeps objects as bytes. Any number of goroutines may use it at once.
type Keeper struct {
	encode func(obj apiruntime.Object) ([]byte, error)
	decode func(b []byte, into apiruntime.Object) error
	place  func(b []byte) (placed []byte, free func(), err error) // nil for the heap
}

var _ contract.ObjectKeeper = Keeper{}

// In returns a Keeper whose bytes are where place copies them. The function that place returns is
// called when no one can read them any more. Where place fails, an object is kept as it is.
func (k Keeper) In(place func(b []byte) (placed []byte, free func(), err error)) Keeper {
	k.place = place
	return k
}

// NewProtobuf keeps what has protobuf by it, and other objects as they are: the codec under
// ThreadSafeStore of https://github.com/kubernetes/kubernetes/pull/138342.
func NewProtobuf() Keeper {
	type message interface {
		Marshal() ([]byte, error)
		Unmarshal([]byte) error
	}
	return Keeper{
		encode: func(obj apiruntime.Object) ([]byte, error) {
			m, ok := obj.(message)
			if !ok || !obj.GetObjectKind().GroupVersionKind().Empty() {
				return nil, fmt.Errorf("a %T has no protobuf, or a kind, which protobuf loses", obj)
			}
			return m.Marshal()
		},
		decode: func(b []byte, into apiruntime.Object) error { return into.(message).Unmarshal(b) },
	}
}

// NewCBOR keeps objects by CBOR: https://github.com/kubernetes/kubernetes/issues/141341.
func NewCBOR() Keeper {
	return Keeper{
		encode: func(obj apiruntime.Object) ([]byte, error) { return direct.Marshal(content(obj)) },
		decode: func(b []byte, into apiruntime.Object) error {
			return direct.Unmarshal(b, content(into))
		},
	}
}

// NewGzip keeps objects by JSON with gzip, as caches of programs do:
// https://github.com/argoproj/argo-cd/pull/28600.
func NewGzip() Keeper {
	writers := &sync.Pool{New: func() any {
		w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is known to be valid
		return w
	}}
	return Keeper{
		encode: func(obj apiruntime.Object) ([]byte, error) {
			var b bytes.Buffer
			w := writers.Get().(*gzip.Writer)
			defer writers.Put(w)
			w.Reset(&b)
			err := json.NewEncoder(w).Encode(obj)
			if err == nil {
				err = w.Close()
			}
			return b.Bytes(), err
		},
		decode: func(b []byte, into apiruntime.Object) error {
			r, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				return err
			}
			return json.NewDecoder(r).Decode(into)
		},
	}
}

// content is what of an object is encoded: the map of an unstructured one.
func content(obj apiruntime.Object) any {
	if u, ok := obj.(apiruntime.Unstructured); ok {
		fields := u.UnstructuredContent()
		u.SetUnstructuredContent(fields) // an empty one makes its map at the first call
		return &fields
	}
	return obj
}

// record is what a Keeper keeps.
type record struct {
	bytes []byte
	of    reflect.Type // what the pointer points to
	name  metav1.ObjectMeta
}

// GetObjectMeta returns the names and the version.
func (r *record) GetObjectMeta() metav1.Object { return &r.name }

// Keep encodes obj. It returns obj itself where the encoding fails.
func (k Keeper) Keep(obj any) any {
	o, ok := obj.(apiruntime.Object)
	if !ok {
		return obj
	}
	m, err := meta.Accessor(o)
	if err != nil {
		return obj
	}
	b, err := k.encode(o)
	if err != nil {
		return obj
	}
	r := &record{nil, reflect.TypeOf(obj).Elem(), metav1.ObjectMeta{
		Namespace: m.GetNamespace(), Name: m.GetName(), UID: m.GetUID(),
		ResourceVersion: m.GetResourceVersion()}}
	if k.place == nil {
		r.bytes = bytes.Clone(b)
		return r
	}
	placed, free, err := k.place(b)
	if err != nil {
		return obj
	}
	r.bytes = placed
	runtime.AddCleanup(r, func(free func()) { free() }, free)
	return r
}

// Object decodes what Keep has encoded. It panics where that is impossible.
func (k Keeper) Object(kept any) any {
	r, ok := kept.(*record)
	if !ok {
		return kept
	}
	obj := reflect.New(r.of).Interface().(apiruntime.Object)
	if err := k.decode(r.bytes, obj); err != nil {
		panic(fmt.Sprintf("atrest: decoding the %s %s/%s: %v", r.of, r.name.Namespace, r.name.Name, err))
	}
	runtime.KeepAlive(r) // and its bytes
	return obj
}
