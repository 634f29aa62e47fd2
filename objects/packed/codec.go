package packed

import (
	"encoding/json"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// codec turns the objects of a type into bytes and back.
type codec interface {
	// encode returns the bytes of obj, or false if they would lose a part of it. It may write into
	// s.raw, and its result is valid until s is used again.
	encode(s *scratch, obj any, w *words) ([]byte, bool)
	// decode fills obj, which is empty. It does not keep raw.
	decode(raw []byte, obj any, w *words) error
}

const (
	// verifyFirst is the number of objects that are compared after a round trip although the check
	// of their type says that nothing is lost: a guard against hand-written encoders.
	verifyFirst = 16
	// verifyAll stands for codecs that cannot say what they lose.
	verifyAll = 1 << 62
)

// codecOf chooses the codec for structs of type t, and how many objects of a group to verify.
func codecOf(t reflect.Type) (c codec, verify int64) {
	switch reflect.Zero(reflect.PointerTo(t)).Interface().(type) {
	case *unstructured.Unstructured:
		return treeCodec{}, 0
	case protoObject:
		// A type without tags has only the methods of what it embeds, such as ObjectMeta.
		for i := range t.NumField() {
			if t.Field(i).Tag.Get("protobuf") != "" {
				outer := reflect.PointerTo(t).Implements(reflect.TypeFor[runtime.Object]())
				return protoCodec{planner{}.fields(t, outer)}, verifyFirst
			}
		}
	}
	return jsonCodec{}, verifyAll
}

// typeMetaIn returns the TypeMeta that obj embeds, or nil.
func typeMetaIn(obj any) *metav1.TypeMeta {
	if o, ok := obj.(runtime.Object); ok {
		tm, _ := o.GetObjectKind().(*metav1.TypeMeta)
		return tm
	}
	return nil
}

// kindOf returns the version and kind that are written in obj.
func kindOf(obj any) (tm metav1.TypeMeta) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		tm.APIVersion, _ = u.Object["apiVersion"].(string)
		tm.Kind, _ = u.Object["kind"].(string)
	} else if in := typeMetaIn(obj); in != nil {
		tm = *in
	}
	return tm
}

// jsonCodec is for types without protobuf, such as those of custom resources. Tags and methods of
// a type may lose anything, so each object is compared after a round trip.
type jsonCodec struct{}

func (jsonCodec) encode(_ *scratch, obj any, _ *words) ([]byte, bool) {
	raw, err := json.Marshal(obj)
	return raw, err == nil
}

func (jsonCodec) decode(raw []byte, obj any, _ *words) error {
	return kjson.UnmarshalCaseSensitivePreserveInts(raw, obj)
}
