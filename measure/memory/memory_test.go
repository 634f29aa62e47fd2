package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/synthetic"
)

var podKind, nodeKind = corev1.SchemeGroupVersion.WithKind("Pod"),
	corev1.SchemeGroupVersion.WithKind("Node")

// sampleOf are n synthetic objects, each on its own.
func sampleOf(t *testing.T, kind synthetic.ObjectKind, n int) *Sampler {
	t.Helper()
	s := NewSampler(DefaultSample)
	for _, obj := range synthetic.Generate(synthetic.ObjectSpec{Kind: kind, Count: n}, 1).All() {
		gvk := podKind
		if kind == synthetic.KindNode {
			gvk = nodeKind
		}
		if err := s.AddObject(obj, gvk); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// widgets are n custom objects with numbers, large maps, nested lists and nulls.
func widgets(t *testing.T, n int) *Sampler {
	t.Helper()
	s := NewSampler(DefaultSample)
	for i := range n {
		spec, large := map[string]any{"on": true, "off": false, "none": nil, "empty": []any{},
			"small": 7, "ratio": float64(i) + 0.5, "text": strings.Repeat("x", i%70)}, map[string]any{}
		for j := range i % 120 {
			large[fmt.Sprint("key-", j)] = []any{i * j, []any{fmt.Sprint("deep", i)}}
		}
		spec["large"] = large
		if err := s.AddObject(&unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": fmt.Sprint("widget-", i)}, "spec": spec}},
			schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// What the walk counts is what the heap grows by, in every form.
func TestWalkAgreesWithTheHeap(t *testing.T) {
	agree := func(name string, s *Sampler, form string) {
		t.Run(name+" "+form, func(t *testing.T) {
			k := s.sorted()[0]
			tasks, base := tasksOf(k, Options{Form: form}, nil)
			whole := tasks[:1] // of the form itself; the remedies have tests of their own
			for round := range rounds {
				if err := whole[0].measure(k, round); err != nil {
					t.Fatal(err)
				}
			}
			if err := k.report(whole, base); err != nil {
				t.Fatal(err)
			}
			walked, measured := k.kind.Walked, k.kind.Measured()
			off := float64(walked)/float64(measured) - 1
			t.Logf("walked %d, measured %d: %+.1f%%", walked, measured, 100*off)
			if math.Abs(off) > 0.05 {
				t.Errorf("walked %d bytes, measured %d: %+.1f%%", walked, measured, 100*off)
			}
		})
	}
	for kind, n := range map[synthetic.ObjectKind]int{synthetic.KindPod: 300, synthetic.KindNode: 200,
		synthetic.KindSmall: 2000} {
		for _, form := range Forms {
			agree(string(kind), sampleOf(t, kind, n), form)
		}
	}
	agree("widget", widgets(t, 500), FormUnstructured)
}

// The bytes of objects whose allocations can be counted by hand.
func TestKnownSizes(t *testing.T) {
	object := slot(int(sizeOf[corev1.ConfigMap]()), true)
	for name, c := range map[string]struct {
		obj  *corev1.ConfigMap
		want int
	}{
		"empty":        {&corev1.ConfigMap{}, object},
		"a name":       {withMeta(metav1.ObjectMeta{Name: strings.Repeat("n", 100)}), object + 112},
		"of one byte":  {withMeta(metav1.ObjectMeta{Name: "n"}), object},
		"small":        {withMeta(metav1.ObjectMeta{Name: "12345678", UID: types.UID("12345678")}), object + 16},
		"a list":       {withMeta(metav1.ObjectMeta{Finalizers: []string{strings.Repeat("f", 20)}}), object + 16 + 24},
		"spare":        {withMeta(metav1.ObjectMeta{Finalizers: make([]string, 0, 4)}), object + 64},
		"an empty map": {&corev1.ConfigMap{Data: map[string]string{}}, object + 48},
		// a header, and a group of eight slots of 32 bytes and a control word
		"a map": {&corev1.ConfigMap{Data: map[string]string{"k": strings.Repeat("v", 33)}}, object + 48 + 288 + 48},
		// bytes lie in pages from 32 KiB on
		"large": {&corev1.ConfigMap{Data: map[string]string{"k": strings.Repeat("v", 40<<10)}},
			object + 48 + 288 + 40<<10},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWalker(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, FormTyped)
			w.object(c.obj)
			if got, _ := w.root.totals(); got != int64(c.want) {
				t.Errorf("%d bytes, want %d", got, c.want)
			}
		})
	}
}

func withMeta(m metav1.ObjectMeta) *corev1.ConfigMap { return &corev1.ConfigMap{ObjectMeta: m} }

func sizeOf[T any]() uintptr { return reflect.TypeFor[T]().Size() }

// Strings are equal by themselves, what lies within a list only if the whole list is.
func TestEqual(t *testing.T) {
	for name, c := range map[string]struct {
		names, images [3]string
		equal         int64 // of the images: headers and slots of 16 bytes
	}{
		"two lists":   {[3]string{"a", "a", "a"}, [3]string{"the-image-of-two", "the-image-of-two", "another-of-one"}, 2 * (16 + 16)},
		"two strings": {[3]string{"a", "b", "c"}, [3]string{"the-image-of-two", "the-image-of-two", "another-of-one"}, 2 * 16},
		"none":        {[3]string{"a", "a", "a"}, [3]string{"the-image-of-0-0", "the-image-of-0-1", "the-image-of-0-2"}, 0},
	} {
		w := newWalker(podKind, FormTyped)
		for i, image := range c.images {
			w.object(&corev1.Pod{Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: c.names[i], Image: image}}}})
		}
		f := w.fields(1)
		if image := find(f.Fields, "spec.containers[].image"); image == nil ||
			image.Bytes != 3*(16+16) ||
			image.Equal != c.equal {
			t.Errorf("%s: %+v, want 96 bytes and %d of them equal", name, image, c.equal)
		}
	}
}

// stub is an ObjectKeeper that keeps metadata alone.
type stub struct{ kept int }

func (s *stub) Keep(obj any) any {
	s.kept++
	m := obj.(metav1.ObjectMetaAccessor).GetObjectMeta()
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: m.GetName()}}
}
func (s *stub) Object(kept any) any { return kept }

// Remedies leave less, each what it says, and keepers are measured beside them.
func TestRemedies(t *testing.T) {
	var made []*stub
	r, err := Measure(t.Context(), sampleOf(t, synthetic.KindPod, 300), Options{
		Strip: []string{"metadata.managedFields", "spec"},
		Keepers: []Keeper{{"stub", func() contract.ObjectKeeper {
			made = append(made, &stub{})
			return made[len(made)-1]
		}}}})
	if err != nil {
		t.Fatal(err)
	}
	k := r.Kinds[0]
	of := map[string]Remedy{}
	var names []string
	for _, r := range k.Remedies {
		of[r.Name] = r
		names = append(names, r.Name)
	}
	if want := []string{asItIs, noManaged, stripped, FormMetadata, "stub"}; !slices.Equal(
		names,
		want,
	) {
		t.Errorf("%q, want %q", names, want)
	}
	all := k.Measured()
	share := func(path string) int64 { return find(k.Fields.Fields, path).Bytes }
	for name, want := range map[string]int64{
		noManaged: all - share("metadata.managedFields[]"),
		stripped:  all - share("metadata.managedFields[]") - below(find(k.Fields.Fields, "spec")),
	} {
		if got := of[name].Bytes; math.Abs(float64(got-want)) > 0.05*float64(all) {
			t.Errorf("%s leaves %d of %d, want about %d", name, got, all, want)
		}
	}
	if of["stub"].Bytes > all/10 || len(made) != 2*rounds || made[0].kept != 300 {
		t.Errorf("the stub leaves %+v, %d were made", of["stub"], len(made))
	}
	for _, r := range k.Remedies {
		if r.PeakList < r.Bytes || r.PeakPages < r.Bytes {
			t.Errorf("%+v: a peak below what stays", r)
		}
	}
}

// below are a field's bytes that are not within the object itself.
func below(f *Field) int64 { return f.Bytes - 300*int64(sizeOf[corev1.PodSpec]()) }

// The sample is of the size asked for, any object may be in it, and results are scaled.
func TestSampleIsScaled(t *testing.T) {
	all, err := Measure(t.Context(), sampleOf(t, synthetic.KindPod, 300), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := NewSampler(100)
	for _, text := range sampleOf(t, synthetic.KindPod, 300).sorted()[0].sample {
		fields := map[string]json.RawMessage{}
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		fields["kind"], fields["apiVersion"] = []byte(`"Pod"`), []byte(`"v1"`)
		if err := s.Add(fields); err != nil {
			t.Fatal(err)
		}
	}
	part, err := Measure(t.Context(), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := all.Kinds[0], part.Kinds[0]
	if b.Sampled != 100 || b.Objects != 300 ||
		math.Abs(float64(a.Measured()-b.Measured())) > 0.05*float64(a.Measured()) {
		t.Errorf(
			"a sample of %d of %d: %d bytes, all take %d",
			b.Sampled,
			b.Objects,
			b.Measured(),
			a.Measured(),
		)
	}
}

// leak begins whatever must be in no output.
const leak = "leaked"

// hostile are objects whose names, values and keys of data all begin with leak.
const hostile = `{"apiVersion":"v1","kind":"List","items":[
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"leakedname","namespace":"leakedns",
 "labels":{"leakedkey":"leakedvalue","leaked.kubernetes.io/leaked":"leaked"},
 "annotations":{"leaked.example.com/leaked":"leaked","node-role.kubernetes.io/leaked":"x"},
 "managedFields":[{"manager":"leaked","operation":"Apply","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:leaked":{}}}}]},
 "data":{"leakedFile":"leaked","kubernetes.io/leaked":"leaked"},"leakedUnknown":{"leakedKey":"leaked"}},
{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"leaked1"},
 "spec":{"leakedKey":"leaked","by":{"leakedName":{"leaked":1}}},"leakedTop":[{"leaked":[["leaked"]]}]},
{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"leaked2","labels":{"leaked":"x"}},
 "spec":{"leaked.key":"leaked","data":{"leakedData":"x"}}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"leaked","creationTimestamp":"leaked"},"spec":{"containers":"leaked"}},
{"apiVersion":"v1","kind":"Secret","metadata":{"name":"leaked","labels":7},"data":{"leaked":"leaked"}}
]}`

func TestNothingLeaks(t *testing.T) {
	for _, form := range Forms {
		s := NewSampler(DefaultSample)
		if err := s.ReadJSON(strings.NewReader(hostile)); err != nil {
			t.Fatal(err)
		}
		r, err := Measure(t.Context(), s, Options{Form: form})
		if err != nil {
			t.Fatal(err)
		}
		code, err := Code(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal([]any{r, code})
		if err != nil || strings.Contains(string(text), leak) || len(r.Kinds) != 4 {
			t.Errorf("%s: %v, %s", form, err, text)
		}
		misfits := 0
		for _, k := range r.Kinds {
			if k.Misfit {
				misfits++
			}
		}
		if misfits != 2 {
			t.Errorf("%d kinds do not fit, want 2", misfits)
		}
	}
}

// Keys that most objects of a custom kind have are fields, the others data.
func TestFieldsOfCustomObjects(t *testing.T) {
	w := newWalker(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"},
		FormUnstructured)
	for i := range 10 {
		w.object(
			&unstructured.Unstructured{Object: map[string]any{"kind": "Widget", "spec": map[string]any{
				"size": int64(1000), "parts": []any{map[string]any{"blob": "0123456789"}},
				"by": map[string]any{fmt.Sprint(leak, i): "x"}}}},
		)
	}
	f := w.fields(1)
	for _, path := range []string{"spec.size", "spec.parts[].blob", "spec.by[*]"} {
		if find(f.Fields, path) == nil {
			t.Errorf("no %s in %+v", path, f)
		}
	}
	if text, _ := json.Marshal(f); strings.Contains(string(text), leak) {
		t.Errorf("%s", text)
	}
}

func TestReadJSON(t *testing.T) {
	pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`
	for name, c := range map[string]struct {
		text    string
		objects int
		err     string // "" is none
	}{
		"one":          {pod, 1, ""},
		"several":      {pod + "\n" + pod + pod, 3, ""},
		"a list":       {`{"apiVersion":"v1","items":[` + pod + "," + pod + `],"kind":"List"}`, 2, ""},
		"a typed list": {`{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}`, 1, ""},
		"no items":     {`{"kind":"List","apiVersion":"v1","items":null}`, 0, ""},
		"empty":        {" \n", 0, "kubectl get -o json"},
		"cut":          {pod + `{"kind":"List","items":[{"kind":`, 0, "within the object"},
		"YAML":         {"apiVersion: v1\nkind: Pod\n", 0, "kubectl get -o json"},
		"a string":     {`"pod"`, 0, "kubectl get -o json"},
		"null":         {`{"kind":"PodList","apiVersion":"v1","items":[null]}`, 0, "apiVersion and kind"},
		"no kind":      {`{"metadata":{"name":"a"}}`, 0, "apiVersion and kind"},
		"no metadata":  {`{"apiVersion":"v1","kind":"Pod"}`, 0, "without metadata"},
		"items":        {`{"items":{"a":1}}`, 0, "not a list"},
		"deep":         {strings.Repeat(`{"a":`, 20000), 0, "byte"},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSampler(DefaultSample)
			err := s.ReadJSON(strings.NewReader(c.text))
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %v, want %q", err, c.err)
			}
			if err == nil && s.Objects() != c.objects {
				t.Errorf("%d objects, want %d", s.Objects(), c.objects)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Strip: []string{"metadata.name"}}, "caches need it"},
		{Options{Strip: []string{"spec..x"}}, "no path of fields"},
		{Options{Strip: []string{""}}, "names no field"},
		{Options{Form: "yaml"}, "no form"},
		{Options{}, "no objects"},
	} {
		if _, err := Measure(t.Context(), NewSampler(1), c.o); err == nil ||
			!strings.Contains(err.Error(),
				c.want) {
			t.Errorf("%+v: got %v, want %q", c.o, err, c.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Measure(ended, sampleOf(t, synthetic.KindSmall, 1), Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was ended", err)
	}
}
