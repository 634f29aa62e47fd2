package synthetic

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestProductionSizes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind ObjectKind
		low  int
		high int
	}{{KindPod, 9_000, 10_000}, {KindNode, 48_000, 52_000}} {
		spec := ObjectSpec{Kind: c.kind, Count: 100, Production: true, Decoded: true}
		for i, obj := range Generate(spec, 7).All() {
			size, managed := len(c.kind.Encode(obj)), 0
			for _, m := range Accessor(obj).GetManagedFields() {
				managed += m.Size()
			}
			if size < c.low || size > c.high {
				t.Errorf("%s %d has %d bytes by protobuf, want %d to %d", c.kind, i, size, c.low, c.high)
			}
			if share := float64(managed) / float64(size); share < 0.35 || share > 0.45 {
				t.Errorf("%s %d: managedFields are %.2f of it, want two fifths", c.kind, i, share)
			}
			if n, is := obj.(*corev1.Node); is && (len(n.Labels) != 183 ||
				len(n.Status.Conditions) != 48 || len(n.Status.Images) != 50) {
				t.Errorf("%s has %d labels, %d conditions, %d images", n.Name, len(n.Labels),
					len(n.Status.Conditions), len(n.Status.Images))
			}
		}
	}
}

// Objects of production differ where those of a cluster do, though they have a template.
func TestProductionObjectsAreTheirOwn(t *testing.T) {
	t.Parallel()
	spec := ObjectSpec{Kind: KindNode, Count: 20, Production: true, Decoded: true}
	images := map[string]bool{}
	for _, obj := range Generate(spec, 1).All() {
		n := obj.(*corev1.Node)
		if n.Labels[corev1.LabelHostname] != n.Name {
			t.Errorf("%s has the host name %q", n.Name, n.Labels[corev1.LabelHostname])
		}
		var list strings.Builder
		for _, image := range n.Status.Images {
			list.WriteString(image.Names[0])
		}
		images[list.String()] = true
	}
	if len(images) != 20 {
		t.Errorf("20 nodes have %d lists of images", len(images))
	}
	spec.Kind = KindPod
	for _, obj := range Generate(spec, 1).All() {
		p := obj.(*corev1.Pod)
		if fields := p.ManagedFields[1].FieldsV1.GetRawString(); !strings.Contains(fields,
			`k:{\"ip\":\"`+p.Status.PodIP+`\"}`) {
			t.Errorf("the kubelet does not manage the address of %s: %s", p.Name, fields)
		}
	}
}

func TestFieldSet(t *testing.T) {
	t.Parallel()
	entry := managed("kubectl", "", nil, map[string]any{
		"metadata": map[string]any{"labels": map[string]string{"app": "web"},
			"ownerReferences": []map[string]string{{"uid": "1", "kind": "ReplicaSet"}}},
		"spec": map[string]any{"args": []string{"-v"}, "ports": []corev1.ContainerPort{
			{ContainerPort: 80, Protocol: "TCP"}}},
	})
	const want = `{"f:metadata":{"f:labels":{".":{},"f:app":{}},` +
		`"f:ownerReferences":{".":{},"k:{\"uid\":\"1\"}":{}}},"f:spec":{"f:args":{},` +
		`"f:ports":{".":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":` +
		`{".":{},"f:containerPort":{},"f:protocol":{}}}}}`
	if got := entry.FieldsV1.GetRawString(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
