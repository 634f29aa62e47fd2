package packed

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/load/synthetic"
)

// widget is a custom resource as controller authors write them.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		Size     *int64                       `json:"size,omitempty"`
		Limits   map[string]resource.Quantity `json:"limits,omitempty"`
		Template *corev1.PodTemplateSpec      `json:"template,omitempty"`
		Names    []string                     `json:"names"`
	} `json:"spec,omitempty"`
	Hidden string `json:"-"` // JSON loses it
}

// podAndMore has the methods of a pod, which do not know the other field.
type podAndMore struct {
	corev1.Pod
	More string
}

// cold makes the next reader of kept decode it.
func cold(tb testing.TB, kept any) *record {
	tb.Helper()
	r, ok := kept.(*record)
	if !ok {
		tb.Fatalf("a %T was kept as it is", kept)
	}
	r.decoded = weakPointer{}
	r.hot.Store(nil)
	return r
}

// checkRoundTrip packs obj and checks what is decoded. It returns whether obj could be packed.
func checkRoundTrip(tb testing.TB, k *Keeper, obj any) bool {
	tb.Helper()
	kept := k.Keep(obj)
	if got := k.Object(kept); got != obj {
		tb.Fatalf("%T: Object returned another object while the one that was kept is in use", obj)
	}
	if kept == obj {
		return false
	}
	got := k.Object(cold(tb, kept))
	if got == obj || reflect.TypeOf(got) != reflect.TypeOf(obj) {
		tb.Fatalf("decoded a %T from a %T", got, obj)
	}
	if !equality.Semantic.DeepEqual(got, obj) {
		tb.Fatalf("a %T changed:\n%s\n%s", obj, dump(got), dump(obj))
	}
	return true
}

func dump(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%#v", v)
	}
	return string(text)
}

// TestRoundTripOfTheAPI packs random objects of each type that client-go knows.
func TestRoundTripOfTheAPI(t *testing.T) {
	t.Parallel()
	types, each := 0, 24
	if testing.Short() { // as make race runs tests; one goroutine, but unsafe pointers are checked
		each = 4
	}
	for gvk, typ := range scheme.Scheme.AllKnownTypes() {
		field, ok := typ.FieldByName("ObjectMeta")
		if !ok || field.Type != reflect.TypeFor[metav1.ObjectMeta]() {
			continue
		}
		types++
		k := New(Options{FirstDictionary: 8})
		for _, lossy := range []bool{false, true} {
			f := &filler{rng: rand.New(rand.NewPCG(uint64(types), 1)), lossy: lossy}
			packed := 0
			for range each {
				if checkRoundTrip(t, k, f.object(typ)) {
					packed++
				}
			}
			if !lossy && packed != each {
				t.Errorf("%v: %d of %d objects were packed", gvk, packed, each)
			}
		}
	}
	if types < 100 {
		t.Errorf("only %d types were tested", types)
	}
}

// TestRoundTripOfOthers covers the types that have codecs of their own.
func TestRoundTripOfOthers(t *testing.T) {
	t.Parallel()
	k := New(Options{FirstDictionary: 8})
	f := &filler{rng: rand.New(rand.NewPCG(1, 1))}
	packed := map[string]int{}
	for range 200 {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Thing",
			"metadata": map[string]any{"name": f.text()}, "x": f.tree(0)}}
		some := f.object(reflect.TypeFor[widget]()).(*widget)
		some.Hidden = ""
		clear(some.Labels) // keys that are no UTF-8
		for name, obj := range map[string]any{
			"tree": u, "widget": some, "partial": f.object(reflect.TypeFor[metav1.PartialObjectMetadata]()),
			"embedding": &podAndMore{More: "x"}, "hidden": &widget{Hidden: "x"},
		} {
			if checkRoundTrip(t, k, obj) {
				packed[name]++
			}
		}
	}
	if packed["widget"] > 100 {
		packed["widget"] = 200 // JSON makes nil of a pointer to the zero time
	}
	want := map[string]int{"tree": 200, "widget": 200, "partial": 200, "embedding": 200}
	if !reflect.DeepEqual(packed, want) {
		t.Errorf("packed %v of 200 each, want %v", packed, want)
	}
}

func TestRoundTripOfSynthetic(t *testing.T) {
	t.Parallel()
	k := New(Options{})
	each := 300
	if testing.Short() {
		each = 60
	}
	for _, s := range sources(t, each) {
		for i := range s.raw {
			if !checkRoundTrip(t, k, s.at(i)) {
				t.Fatalf("%s %d was not packed", s.name, i)
			}
		}
	}
	nodes := synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindNode, Count: each}, 1)
	for i := range nodes.Len() {
		if !checkRoundTrip(t, k, nodes.At(i)) {
			t.Fatalf("node %d was not packed", i)
		}
	}
}

// TestKeptAsIs has the values that are not packed, each with the reason.
func TestKeptAsIs(t *testing.T) {
	t.Parallel()
	meta := metav1.ObjectMeta{Name: "n"}
	cycle := map[string]any{}
	cycle["x"] = []any{cycle}
	claim := corev1.PersistentVolumeClaim{TypeMeta: metav1.TypeMeta{Kind: "PersistentVolumeClaim"}}
	for why, obj := range map[string]any{
		"nil":                  nil,
		"nil object":           (*corev1.Pod)(nil),
		"tombstone":            cache.DeletedFinalStateUnknown{Key: "k"},
		"pointer to tombstone": &cache.DeletedFinalStateUnknown{Key: "k"},
		"string":               "x",
		"no object":            &struct{ X int }{1},
		"struct":               corev1.Pod{}.Spec.NodeName,
		"list":                 &corev1.PodList{},
		"nanoseconds": &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			CreationTimestamp: metav1.Time{Time: time.Unix(1, 1)}}},
		"monotonic": &corev1.Pod{Status: corev1.PodStatus{StartTime: &metav1.Time{Time: time.Now()}}},
		"fine quantity": &corev1.Pod{Spec: corev1.PodSpec{Overhead: corev1.ResourceList{
			"cpu": *resource.NewScaledQuantity(1, -12)}}},
		"inner TypeMeta": &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{claim}}},
		"inner object": &appsv1.ControllerRevision{Data: runtime.RawExtension{Object: &claim}},
		"hidden field": &widget{ObjectMeta: meta, Hidden: "x"},
		"int in tree":  &unstructured.Unstructured{Object: map[string]any{"x": 1}},
		"cycle":        &unstructured.Unstructured{Object: cycle},
	} {
		k := New(Options{})
		kept := k.Keep(obj)
		if !reflect.DeepEqual(reflect.TypeOf(kept), reflect.TypeOf(obj)) {
			t.Errorf("%s: kept as a %T, want a %T", why, kept, obj)
		}
		if reflect.TypeOf(obj) != nil && reflect.TypeOf(obj).Kind() == reflect.Pointer && kept != obj {
			t.Errorf("%s: kept as another", why)
		}
		if got := k.Object(kept); reflect.TypeOf(got) != reflect.TypeOf(obj) {
			t.Errorf("%s: Object returns a %T, want a %T", why, got, obj)
		}
	}
}

// TestSizes packs objects beyond each bound: of buffers, of the dictionary, and of the pool.
func TestSizes(t *testing.T) {
	t.Parallel()
	k := New(Options{FirstDictionary: 2})
	rng := rand.New(rand.NewPCG(1, 1))
	for range 3 {
		for _, size := range []int{0, 1, 15, 1 << 10, 1 << 15, 1<<16 - 20, 1 << 16, 1 << 17, 1<<20 + 1} {
			noise := make([]byte, size)
			for i := range noise {
				noise[i] = byte(rng.Uint32())
			}
			text := strings.Repeat("x", size/2)
			for _, obj := range []any{
				&corev1.ConfigMap{BinaryData: map[string][]byte{"noise": noise}},
				&corev1.ConfigMap{Data: map[string]string{"text": text}},
				&unstructured.Unstructured{Object: map[string]any{"text": text, "noise": string(noise)}},
			} {
				if !checkRoundTrip(t, k, obj) {
					t.Errorf("%T of %d bytes was not packed", obj, size)
				}
			}
		}
	}
}

// TestWrongEncoder has types whose encoder and decoder do not agree.
func TestWrongEncoder(t *testing.T) {
	t.Parallel()
	f := fields{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Raw: []byte("raw")}
	for _, obj := range []any{&forgetful{f}, &aliasing{f}, &panicking{f}} {
		k := New(Options{})
		for range 3 {
			if kept := k.Keep(obj); kept != obj {
				t.Errorf("a %T was packed", obj)
			}
		}
	}
}

type fields struct {
	metav1.ObjectMeta `protobuf:"bytes,1,opt,name=metadata"`
	Raw               []byte `protobuf:"bytes,2,opt,name=raw"`
}

func (f *fields) Size() int { return len(f.Raw) }
func (f *fields) MarshalToSizedBuffer(b []byte) (int, error) {
	return copy(b[len(b)-len(f.Raw):], f.Raw), nil
}

// forgetful loses a field, aliasing keeps the buffer that it decodes, and panicking panics.
type (
	forgetful struct {
		fields `protobuf:"bytes,1,opt,name=fields"`
	}
	aliasing struct {
		fields `protobuf:"bytes,1,opt,name=fields"`
	}
	panicking struct {
		fields `protobuf:"bytes,1,opt,name=fields"`
	}
)

func (f *forgetful) Unmarshal([]byte) error  { return nil }
func (f *aliasing) Unmarshal(b []byte) error { f.Name, f.Raw = "x", b; return nil }
func (f *panicking) Unmarshal([]byte) error  { panic("no") }
