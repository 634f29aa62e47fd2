package packed

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// filler makes random objects. A lossy one makes also values that an API server never sends, and
// that protobuf and JSON do not keep.
type filler struct {
	rng   *rand.Rand
	lossy bool
}

func (f *filler) object(t reflect.Type) any {
	v := reflect.New(t)
	f.fill(v.Elem(), 0)
	return v.Interface()
}

func (f *filler) text() string {
	letters := []string{"a", "b", "-", "é", "\x00", "\"", " ", "longer than the others", "1"}
	var b strings.Builder
	for range f.rng.IntN(6) {
		b.WriteString(letters[f.rng.IntN(len(letters))])
	}
	return b.String()
}

func (f *filler) time(precision time.Duration) time.Time {
	switch f.rng.IntN(8) {
	case 0:
		return time.Time{}
	case 1:
		return time.Unix(0, 0)
	}
	t := time.Unix(f.rng.Int64N(1<<33)-1<<32, 0)
	if f.rng.IntN(2) == 0 {
		t = t.UTC()
	}
	if f.lossy && f.rng.IntN(40) == 0 {
		return t.Add(time.Duration(f.rng.IntN(1e9)))
	}
	if f.lossy && f.rng.IntN(40) == 0 {
		return time.Now()
	}
	return t.Add(time.Duration(f.rng.IntN(1e9)).Truncate(precision))
}

func (f *filler) quantity() resource.Quantity {
	if f.lossy && f.rng.IntN(40) == 0 {
		return *resource.NewScaledQuantity(f.rng.Int64N(1e6), -12)
	}
	texts := []string{"0", "1", "500m", "512Mi", "1500Mi", "1.5Gi", "100n", "1e30", "-3",
		"12345678901", "9223372036854775807", "1Ei", "0.1", "7u"}
	q := resource.MustParse(texts[f.rng.IntN(len(texts))])
	if f.lossy && f.rng.IntN(4) == 0 { // beyond what the text may say
		q.Add(resource.MustParse(texts[f.rng.IntN(len(texts))]))
	}
	return q
}

func (f *filler) fill(v reflect.Value, depth int) {
	switch p := v.Addr().Interface().(type) {
	case *metav1.Time:
		p.Time = f.time(time.Second)
		return
	case *metav1.MicroTime:
		p.Time = f.time(time.Microsecond)
		return
	case *resource.Quantity:
		*p = f.quantity()
		return
	case *metav1.FieldsV1:
		p.SetRawBytes([]byte(`{"f:` + strings.Repeat("x", f.rng.IntN(9)) + `":{}}`))
		return
	case *runtime.RawExtension:
		p.Raw = []byte(`{"a":1}`)
		if f.lossy && f.rng.IntN(10) == 0 {
			p.Object = &unstructured.Unstructured{Object: map[string]any{"a": "b"}}
		}
		return
	case *intstr.IntOrString:
		*p = intstr.FromInt32(f.rng.Int32())
		if f.rng.IntN(2) == 0 {
			*p = intstr.FromString(f.text())
		}
		return
	case *metav1.TypeMeta:
		if depth == 1 || f.lossy && f.rng.IntN(10) == 0 {
			*p = metav1.TypeMeta{APIVersion: "v1", Kind: []string{"", "Some"}[f.rng.IntN(2)]}
		}
		return
	}
	missing := f.rng.IntN(3) == 0 || depth > 3+f.rng.IntN(8)
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(f.rng.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(f.rng.Int64() >> f.rng.IntN(64) >> (64 - v.Type().Bits()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(f.rng.Uint64() >> (64 - v.Type().Bits()))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(f.rng.NormFloat64())
	case reflect.String:
		v.SetString(f.text())
	case reflect.Pointer:
		if !missing {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if !missing {
			v.Set(reflect.MakeSlice(v.Type(), f.rng.IntN(4), 4))
			for i := range v.Len() {
				f.fill(v.Index(i), depth+1)
			}
		}
	case reflect.Map:
		if !missing {
			v.Set(reflect.MakeMap(v.Type()))
			for range f.rng.IntN(4) {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				f.fill(key, depth+1)
				f.fill(value, depth+1)
				v.SetMapIndex(key, value)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				f.fill(v.Field(i), depth+1)
			}
		}
	}
}

// tree makes a random value of an unstructured object.
func (f *filler) tree(depth int) any {
	kind := f.rng.IntN(10)
	if depth > 6 {
		kind %= 7
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return f.rng.IntN(2) == 0
	case 2:
		return int64(f.rng.Uint64()) >> f.rng.IntN(64)
	case 3:
		return f.rng.NormFloat64()
	case 4:
		return []any{map[string]any(nil), []any(nil), map[string]any{}, []any{}}[f.rng.IntN(4)]
	case 5, 6:
		return f.text()
	case 7:
		l := make([]any, f.rng.IntN(4))
		for i := range l {
			l[i] = f.tree(depth + 1)
		}
		return l
	default:
		m := map[string]any{}
		for range f.rng.IntN(6) {
			m[f.text()] = f.tree(depth + 1)
		}
		return m
	}
}
