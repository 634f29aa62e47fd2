package interned_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/objects/interned"
)

var (
	_ contract.ObjectKeeper = (*interned.Keeper)(nil)
	_ cache.TransformFunc   = (*interned.Keeper)(nil).Transform
)

// examples are of the types that the tests make objects of.
var examples = map[string]kruntime.Object{
	"Pod":                   &corev1.Pod{},
	"Node":                  &corev1.Node{},
	"Secret":                &corev1.Secret{},
	"Deployment":            &appsv1.Deployment{},
	"StatefulSet":           &appsv1.StatefulSet{},
	"PartialObjectMetadata": &metav1.PartialObjectMetadata{},
	"Unstructured":          &unstructured.Unstructured{},
	"odd":                   &odd{},
}

// TestKeepChangesNoValue keeps objects of which each field has one of few values. They must stay
// what they were when others are kept, and when they are kept again.
func TestKeepChangesNoValue(t *testing.T) {
	t.Parallel()
	for name, example := range examples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				f := filler{rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), false}
				keeper := interned.New(interned.Options{
					Sights: rapid.SampledFrom([]int{1 << 12, 8}).Draw(t, "sights")})
				var objects, want []kruntime.Object
				for i := range 6 {
					obj := f.object(example, i)
					if i%3 == 2 {
						obj = objects[i-1].DeepCopyObject()
						reflect.ValueOf(obj).MethodByName("SetUID").Call([]reflect.Value{
							reflect.ValueOf(types.UID("another"))})
					}
					was := obj.DeepCopyObject()
					settle(reflect.ValueOf(was))
					if kept := keeper.Keep(obj); kept != obj || keeper.Object(kept) != obj {
						t.Fatalf("Keep returned %v, not the object", kept)
					}
					objects, want = append(objects, obj), append(want, was)
				}
				for range 2 {
					for i, obj := range objects {
						if !reflect.DeepEqual(obj, want[i]) {
							t.Fatalf("object %d: got %v, want %v", i, obj, want[i])
						}
						keeper.Keep(obj)
					}
				}
			})
		})
	}
}

// TestEqualAgreesWithReflect compares objects with copies that differ in one place, or do not. Of
// equal ones the hashes are equal too.
func TestEqualAgreesWithReflect(t *testing.T) {
	t.Parallel()
	for name, example := range examples {
		if name == "odd" {
			continue // whose Mutex is not compared
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := filler{rand.New(rand.NewPCG(1, 2)), true}
			differ := 0
			for i := range 200 {
				a := f.object(example, i)
				b := a.DeepCopyObject()
				for range 10 * (i % 4) {
					if f.change(reflect.ValueOf(b).Elem()) {
						differ++
						break
					}
				}
				equal, same := interned.Equal(a, b)
				settle(reflect.ValueOf(a))
				settle(reflect.ValueOf(b))
				if want := reflect.DeepEqual(a, b); equal != want || equal && !same {
					t.Fatalf("equal: %t, want %t; hashes equal: %t\n%v\n%v", equal, want, same, a, b)
				}
			}
			if differ < 100 {
				t.Errorf("only %d of 200 pairs differ", differ)
			}
		})
	}
}

// TestKeepDecoded keeps pods as servers send them.
func TestKeepDecoded(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{false, true} {
		pods := podsOf(300, own)
		for _, c := range codecs {
			keeper := interned.New(interned.Options{})
			for i, e := range c.encodeAll(pods) {
				obj := c.decode(e)
				want := obj.(kruntime.Object).DeepCopyObject()
				if keeper.Keep(obj); !equality.Semantic.DeepEqual(obj, want) {
					t.Fatalf("%s, own %t, pod %d: %v became %v", c.name, own, i, want, obj)
				}
			}
		}
	}
}

// FuzzUnstructured keeps an object three times as different ones.
func FuzzUnstructured(f *testing.F) {
	f.Add([]byte(`{"kind":"A","spec":{"a":[1,2.5,{"b":"c"},[],{}],"b":null,"":"x","c":-0.0}}`))
	f.Add(jsonOf(podsOf(1, true)[0]))
	f.Fuzz(func(t *testing.T, text []byte) {
		var want map[string]any
		if json.Unmarshal(text, &want) != nil || want == nil {
			return
		}
		keeper := interned.New(interned.Options{Sights: 1 << 12})
		for i := range 3 {
			got := map[string]any{}
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			obj := &unstructured.Unstructured{Object: map[string]any{"a": got,
				"metadata": map[string]any{"uid": strings.Repeat("u", i+1)}}}
			keeper.Keep(obj)
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(obj.Object["a"], any(want)) {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
	})
}

// TestPodsOfATemplateShare checks where the parts of two pods lie.
func TestPodsOfATemplateShare(t *testing.T) {
	t.Parallel()
	template := podsOf(1, false)[0]
	for _, c := range codecs[:2] {
		a, b := keepFour(c, template)
		p, q := a.(*corev1.Pod), b.(*corev1.Pod)
		for name, same := range map[string]bool{
			"labels":     reflect.ValueOf(p.Labels).Pointer() == reflect.ValueOf(q.Labels).Pointer(),
			"owners":     &p.OwnerReferences[0] == &q.OwnerReferences[0],
			"containers": &p.Spec.Containers[0].Args[0] == &q.Spec.Containers[0].Args[0],
			"probe":      p.Spec.Containers[0].LivenessProbe == q.Spec.Containers[0].LivenessProbe,
			"limits": reflect.ValueOf(p.Spec.Containers[0].Resources.Limits).Pointer() ==
				reflect.ValueOf(q.Spec.Containers[0].Resources.Limits).Pointer(),
			"volume source": p.Spec.Volumes[2].Projected == q.Spec.Volumes[2].Projected,
			"node":          unsafe.StringData(p.Spec.NodeName) == unsafe.StringData(q.Spec.NodeName),
			"fields":        p.ManagedFields[0].FieldsV1 == q.ManagedFields[0].FieldsV1,
			"exact":         cap(p.Spec.Containers) == len(p.Spec.Containers),
		} {
			if !same {
				t.Errorf("%s: two pods have a %s of their own each", c.name, name)
			}
		}
		if unsafe.StringData(p.Status.PodIP) == unsafe.StringData(q.Status.PodIP) {
			t.Error("two pods share an address")
		}
	}
	a, b := keepFour(codecs[2], template)
	m, n := a.(*unstructured.Unstructured).Object, b.(*unstructured.Unstructured).Object
	for _, path := range [][]string{{"metadata", "labels"}, {"spec", "containers"}} {
		x, _, _ := unstructured.NestedFieldNoCopy(m, path...)
		y, _, _ := unstructured.NestedFieldNoCopy(n, path...)
		if dataOf(x) != dataOf(y) {
			t.Errorf("unstructured: two pods have %v of their own each", path)
		}
	}
	if keyOf(m, "spec") != keyOf(n, "spec") {
		t.Error("unstructured: two pods have keys of their own each")
	}
}

// keepFour keeps four pods of a template and returns the last two.
func keepFour(c codec, template *corev1.Pod) (any, any) {
	keeper := interned.New(interned.Options{})
	var kept []any
	for i := range 4 {
		p := template.DeepCopy()
		p.UID = types.UID(strings.Repeat("u", i+1))
		p.Status.PodIP = strings.Repeat("1", i+1)
		p.Status.Conditions[0].Message = p.Status.PodIP
		p.Spec.Containers[0].Name = p.Status.PodIP
		kept = append(kept, keeper.Keep(c.decode(c.encode(p))))
	}
	if c.name == "unstructured" {
		for _, obj := range kept { // whose containers differ
			unstructured.RemoveNestedField(obj.(*unstructured.Unstructured).Object, "spec", "containers")
		}
	}
	return kept[2], kept[3]
}

// dataOf returns where the value of v lies.
func dataOf(v any) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&v))[1] }

func keyOf(m map[string]any, key string) *byte {
	for k := range m {
		if k == key {
			return unsafe.StringData(k)
		}
	}
	return nil
}

// TestKeepHoldsNoBuffer keeps strings that are pieces of large ones.
func TestKeepHoldsNoBuffer(t *testing.T) {
	t.Parallel()
	keeper := interned.New(interned.Options{})
	collected := make(chan bool, 3)
	var kept []any
	for i := range 3 {
		buffer := []byte(strings.Repeat("0123456789", 1<<16))
		runtime.AddCleanup(&buffer[0], func(c chan bool) { c <- true }, collected)
		text := unsafe.String(&buffer[0], len(buffer))
		kept = append(kept, keeper.Keep(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{UID: types.UID(strings.Repeat("u", i+1)),
				Labels: map[string]string{text[:20]: text[10:30]}},
			Spec: corev1.PodSpec{NodeName: text[5:40],
				Containers: []corev1.Container{{Name: text[:30], Args: []string{text[3:8]}}}},
		}))
	}
	kept[0] = nil // whose parts were not pooled
	collect(t, "buffers", func() bool { return len(collected) == 3 })
	runtime.KeepAlive(kept)
}

// collect runs the garbage collector until done says so.
func collect(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 50 {
		runtime.GC()
		if done() {
			return
		}
	}
	t.Fatalf("%s were not collected", what)
}

// TestPartsAreCollected drops all objects. Then no part is alive, and the entries of dead parts
// make room for new ones.
func TestPartsAreCollected(t *testing.T) {
	for _, c := range codecs {
		keeper := interned.New(interned.Options{})
		encoded := c.encodeAll(podsOf(300, true))
		var most int
		for range 5 {
			kept := make([]any, len(encoded))
			for i, e := range encoded {
				kept[i] = keeper.Keep(c.decode(e))
			}
			if live := keeper.Live(); live < 300 {
				t.Fatalf("%s: only %d parts are shared", c.name, live)
			}
			runtime.KeepAlive(kept)
			clear(kept)
			// Some of the smallest parts lie in one block of memory with others'.
			collect(t, "parts", func() bool { return keeper.Live() < 10 })
			if most == 0 {
				most = 2 * keeper.PoolSize()
			}
			if keeper.PoolSize() > most {
				t.Fatalf("%s: the pool grows to %d entries", c.name, keeper.PoolSize())
			}
		}
	}
}

// TestUniqueValuesDoNotFillThePool keeps objects that have nothing in common, and versions of
// objects.
func TestUniqueValuesDoNotFillThePool(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	text := func() string {
		b := make([]byte, 10)
		for i := range b {
			b[i] = byte('a' + rng.IntN(26))
		}
		return string(b)
	}
	keeper := interned.New(interned.Options{})
	var kept []any
	for range 5_000 {
		seconds := int64(rng.Uint32())
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: text(), UID: types.UID(text()),
			Labels: map[string]string{"app": text()}, ResourceVersion: text()},
			Spec: corev1.PodSpec{NodeName: text(), Containers: []corev1.Container{{Name: text()}},
				ActiveDeadlineSeconds: &seconds},
			Status: corev1.PodStatus{PodIPs: []corev1.PodIP{{IP: text()}}}}
		for range 3 {
			p = p.DeepCopy()
			p.ResourceVersion = text()
			kept = append(kept, keeper.Keep(p))
		}
	}
	// One in 4,096 objects is taken for another one.
	if n := keeper.PoolSize(); n > 100 {
		t.Errorf("the pool has %d entries", n)
	}
	runtime.KeepAlive(kept)
}

// TestKeepWhileOthersRead keeps objects in many goroutines, and some again, while others read
// objects that have the same parts. The race detector looks for writes to shared parts.
func TestKeepWhileOthersRead(t *testing.T) {
	t.Parallel()
	pods := podsOf(64, true)
	for i, p := range pods {
		limit := resource.MustParse("1024Mi")
		p.Spec.Volumes[1].EmptyDir = &corev1.EmptyDirVolumeSource{SizeLimit: &limit}
		p.Labels["app"] = []string{"a", "b"}[i%2]
	}
	for _, c := range codecs {
		keeper := interned.New(interned.Options{Sights: 1 << 10})
		encoded := c.encodeAll(pods)
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := range 100 {
					n := (g*31 + i) % len(encoded)
					obj := keeper.Keep(c.decode(encoded[n]))
					read(obj)
					keeper.Keep(obj)
					if g%2 == 0 {
						want := c.decode(encoded[n])
						if !equality.Semantic.DeepEqual(obj, want) {
							t.Errorf("%s: got %v, want %v", c.name, obj, want)
							return
						}
					}
				}
			})
		}
		wg.Wait()
	}
}

// read reads all of an object, with the methods that keep what they found out.
func read(obj any) {
	_ = obj.(kruntime.Object).DeepCopyObject()
	if p, ok := obj.(*corev1.Pod); ok {
		_ = p.Spec.Volumes[1].EmptyDir.SizeLimit.String()
	}
}

// TestKeepReturnsOthersAsTheyAre passes in what is no object.
func TestKeepReturnsOthersAsTheyAre(t *testing.T) {
	t.Parallel()
	keeper := interned.New(interned.Options{})
	number := 1
	pod := podsOf(1, false)[0]
	loop := &odd{Spec: oddSpec{Selves: []oddSpec{{}, {}}}}
	loop.Spec.Self = &loop.Spec
	loop.Spec.Selves[1].Self, loop.Spec.Selves[0].Self = &loop.Spec, &loop.Spec
	for _, obj := range []any{nil, (*corev1.Pod)(nil), (*unstructured.Unstructured)(nil), "text", 1,
		&number, &struct{ A *int }{&number}, cache.DeletedFinalStateUnknown{Key: "a", Obj: pod},
		&cache.DeletedFinalStateUnknown{Key: "a", Obj: pod}, &corev1.PodList{},
		&unstructured.Unstructured{}, loop, &corev1.Pod{}} {
		got, err := keeper.Transform(obj)
		if got != obj || err != nil || keeper.Object(obj) != obj {
			t.Errorf("Keep of a %T returned %v, %v", obj, got, err)
		}
	}
}

// TestAliasesStayEqual keeps an object whose slices overlap.
func TestAliasesStayEqual(t *testing.T) {
	t.Parallel()
	keeper := interned.New(interned.Options{})
	for i := range 4 {
		all := []corev1.Container{{Name: "a", Args: []string{"x"}}, {Name: "b"},
			{Name: "a", Args: []string{"x"}}}
		obj := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: types.UID(strings.Repeat("u", i+1))},
			Spec: corev1.PodSpec{Containers: all[:2:2], InitContainers: all[1:]}}
		want := obj.DeepCopy()
		if keeper.Keep(obj); !reflect.DeepEqual(obj, want) {
			t.Fatalf("%v became %v", want, obj)
		}
	}
}

// TestNodesShare keeps the nodes of a cluster: the images of a kind of machine are shared.
func TestNodesShare(t *testing.T) {
	t.Parallel()
	objects := synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindNode, Count: 100}, 1)
	keeper := interned.New(interned.Options{})
	lists := map[*corev1.ContainerImage]int{}
	for _, obj := range objects.All() {
		node := &corev1.Node{}
		check(node.Unmarshal(must(obj.(*corev1.Node).Marshal())))
		keeper.Keep(node)
		lists[&node.Status.Images[0]]++
	}
	if len(lists) > 16 { // of 8 kinds the first node and all others
		t.Errorf("100 nodes have %d lists of images", len(lists))
	}
}
