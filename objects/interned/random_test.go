package interned_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// odd has fields that the types of Kubernetes do not have.
type odd struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec oddSpec
	Lock sync.Mutex
	Late struct{ cached string }
}

type oddSpec struct {
	Self    *oddSpec
	Selves  []oddSpec
	ByName  map[string]oddSpec
	Numbers map[int32]resource.Quantity
	Any     any
	Anys    []any
	Tree    map[string]any
	Three   [3]string
	Bytes   [16]byte
	Big     *resource.Quantity
	Floats  []float64
	Small   []struct{ A, B uint8 }
	Nested  [][]string
	Locked  *sync.Mutex
	Call    func()
	Done    chan int
	Empty   []struct{}
	Times   map[string]metav1.Time
}

func (o *odd) DeepCopyObject() runtime.Object {
	c := &odd{TypeMeta: o.TypeMeta, Spec: *o.Spec.DeepCopy()}
	o.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	c.Late.cached = o.Late.cached
	return c
}

func (s *oddSpec) DeepCopy() *oddSpec {
	return copyOf(reflect.ValueOf(s)).Interface().(*oddSpec)
}

// copyOf copies v, and what it leads to, except for what other packages hide.
func copyOf(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Type() == reflect.TypeFor[*sync.Mutex]() {
			return v
		}
		c.Set(reflect.New(v.Type().Elem()))
		c.Elem().Set(copyOf(v.Elem()))
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			c.Index(i).Set(copyOf(v.Index(i)))
		}
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		c.Set(reflect.MakeMap(v.Type()))
		for i := v.MapRange(); i.Next(); {
			c.SetMapIndex(i.Key(), copyOf(i.Value()))
		}
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		c.Set(copyOf(v.Elem()))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[metav1.Time]() ||
			v.Type() == reflect.TypeFor[resource.Quantity]() {
			return v
		}
		for i := range v.NumField() {
			c.Field(i).Set(copyOf(v.Field(i)))
		}
	default:
		return v
	}
	return c
}

// filler fills every field of values that a decoder can fill, from few values, so that parts
// often are equal. With short, no Quantity has more than 18 digits: longer ones are not shared.
type filler struct {
	*rand.Rand
	short bool
}

func (f filler) text() string {
	return []string{"", "a", "b", "ab", strings.Repeat("long", 5)}[f.IntN(5)]
}

func (f filler) fill(v reflect.Value, depth int) {
	if depth > 10 {
		return
	}
	switch v.Type() {
	case reflect.TypeFor[metav1.Time]():
		v.Set(reflect.ValueOf(metav1.Unix(int64(f.IntN(2)), 0)))
		return
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(int64(f.IntN(2)), 0)))
		return
	case reflect.TypeFor[resource.Quantity]():
		texts := []string{"0", "1", "500m", "512Mi", "1e3", "123456789012345678901234567890"}
		if f.short {
			texts = texts[:5]
		}
		v.Set(reflect.ValueOf(resource.MustParse(texts[f.IntN(len(texts))])))
		return
	case reflect.TypeFor[runtime.RawExtension](), reflect.TypeFor[sync.Mutex]():
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Clone(f.text()))
	case reflect.Bool:
		v.SetBool(f.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.IntN(2)))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(f.IntN(2)))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(f.IntN(2)))
	case reflect.Pointer:
		if f.IntN(8) < 10-depth && v.Type() != reflect.TypeFor[*sync.Mutex]() {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth+2)
		}
	case reflect.Slice:
		if n := f.IntN(4) - 1; n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n+f.IntN(2)))
			for i := range n {
				f.fill(v.Index(i), depth+2)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i), depth)
		}
	case reflect.Map:
		if n := f.IntN(4) - 1; n >= 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				f.fill(key, depth+2)
				f.fill(elem, depth+2)
				v.SetMapIndex(key, elem)
			}
		}
	case reflect.Interface:
		if v.NumMethod() == 0 {
			if tree := f.tree(depth); tree != nil {
				v.Set(reflect.ValueOf(tree))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				f.fill(v.Field(i), depth+1)
			}
		}
	}
}

// tree makes a value of an unstructured object.
func (f filler) tree(depth int) any {
	kinds := 9
	if depth > 8 {
		kinds = 6
	}
	switch f.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return f.IntN(2) == 0
	case 2:
		return int64(f.IntN(2) * 1000)
	case 3:
		return []float64{0, 1.5}[f.IntN(2)]
	case 4, 5:
		return strings.Clone(f.text())
	case 6:
		return f.list(depth)
	default:
		return f.fields(depth)
	}
}

func (f filler) list(depth int) []any {
	list := make([]any, f.IntN(4))
	for i := range list {
		list[i] = f.tree(depth + 2)
	}
	return list
}

func (f filler) fields(depth int) map[string]any {
	m := map[string]any{}
	for range f.IntN(4) {
		m[f.text()] = f.tree(depth + 2)
	}
	return m
}

// object makes an object like example, with metadata of its own.
func (f filler) object(example runtime.Object, n int) runtime.Object {
	uid := fmt.Sprint("uid-", n)
	if _, ok := example.(*unstructured.Unstructured); ok {
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": fmt.Sprint("name-", n), "uid": uid},
			"spec":     f.fields(0), "status": f.tree(0), "more": f.list(0),
		}}
	}
	v := reflect.New(reflect.TypeOf(example).Elem())
	f.fill(v.Elem(), 0)
	v.Elem().FieldByName("UID").SetString(uid)
	return v.Interface().(runtime.Object)
}

// settle calls String of each Quantity that a pointer reaches, as Keep does.
func settle(v reflect.Value) {
	if v.CanAddr() && v.Type() == reflect.TypeFor[resource.Quantity]() {
		_ = v.Addr().Interface().(*resource.Quantity).String()
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			settle(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			settle(v.Index(i))
		}
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			settle(i.Value())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				settle(v.Field(i))
			}
		}
	}
}

// change changes something in v, or says that it has not.
func (f filler) change(v reflect.Value) bool {
	was := copyOf(v)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && f.IntN(4) > 0 {
			return f.change(v.Elem())
		}
		v.SetZero()
	case reflect.Slice:
		if v.Len() > 0 && f.IntN(4) > 0 {
			return f.change(v.Index(f.IntN(v.Len())))
		}
		v.Set(reflect.MakeSlice(v.Type(), f.IntN(3), 2))
	case reflect.Struct:
		if n := f.IntN(v.NumField()); v.Type() != reflect.TypeFor[metav1.Time]() &&
			v.Type() != reflect.TypeFor[resource.Quantity]() {
			return f.change(v.Field(n))
		}
		f.fill(v, 0)
	default:
		v.SetZero()
		f.fill(v, 8)
	}
	return !reflect.DeepEqual(was.Interface(), v.Interface())
}
