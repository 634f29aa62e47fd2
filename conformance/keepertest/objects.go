package keepertest

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/load/synthetic"
)

// kinds are the kinds of objects that controllers cache. Each call of make makes new ones, which
// share nothing.
var kinds = []struct {
	name string
	make func(n int) []apiruntime.Object
}{
	{"a pod", func(n int) []apiruntime.Object { return own(synthetic.KindPod, n) }},
	{"a node", func(n int) []apiruntime.Object { return own(synthetic.KindNode, n) }},
	{"an unstructured pod", func(n int) []apiruntime.Object {
		objs := own(synthetic.KindPod, n)
		for i, obj := range objs {
			obj.(*corev1.Pod).TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
			objs[i] = unstructuredOf(obj)
		}
		return objs
	}},
	{"the metadata of a pod", func(n int) []apiruntime.Object {
		objs := own(synthetic.KindPod, n)
		for i, obj := range objs {
			objs[i] = &metav1.PartialObjectMetadata{
				TypeMeta:   metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
				ObjectMeta: obj.(*corev1.Pod).ObjectMeta}
		}
		return objs
	}},
	{"an object of a type of one's own", func(n int) []apiruntime.Object {
		objs := make([]apiruntime.Object, n)
		for i, obj := range own(synthetic.KindPod, n) {
			p := obj.(*corev1.Pod)
			objs[i] = &Widget{TypeMeta: metav1.TypeMeta{Kind: "Widget", APIVersion: "example.com/v1"},
				ObjectMeta: p.ObjectMeta,
				Spec: WidgetSpec{Size: resource.MustParse(fmt.Sprintf("%dMi", i)), Pod: &p.Spec,
					Weights: map[string]float64{"a": 0.5, "b": float64(i)}}}
		}
		return objs
	}},
}

// generated has what synthetic.Generate makes of a spec, which takes longer than most cases.
var generated sync.Map

func own(kind synthetic.ObjectKind, n int) []apiruntime.Object {
	spec := synthetic.ObjectSpec{Kind: kind, Count: n}
	made, ok := generated.Load(spec)
	if !ok {
		made, _ = generated.LoadOrStore(spec, synthetic.Generate(spec, 1).All())
	}
	objs := slices.Clone(made.([]apiruntime.Object))
	for i, obj := range objs {
		objs[i] = obj.DeepCopyObject()
	}
	return objs
}

func unstructuredOf(obj apiruntime.Object) apiruntime.Object {
	content, err := apiruntime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		panic(fmt.Sprintf("keepertest: %v", err))
	}
	return &unstructured.Unstructured{Object: content}
}

// Widget is an object as programs define them for their own resources: without protobuf.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec `json:"spec,omitempty"`
}

// WidgetSpec is the spec of a Widget.
type WidgetSpec struct {
	Size    resource.Quantity  `json:"size"`
	Pod     *corev1.PodSpec    `json:"pod,omitempty"`
	Weights map[string]float64 `json:"weights,omitempty"`
	Note    string             `json:"note,omitempty"`
	Hidden  string             `json:"-"` // only programs set it
}

// DeepCopyObject copies w.
func (w *Widget) DeepCopyObject() apiruntime.Object {
	c := *w
	c.ObjectMeta = *w.ObjectMeta.DeepCopy()
	c.Spec.Size = w.Spec.Size.DeepCopy()
	c.Spec.Pod = w.Spec.Pod.DeepCopy()
	c.Spec.Weights = make(map[string]float64, len(w.Spec.Weights))
	for k, v := range w.Spec.Weights {
		c.Spec.Weights[k] = v
	}
	return &c
}

// anyObject draws an object with values at their limits.
func anyObject(rt *rapid.T) apiruntime.Object {
	text := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "pod", "\x00", "ünï", "日本"}),
		rapid.String())
	labels := rapid.MapOfN(text, text, -1, 5)
	at := func() metav1.Time {
		return metav1.Unix(rapid.Int64Range(-1<<33, 1<<33).Draw(rt, "seconds"),
			rapid.SampledFrom([]int64{0, 0, 1, 999_999_999}).Draw(rt, "nanoseconds"))
	}
	m := metav1.ObjectMeta{Namespace: text.Draw(rt, "namespace"), Name: text.Draw(rt, "name"),
		UID: types.UID(text.Draw(rt, "uid")), ResourceVersion: text.Draw(rt, "version"),
		Generation: rapid.Int64().Draw(rt, "generation"), CreationTimestamp: at()}
	if rapid.Bool().Draw(rt, "labelled") {
		m.Labels, m.Annotations = labels.Draw(rt, "labels"), labels.Draw(rt, "annotations")
	}
	switch rapid.IntRange(0, 3).Draw(rt, "kind") {
	case 0:
		p := &corev1.Pod{ObjectMeta: m}
		for range rapid.IntRange(0, 3).Draw(rt, "containers") {
			c := corev1.Container{Name: text.Draw(rt, "container"), Image: text.Draw(rt, "image")}
			if rapid.Bool().Draw(rt, "limited") {
				q := resource.NewMilliQuantity(rapid.Int64().Draw(rt, "milli"), resource.DecimalSI)
				c.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: *q,
					corev1.ResourceMemory: resource.MustParse("1500Mi")}
			}
			p.Spec.Containers = append(p.Spec.Containers, c)
		}
		if rapid.Bool().Draw(rt, "graceful") {
			seconds := rapid.Int64().Draw(rt, "grace")
			p.Spec.TerminationGracePeriodSeconds = &seconds
			started := at()
			p.Status.StartTime = &started
		}
		if rapid.Bool().Draw(rt, "typed") {
			p.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
		}
		return p
	case 1:
		return &metav1.PartialObjectMetadata{ObjectMeta: m}
	case 2:
		return &Widget{ObjectMeta: m, Spec: WidgetSpec{Note: text.Draw(rt, "note"),
			Hidden:  text.Draw(rt, "hidden"),
			Weights: map[string]float64{"a": rapid.Float64Range(-1e300, 1e300).Draw(rt, "weight")}}}
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Thing", "spec": anyValue(rt, 3)}}
	u.SetNamespace(m.Namespace)
	u.SetName(m.Name)
	u.SetUID(m.UID)
	u.SetResourceVersion(m.ResourceVersion)
	return u
}

// anyValue draws a value as JSON has them.
func anyValue(rt *rapid.T, depth int) any {
	kinds := 7
	if depth == 0 {
		kinds = 5
	}
	switch rapid.IntRange(0, kinds-1).Draw(rt, "kind of value") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(rt, "bool")
	case 2:
		return rapid.Int64().Draw(rt, "int")
	case 3:
		return rapid.Float64Range(-1e300, 1e300).Draw(rt, "float")
	case 4:
		return rapid.String().Draw(rt, "string")
	case 5:
		list := make([]any, rapid.IntRange(0, 4).Draw(rt, "items"))
		for i := range list {
			list[i] = anyValue(rt, depth-1)
		}
		return list
	}
	fields := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(rt, "fields") {
		fields[rapid.String().Draw(rt, "field")] = anyValue(rt, depth-1)
	}
	return fields
}

// change makes obj a later version of itself.
func change(t tester, obj apiruntime.Object) {
	m, err := meta.Accessor(obj)
	if err != nil {
		t.Fatalf("a %T has no metadata: %v", obj, err)
	}
	m.SetResourceVersion(m.GetResourceVersion() + "1")
	labels := map[string]string{"changed": "at " + time.Unix(1, 0).UTC().String()}
	for k, v := range m.GetLabels() {
		labels[k] = v
	}
	m.SetLabels(labels)
}

// tester is what suite.T and rapid.T have in common.
type tester interface {
	Fatalf(format string, args ...any)
}

func sameValue(t tester, name string, got any, want apiruntime.Object) {
	if a, b := fmt.Sprintf("%T", got), fmt.Sprintf("%T", want); a != b {
		t.Fatalf("%s: a %s came back as a %s", name, b, a)
	}
	if !equality.Semantic.DeepEqual(got, want) {
		t.Fatalf("%s came back with other values:\n%+v\nwant\n%+v", name, got, want)
	}
}

func nameOf(t tester, obj any) string {
	m, err := meta.Accessor(obj)
	if err != nil {
		t.Fatalf("a %T has no metadata: %v", obj, err)
	}
	return fmt.Sprintf("%s/%s, UID %s, version %s", m.GetNamespace(), m.GetName(), m.GetUID(),
		m.GetResourceVersion())
}

// collected counts objects that are still there.
type collected struct{ left atomic.Int64 }

// watch counts obj, a pointer to one of the types of kinds.
func (c *collected) watch(obj any) {
	c.left.Add(1)
	done := func(left *atomic.Int64) { left.Add(-1) }
	switch o := obj.(type) {
	case *corev1.Pod:
		runtime.AddCleanup(o, done, &c.left)
	case *corev1.Node:
		runtime.AddCleanup(o, done, &c.left)
	case *unstructured.Unstructured:
		runtime.AddCleanup(o, done, &c.left)
	case *metav1.PartialObjectMetadata:
		runtime.AddCleanup(o, done, &c.left)
	case *Widget:
		runtime.AddCleanup(o, done, &c.left)
	default:
		panic(fmt.Sprintf("keepertest: a %T", obj))
	}
}

// after returns how many objects are left after some collections. Cleanups run in a goroutine of
// the runtime, so it collects until they have, or the given number of times.
func (c *collected) after(collections int) int64 {
	for range collections {
		runtime.GC()
		for range 100 {
			runtime.Gosched()
		}
		if c.left.Load() == 0 {
			break
		}
	}
	return c.left.Load()
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
