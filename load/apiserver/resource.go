package apiserver

import (
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informerbench/informerbench/load/synthetic"
)

// resource is one resource of the server and the properties of its objects.
type resource struct {
	gvr          schema.GroupVersionResource
	gvk          schema.GroupVersionKind
	namespaced   bool
	unstructured bool
	custom       bool // not of Kubernetes' own groups
	protobuf     bool // the type has a Protobuf form
	status       bool // it has a status subresource
	source       *synthetic.Source
	watches      atomic.Int64 // open now
}

// clusterScoped are Kubernetes' own kinds without a namespace that a clientset can list, by group.
// Options.ClusterScoped adds others.
var clusterScoped = map[string][]string{
	"": {"ComponentStatus", "Namespace", "Node", "PersistentVolume"},
	"admissionregistration.k8s.io": {"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
		"MutatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
		"ValidatingWebhookConfiguration"},
	"certificates.k8s.io":          {"CertificateSigningRequest", "ClusterTrustBundle"},
	"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
	"internal.apiserver.k8s.io":    {"StorageVersion"},
	"networking.k8s.io":            {"IPAddress", "IngressClass", "ServiceCIDR"},
	"node.k8s.io":                  {"RuntimeClass"},
	"rbac.authorization.k8s.io":    {"ClusterRole", "ClusterRoleBinding"},
	"resource.k8s.io": {"DeviceClass", "DeviceTaintRule", "ResourcePoolStatusRequest",
		"ResourceSlice"},
	"scheduling.k8s.io": {"PriorityClass"},
	"storage.k8s.io": {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment",
		"VolumeAttributesClass"},
	"storagemigration.k8s.io": {"StorageVersionMigration"},
}

func newResource(gvr schema.GroupVersionResource, source *synthetic.Source, o *Options) (*resource,
	error) {
	if gvr.Version == "" || gvr.Resource == "" {
		return nil, fmt.Errorf("apiserver: the resource %q has no version or no name: give both", gvr)
	}
	if source == nil {
		return nil, fmt.Errorf(
			"apiserver: the resource %s has no source: make one with synthetic.NewSource", gvr.Resource)
	}
	r := &resource{gvr: gvr, source: source}
	example := source.Example()
	if u, ok := example.(*unstructured.Unstructured); ok {
		r.gvk, r.unstructured, r.status = u.GroupVersionKind(), true, true
		if r.gvk.GroupVersion() != gvr.GroupVersion() || r.gvk.Kind == "" {
			return nil, fmt.Errorf(
				"apiserver: the example of %s is a %s: give its source an Example with apiVersion %s and a "+
					"kind", gvr.Resource, r.gvk, gvr.GroupVersion())
		}
	} else {
		kinds, _, err := o.Scheme.ObjectKinds(example)
		if err != nil {
			return nil, fmt.Errorf(
				"apiserver: the kind of %s: %w: give Options.Scheme one that knows %T, or use unstructured "+
					"objects", gvr.Resource, err, example)
		}
		for _, k := range kinds {
			if k.GroupVersion() == gvr.GroupVersion() {
				r.gvk = k
			}
		}
		if r.gvk.Empty() {
			return nil, fmt.Errorf(
				"apiserver: the objects of %s are of %s: serve them as a resource of that group and version",
				gvr.Resource, kinds[0])
		}
		if _, err := o.Scheme.New(r.listKind()); err != nil {
			return nil, fmt.Errorf("apiserver: the list of %s: %w", gvr.Resource, err)
		}
		_, r.protobuf = example.(interface{ Marshal() ([]byte, error) })
		r.status = reflect.TypeOf(example).Elem().Kind() == reflect.Struct &&
			reflect.ValueOf(example).Elem().FieldByName("Status").IsValid()
	}
	r.custom = !builtIn().IsGroupRegistered(gvr.Group)
	own, known := o.ClusterScoped[gvr]
	r.namespaced = !own
	if !known {
		r.namespaced = !slices.Contains(clusterScoped[gvr.Group], r.gvk.Kind)
	}
	return r, nil
}

func (r *resource) listKind() schema.GroupVersionKind {
	return r.gvr.GroupVersion().WithKind(r.gvk.Kind + "List")
}

// key is the object's key in the source.
func (r *resource) key(namespace, name string) string {
	if !r.namespaced {
		return name
	}
	return namespace + "/" + name
}

// withKind returns a shallow copy of obj with its kind set, for the encoders. The source's
// own objects are shared and stay unchanged.
func withKind(obj runtime.Object, gvk schema.GroupVersionKind) runtime.Object {
	if obj.GetObjectKind().GroupVersionKind() == gvk {
		return obj
	}
	next := synthetic.ShallowCopy(obj)
	next.GetObjectKind().SetGroupVersionKind(gvk)
	return next
}

// withoutMetadata returns a shallow copy of obj without metadata.
func withoutMetadata(obj runtime.Object) runtime.Object {
	next := synthetic.ShallowCopy(obj)
	if u, ok := next.(*unstructured.Unstructured); ok {
		delete(u.Object, "metadata")
		return next
	}
	if m := reflect.ValueOf(next).Elem().FieldByName("ObjectMeta"); m.IsValid() {
		m.SetZero()
	}
	return next
}

// setStatus gives obj the status of another object of the resource.
func (r *resource) setStatus(obj, from runtime.Object) {
	if !r.unstructured {
		reflect.ValueOf(obj).Elem().FieldByName("Status").Set(
			reflect.ValueOf(from).Elem().FieldByName("Status"))
		return
	}
	into := obj.(*unstructured.Unstructured).Object
	if status, ok := from.(*unstructured.Unstructured).Object["status"]; ok {
		into["status"] = status
	} else {
		delete(into, "status")
	}
}
