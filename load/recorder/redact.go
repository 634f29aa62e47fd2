package recorder

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informerbench/informerbench/load"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// dropper removes the parts of objects that the trace must not contain.
type dropper struct {
	redact, managedFields, metadataOnly bool
}

// Dropped describes what a recording with these options drops from every object, for the
// trace's header.
func (o Options) Dropped() []string {
	var out []string
	if o.MetadataOnly {
		out = append(out, "everything but metadata", "the annotation "+lastApplied,
			"all annotations of Secrets and ConfigMaps")
	}
	if o.Redact {
		out = append(out,
			"data and stringData of Secrets, data and binaryData of ConfigMaps",
			"the values of environment variables (any list or map called env, at any depth)",
			"all annotations, of templates too",
			"managedFields",
		)
	} else if o.DropManagedFields {
		out = append(out, "managedFields")
	}
	return out
}

// apply changes obj, which must belong to the caller.
func (d dropper) apply(obj *unstructured.Unstructured) {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	if d.metadataOnly {
		annotations, _ := metadata["annotations"].(map[string]any)
		delete(annotations, lastApplied)
		if len(annotations) == 0 || confidential(obj.Object) {
			delete(metadata, "annotations")
		}
		for field := range obj.Object {
			if field != "apiVersion" && field != "kind" && field != "metadata" {
				delete(obj.Object, field)
			}
		}
	}
	if d.managedFields || d.redact {
		delete(metadata, "managedFields")
	}
	if d.redact {
		redact(obj.Object)
	}
}

func confidential(object map[string]any) bool {
	return object["kind"] == "Secret" || object["kind"] == "ConfigMap"
}

// redact walks over all values of an object. Pods are in templates of other kinds,
// including custom ones, and a template may contain a Secret.
func redact(value any) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			redact(item)
		}
	case map[string]any:
		if confidential(v) {
			delete(v, "data")
			delete(v, "stringData")
			delete(v, "binaryData")
		}
		if env, ok := v["env"]; ok && !dropValues(env) {
			delete(v, "env")
		}
		if metadata, ok := v["metadata"].(map[string]any); ok {
			delete(metadata, "annotations")
			delete(metadata, "managedFields")
		}
		for _, field := range v {
			redact(field)
		}
	}
}

// dropValues keeps of a container's env the names and the references to sources. It returns
// false for a list or map of another shape, which must be dropped as a whole. A scalar is
// no environment but, for example, a label called env.
func dropValues(env any) bool {
	list, ok := env.([]any)
	if !ok {
		_, isMap := env.(map[string]any)
		return !isMap
	}
	for _, item := range list {
		variable, ok := item.(map[string]any)
		if !ok {
			return false
		}
		delete(variable, "value")
	}
	return true
}

// secret reports whether a resource's contents must not get into a file by mistake.
func secret(r load.TraceResource) bool { return r.Group == "" && r.Resource == "secrets" }
