package memory

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

var strips = []string{"metadata.managedFields", "metadata.finalizers", "metadata.labels",
	`metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]`,
	`metadata.annotations["example.com/other"]`, "metadata.generation", "spec.containers[].env",
	"spec.containers[].livenessProbe.exec", "spec.template.spec.containers[].env", "status.images[]",
	`spec.nodeSelector["a"]`, "spec.volumes[].projected.sources[].secret.items", "status",
	"spec.parts[].pieces[].blob"}

// The code of every remedy compiles, for kinds with and without a Go type.
func TestCodeCompiles(t *testing.T) {
	t.Parallel()
	custom := Kind{Group: "example.com", Version: "v1", Kind: "Widget", Form: FormUnstructured}
	kinds := []Kind{{Version: "v1", Kind: "Pod", Form: FormTyped},
		{Group: "apps", Version: "v1", Kind: "Deployment", Form: FormTyped},
		{Version: "v1", Kind: "Node", Form: FormTyped}, custom}
	overlay := map[string][]byte{} // packages beside this one, so that one load has all
	var patterns []string
	for name, r := range map[string]*Report{
		"all":     {Kinds: kinds, Strip: strips},
		"default": {Kinds: kinds[:1], Strip: DefaultStrip},
		"custom":  {Kinds: []Kind{custom}, Strip: strips},
		"nothing": {Kinds: kinds[:1], Strip: []string{"spec.nothing"}},
	} {
		snippets, err := Code(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		var imports []string
		body := ""
		for _, s := range snippets {
			imports, body = append(imports, s.Imports...), body+s.Code+"\n"
			for line := range strings.Lines(s.Code) {
				if len(strings.ReplaceAll(line, "\t", "    ")) > 100 {
					t.Errorf("%s: too long: %s", name, line)
				}
			}
		}
		slices.Sort(imports)
		file, err := filepath.Abs(filepath.Join("code_"+name, "code.go"))
		if err != nil {
			t.Fatal(err)
		}
		overlay[file] = fmt.Appendf(nil, "package code\n\nimport (\n%s\n)\n\n%s",
			strings.Join(slices.Compact(imports), "\n"), body)
		patterns = append(patterns, "./code_"+name)
	}
	pkgs, err := packages.Load(&packages.Config{Overlay: overlay, Mode: packages.NeedName |
		packages.NeedFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax |
		packages.NeedTypesInfo}, patterns...)
	if err != nil || len(pkgs) != len(patterns) {
		t.Fatalf("%d packages, want %d: %v", len(pkgs), len(patterns), err)
	}
	for _, p := range pkgs {
		if p.Types == nil {
			t.Errorf("%s has no types", p)
		}
		for _, e := range p.Errors {
			t.Errorf("%s: %v", p, e)
		}
		if len(p.Errors) > 0 {
			for _, file := range p.GoFiles {
				t.Logf("%s:\n%s", file, overlay[file])
			}
		}
	}
}

// A path empties the same field of an object typed and unstructured, and nothing else.
func TestStrip(t *testing.T) {
	t.Parallel()
	pod := func() *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"a": "b"},
				Annotations: map[string]string{"example.com/a": "x", "b": "y"}},
			Spec: corev1.PodSpec{
				NodeName: "n",
				Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
					Secret: &corev1.SecretVolumeSource{SecretName: "s"}}}},
				Containers: []corev1.Container{
					{Name: "c", Env: []corev1.EnvVar{{Name: "e"}}},
					{Name: "d"},
				},
			},
		}
	}
	for path, want := range map[string]func(*corev1.Pod){
		`metadata.annotations["example.com/a"]`: func(p *corev1.Pod) { delete(p.Annotations, "example.com/a") },
		"metadata.annotations":                  func(p *corev1.Pod) { p.Annotations = nil },
		"metadata.labels[*]":                    func(p *corev1.Pod) { p.Labels = nil },
		"spec.containers[].env":                 func(p *corev1.Pod) { p.Spec.Containers[0].Env = nil },
		"spec.containers[].env[]":               func(p *corev1.Pod) { p.Spec.Containers[0].Env = nil },
		"spec.volumes[].secret.secretName":      func(p *corev1.Pod) { p.Spec.Volumes[0].Secret.SecretName = "" },
		"spec.nodeName":                         func(p *corev1.Pod) { p.Spec.NodeName = "" },
		"spec.nothing.at.all":                   func(*corev1.Pod) {},
		"spec.containers.env":                   func(*corev1.Pod) {},
	} {
		p, err := parsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		wanted := pod()
		want(wanted)
		got := pod()
		p.strip(got)
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod())
		if err != nil {
			t.Fatal(err)
		}
		p.strip(&unstructured.Unstructured{Object: fields})
		back := &corev1.Pod{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, back); err != nil {
			t.Fatal(err)
		}
		if !equality.Semantic.DeepEqual(got, wanted) || !equality.Semantic.DeepEqual(back, wanted) {
			t.Errorf("%s leaves\n%+v typed,\n%+v unstructured, want\n%+v", path, got, back, wanted)
		}
	}
}
