package packed

import (
	"encoding/json"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
)

// codec turns the objects of a type into bytes and back. It may keep buffers in the scratch.
type codec interface {
	// encode returns the bytes of obj, or false if they would lose a part of it. It may write into
	// s.raw, and its result is valid until s is used again.
	encode(s *scratch, obj any, w *words) ([]byte, bool)
	// decode fills obj, which is empty. It does not keep raw.
	decode(raw []byte, obj any, w *words) error
	// words makes the table for a new generation, or nil.
	words(samples []sample) *words
	// reencode returns the bytes of a sample with another table.
	reencode(s sample, w *words) ([]byte, bool)
	// toVerify is the number of objects of a group to compare after a round trip.
	toVerify() int64
}

// wordless is the part of a codec without a table.
type wordless struct{}

func (wordless) words([]sample) *words                      { return nil }
func (wordless) reencode(s sample, _ *words) ([]byte, bool) { return s.raw, true }

// typeInfo is what there is to know about the objects of a type.
type typeInfo struct {
	typ   reflect.Type // of the struct
	codec codec
	meta  int // the index of the field TypeMeta, or -1
}

func newTypeInfo(t reflect.Type) *typeInfo {
	info := &typeInfo{typ: t, meta: -1}
	if f, ok := t.FieldByName("TypeMeta"); ok && len(f.Index) == 1 &&
		f.Type == reflect.TypeFor[metav1.TypeMeta]() {
		info.meta = f.Index[0]
	}
	info.codec = jsonCodec{}
	switch reflect.Zero(reflect.PointerTo(t)).Interface().(type) {
	case *unstructured.Unstructured:
		info.codec = treeCodec{}
	case protoObject:
		// A type without tags has only the methods of what it embeds, such as ObjectMeta.
		if hasProtoTag(t) {
			info.codec = newProtoCodec(t, info.meta)
		}
	}
	return info
}

func hasProtoTag(t reflect.Type) bool {
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("protobuf") != "" {
			return true
		}
	}
	return false
}

// typeMeta returns the version and kind that are written in obj.
func (t *typeInfo) typeMeta(obj any) (tm metav1.TypeMeta) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		tm.APIVersion, _ = u.Object["apiVersion"].(string)
		tm.Kind, _ = u.Object["kind"].(string)
	} else if t.meta >= 0 {
		tm = *t.metaOf(obj)
	}
	return tm
}

// setTypeMeta writes what the codec may have left out.
func (t *typeInfo) setTypeMeta(obj any, tm metav1.TypeMeta) {
	if t.meta >= 0 {
		*t.metaOf(obj) = tm
	}
}

func (t *typeInfo) metaOf(obj any) *metav1.TypeMeta {
	return reflect.ValueOf(obj).Elem().Field(t.meta).Addr().Interface().(*metav1.TypeMeta)
}

// jsonCodec is for types without protobuf, such as those of custom resources. Tags and methods of
// a type may lose anything, so each object is compared after a round trip.
type jsonCodec struct{ wordless }

func (jsonCodec) encode(_ *scratch, obj any, _ *words) ([]byte, bool) {
	raw, err := json.Marshal(obj)
	return raw, err == nil
}

func (jsonCodec) decode(raw []byte, obj any, _ *words) error {
	return kjson.UnmarshalCaseSensitivePreserveInts(raw, obj)
}

func (jsonCodec) toVerify() int64 { return verifyAll }
