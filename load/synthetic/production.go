package synthetic

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What objects of ObjectSpec.Production have.
const (
	productionVariables  = 12 // more than other pods, of the sidecar
	productionLabels     = 183
	productionConditions = 48
	// productionImages are those of a pool's nodes together; each node has nodeImages of them.
	productionImages = 4 * nodeImages
)

// anyIP stands in a template's managedFields for a pod's own address.
const anyIP = "0.0.0.0"

// enlarge gives a template the size of ObjectSpec.Production: more variables, and whole
// managedFields.
func (t *PodTemplate) enlarge() {
	sidecar := &t.Spec.Containers[1]
	for n := range productionVariables {
		sidecar.Env = append(sidecar.Env, corev1.EnvVar{Name: fmt.Sprintf("UPSTREAM_%02d", n),
			Value: fmt.Sprintf("https://upstream-%02d.%s.svc.cluster.local:8443/v1", n, sidecar.Name)})
	}
	spec, status := t.Spec, t.Running
	// Admission adds the others, and no manager has what it adds.
	spec.Containers, spec.InitContainers, spec.Tolerations = spec.Containers[:1], nil, nil
	status.HostIP, status.PodIP, status.PodIPs = anyIP, anyIP, []corev1.PodIP{{IP: anyIP}}
	at := t.managed[0].Time
	t.managed = []metav1.ManagedFieldsEntry{
		managed("kube-controller-manager", "", at, map[string]any{"spec": spec,
			"metadata": map[string]any{"generateName": "", "labels": t.labels,
				"annotations": t.annotations, "ownerReferences": t.owners}}),
		managed("kubelet", "status", at, map[string]any{"status": status}),
	}
}

// enlargeNode gives a template the size of ObjectSpec.Production. It has the images of the whole
// pool, of which newNode takes some.
func enlargeNode(n *corev1.Node, rng *rand.Rand) {
	n.Labels[corev1.LabelHostname] = ""
	var features []string
	for i := len(n.Labels); i < productionLabels; i++ {
		feature := fmt.Sprintf("cpu-cpuid.EXTENSION%03d", i)
		n.Labels["feature.node.kubernetes.io/"+feature] = "true"
		features = append(features, feature)
	}
	n.Annotations["nfd.node.kubernetes.io/feature-labels"] = strings.Join(features, ",")
	at := n.Status.Conditions[0].LastHeartbeatTime
	for i := len(n.Status.Conditions); i < productionConditions; i++ {
		check := fmt.Sprintf("HardwareCheck%02d", i)
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{
			Type: corev1.NodeConditionType(check), Status: corev1.ConditionFalse,
			Reason:            check + "IsHealthy",
			Message:           "the last run of this check found no failure on any of the eight devices",
			LastHeartbeatTime: at, LastTransitionTime: at,
		})
	}
	n.Status.Images = newImages(productionImages, rng)
	n.ManagedFields = []metav1.ManagedFieldsEntry{
		managed("nfd-master", "", &at, map[string]any{
			"metadata": map[string]any{"labels": n.Labels, "annotations": n.Annotations}}),
		managed("kubelet", "status", &at, map[string]any{"status": n.Status}),
	}
}

// someImages returns nodeImages of the images, in their order.
func someImages(images []corev1.ContainerImage, rng *rand.Rand) []corev1.ContainerImage {
	chosen := rng.Perm(len(images))[:nodeImages]
	slices.Sort(chosen)
	some := make([]corev1.ContainerImage, nodeImages)
	for i, from := range chosen {
		some[i] = images[from]
	}
	return some
}

// managed is the entry of a manager that wrote the fields of owned.
func managed(manager, subresource string, at *metav1.Time,
	owned map[string]any) metav1.ManagedFieldsEntry {
	var values any
	text, err := json.Marshal(owned)
	if err == nil {
		err = json.Unmarshal(text, &values)
	}
	if err == nil {
		text, err = json.Marshal(fieldSet("", values, 0))
	}
	if err != nil {
		panic(fmt.Sprintf("synthetic: the fields of %s: %v", manager, err))
	}
	return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, APIVersion: "v1",
		Operation: metav1.ManagedFieldsOperationUpdate, Time: at, FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(string(text))}
}

// mergeKeys are the fields by which a server tells the items of a list apart. Other lists are one
// value.
var mergeKeys = map[string][]string{
	"addresses": {"type"}, "conditions": {"type"}, "containers": {"name"},
	"env": {"name"}, "initContainers": {"name"}, "ownerReferences": {"uid"}, "podIPs": {"ip"},
	"ports": {"containerPort", "protocol"}, "volumeMounts": {"mountPath"}, "volumes": {"name"},
}

// atomics are structures that are one value, as fields or as items of a list.
var atomics = []string{"fieldRef", "ownerReferences"}

// fieldSet is the value of a field as metav1.FieldsV1 describes it; depth is its number of parents.
func fieldSet(field string, value any, depth int) map[string]any {
	set := map[string]any{}
	switch value := value.(type) {
	case map[string]any:
		if slices.Contains(atomics, field) {
			return set
		}
		for name, v := range value {
			set["f:"+name] = fieldSet(name, v, depth+1)
		}
	case []any:
		for _, item := range value {
			if key := itemKey(field, item); key != "" {
				set[key] = fieldSet(field, item, depth+1)
			}
		}
	}
	if len(set) > 0 && depth > 1 {
		set["."] = struct{}{}
	}
	return set
}

// itemKey returns "" for an item of a list that is one value, and for the token's volume: admission
// adds it, and no manager has it.
func itemKey(list string, item any) string {
	names, fields := mergeKeys[list], map[string]any{}
	of, _ := item.(map[string]any)
	if len(names) == 0 || of["name"] == tokenVolume {
		return ""
	}
	for _, name := range names {
		fields[name] = of[name]
	}
	text, _ := json.Marshal(fields) // of strings and numbers
	return "k:" + string(text)
}
