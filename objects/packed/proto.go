package packed

import (
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// protoObject is a type with the methods that go-to-protobuf generates.
type protoObject interface {
	Size() int
	MarshalToSizedBuffer([]byte) (int, error)
	Unmarshal([]byte) error
}

// protoCodec is for the types of the Kubernetes API.
type protoCodec struct{ keeps check }

func (c protoCodec) encode(s *scratch, obj any, _ *words) ([]byte, bool) {
	if c.keeps != nil && !c.keeps(reflect.ValueOf(obj).Elem()) {
		return nil, false
	}
	p := obj.(protoObject)
	if raw, ok := marshal(p, s.raw[:cap(s.raw)]); ok {
		return raw, true
	}
	s.raw = make([]byte, p.Size()+leastRaw)
	return marshal(p, s.raw)
}

// leastRaw is what a buffer has more than the first object that did not fit.
const leastRaw = 16 << 10

// marshal encodes into the end of buf: generated encoders write backwards, and so need not know
// the size before. They panic for a buffer that is too small, as for an object that is invalid.
func marshal(p protoObject, buf []byte) (raw []byte, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	n, err := p.MarshalToSizedBuffer(buf)
	return buf[len(buf)-n:], err == nil
}

func (protoCodec) decode(raw []byte, obj any, _ *words) error {
	return obj.(protoObject).Unmarshal(raw)
}

// check reports whether protobuf keeps a value of a type. A nil check says that it keeps each.
type check func(reflect.Value) bool

// planner makes the checks of types. A check visits only the parts that can lose something:
//
//   - fields without a protobuf tag (a TypeMeta inside, the object of a RawExtension) must be zero;
//   - a Time must have whole seconds, a MicroTime whole microseconds, and no monotonic clock;
//   - a Quantity must be one that its text gives, so no finer than 1n.
//
// Other losses are none to equality.Semantic: time zones, the format of a quantity, and nil
// for empty lists and maps.
type planner map[reflect.Type]*struct{ check }

func (p planner) plan(t reflect.Type) check {
	switch t {
	case reflect.TypeFor[metav1.Time]():
		return keepsTime
	case reflect.TypeFor[metav1.MicroTime]():
		return keepsMicroTime
	case reflect.TypeFor[resource.Quantity]():
		return keepsQuantity
	case reflect.TypeFor[corev1.ResourceList]():
		return keepsResources
	case reflect.TypeFor[metav1.FieldsV1]():
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		if elem := p.plan(t.Elem()); elem != nil {
			return func(v reflect.Value) bool { return v.IsNil() || elem(v.Elem()) }
		}
	case reflect.Slice:
		if elem := p.plan(t.Elem()); elem != nil {
			return func(v reflect.Value) bool {
				for i := range v.Len() {
					if !elem(v.Index(i)) {
						return false
					}
				}
				return true
			}
		}
	case reflect.Map:
		if elem := p.plan(t.Elem()); elem != nil {
			return func(v reflect.Value) bool {
				value := reflect.New(t.Elem()).Elem()
				for it := v.MapRange(); it.Next(); {
					if value.SetIterValue(it); !elem(value) {
						return false
					}
				}
				return true
			}
		}
	case reflect.Struct:
		node := p[t]
		if node == nil {
			node = new(struct{ check })
			p[t] = node
			// For a type that contains itself: its inner check is the outer one.
			node.check = func(v reflect.Value) bool { return node.check == nil || node.check(v) }
			node.check = p.fields(t, false)
		}
		return node.check
	case reflect.Interface, reflect.Func, reflect.Chan, reflect.Array, reflect.Uintptr,
		reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return reflect.Value.IsZero
	}
	return nil
}

// fields makes the check of a struct. The group keeps the TypeMeta of an outer one.
func (p planner) fields(t reflect.Type, outer bool) check {
	type field struct {
		number int
		keeps  check
	}
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		keeps := check(reflect.Value.IsZero)
		if tag := f.Tag.Get("protobuf"); tag != "" && tag != "-" {
			keeps = p.plan(f.Type)
		} else if outer && f.Anonymous && f.Type == reflect.TypeFor[metav1.TypeMeta]() {
			continue
		}
		if keeps != nil {
			fields = append(fields, field{i, keeps})
		}
	}
	if fields == nil {
		return nil
	}
	return func(v reflect.Value) bool {
		for _, f := range fields {
			if !f.keeps(v.Field(f.number)) {
				return false
			}
		}
		return true
	}
}

func keepsTime(v reflect.Value) bool {
	t := v.Addr().Interface().(*metav1.Time).Time
	return same(t, time.Unix(t.Unix(), 0))
}

func keepsMicroTime(v reflect.Value) bool {
	t := v.Addr().Interface().(*metav1.MicroTime).Time
	return same(t, time.Unix(t.Unix(), int64(t.Nanosecond()/1000*1000)))
}

// same compares as equality.Semantic does: t against what decoding gives. Protobuf writes nothing
// for the zero time.
func same(t, decoded time.Time) bool {
	if t.IsZero() {
		decoded = time.Time{}
	}
	return t.UTC() == decoded.UTC() //nolint:staticcheck // Equal would ignore the monotonic clock
}

func keepsQuantity(v reflect.Value) bool {
	return keptQuantity(*v.Addr().Interface().(*resource.Quantity))
}

// keepsResources is the check that reflection would make, without its allocations.
func keepsResources(v reflect.Value) bool {
	for _, q := range *v.Addr().Interface().(*corev1.ResourceList) {
		if !keptQuantity(q) {
			return false
		}
	}
	return true
}

func keptQuantity(q resource.Quantity) bool {
	if q.Cmp(*resource.NewMilliQuantity(q.MilliValue(), resource.DecimalSI)) == 0 {
		return true // most are whole or thousandths, which every text gives exactly
	}
	q = q.DeepCopy() // String writes into what it is called on
	parsed, err := resource.ParseQuantity(q.String())
	return err == nil && parsed.Cmp(q) == 0
}
