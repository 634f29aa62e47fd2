package apiserver

import (
	"net/http"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informerbench/informerbench/load/synthetic"
)

// TestBuiltInKinds checks where the answers for Kubernetes' own resources differ from those
// for custom ones, and where they are the same. parityCases has the custom ones.
func TestBuiltInKinds(t *testing.T) {
	t.Parallel()
	leases := coordinationv1.SchemeGroupVersion.WithResource("leases")
	roles := rbacv1.SchemeGroupVersion.WithResource("clusterroles")
	namespaces := corev1.SchemeGroupVersion.WithResource("namespaces")
	sources := map[schema.GroupVersionResource]*synthetic.Source{
		Pods:       synthetic.NewSource(nil, synthetic.SourceOptions{Example: &corev1.Pod{}}),
		Nodes:      synthetic.NewSource(nil, synthetic.SourceOptions{Example: &corev1.Node{}}),
		leases:     synthetic.NewSource(nil, synthetic.SourceOptions{Example: &coordinationv1.Lease{}}),
		roles:      synthetic.NewSource(nil, synthetic.SourceOptions{Example: &rbacv1.ClusterRole{}}),
		namespaces: synthetic.NewSource(nil, synthetic.SourceOptions{Example: &corev1.Namespace{}}),
	}
	s := must[*Server](t)(New(sources, Options{}))
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Stop()
		for _, source := range sources {
			source.Stop()
		}
	})
	const (
		pods  = "/api/v1/namespaces/a/pods"
		lease = "/apis/coordination.k8s.io/v1/namespaces/a/leases"
		role  = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
		held  = `{"metadata":{"name":"h","finalizers":["example.com/a"]}}`
	)
	merge := string(types.MergePatchType)
	for _, c := range []struct {
		method, path, contentType, body string
		code                            int
		has                             string
	}{
		{"POST", pods, "", `{"metadata":{"name":"p"}}`, 201, ""},
		{"PUT", pods + "/p", "", `{"metadata":{"name":"p","labels":{"a":"b"}}}`, 200, `"a":"b"`},
		{"PUT", pods + "/p", "", `{"metadata":{"name":"p","resourceVersion":"0","labels":{"a":"c"}}}`,
			200, `"a":"c"`},
		{"PUT", pods + "/p/status", "", `{"metadata":{"name":"p"},"status":{"phase":"Failed"}}`, 200,
			"Failed"},
		{"PATCH", pods + "/p", merge, `{"metadata":{"resourceVersion":null}}`, 200, ""},
		{"PATCH", pods + "/p?force=true", merge, `{}`, 422, "force"},
		{"PATCH", pods + "/p", merge, `{"metadata":{"uid":"x"}}`, 422, "immutable"},
		{"PATCH", pods + "/p", merge, `{"spec":{"containers":7}}`, 422, "patch"},
		{"POST", pods, "", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}`, 400,
			"cannot be handled as a Pod"},
		{"POST", pods, "", `{"apiVersion":"v1","kind":"Nope","metadata":{"name":"n"}}`, 400, ""},
		{"POST", pods, "", `{"apiVersion":"v2","kind":"Pod","metadata":{"name":"n"}}`, 400, ""},
		{"HEAD", pods + "/p", "", "", 405, ""},
		{"HEAD", pods, "", "", 405, ""},
		{"PUT", pods, "", `{}`, 405, ""},
		{"POST", "/api/v1/pods", "", `{"metadata":{"name":"q"}}`, 405, ""},
		{"DELETE", "/api/v1/pods", "", "", 405, ""},
		{"DELETE", pods + "/p?dryRun=All", "", "", 200, `"kind":"Pod"`},
		{"DELETE", pods + "/p", "", "", 200, `"kind":"Pod"`},
		{"GET", pods + "/p", "", "", 404, ""},
		{"POST", pods, "", held, 201, ""},
		{"DELETE", pods + "/h", "", "", 200, "deletionTimestamp"},
		{"PATCH", pods + "/h", merge, `{"metadata":{"finalizers":["example.com/a","example.com/b"]}}`,
			422, "no new finalizers"},
		{"PATCH", pods + "/h", merge, `{"metadata":{"finalizers":null}}`, 200, `"kind":"Pod"`},
		{"GET", pods + "/h", "", "", 404, ""},
		{"POST", "/api/v1/namespaces/../pods", "", `{"metadata":{"name":"p"}}`, 422,
			"metadata.namespace"},
		{"GET", "/api/v1/namespaces/../pods", "", "", 400, ""},
		{"POST", pods, "", `{"metadata":{"name":"P"}}`, 422, "metadata.name"},
		{"POST", "/api/v1/nodes", "", `{"metadata":{"name":"n","namespace":"a"}}`, 201, ""},
		{"POST", "/api/v1/nodes", "", `{"metadata":{"name":".."}}`, 422, ""},
		{"PUT", "/api/v1/nodes/n", "", `{"metadata":{"name":"n","labels":{"a":"b"}}}`, 200, ""},
		{"GET", "/api/v1/nodes?fieldSelector=metadata.namespace=a", "", "", 400,
			"field label not supported"},
		{"GET", "/api/v1/nodes/%2e%2e", "", "", 400, "may not be"},
		{"DELETE", "/api/v1/nodes/n", "", "", 200, `"kind":"Status"`},
		{"POST", "/api/v1/nodes", "", held, 201, ""},
		{"DELETE", "/api/v1/nodes/h", "", "", 200, `"kind":"Node"`},
		{"POST", "/api/v1/namespaces", "", `{"metadata":{"name":"a.b"}}`, 422, "metadata.name"},
		{"POST", lease, "", `{"metadata":{"name":"l"}}`, 201, ""},
		{"PUT", lease + "/l", "", `{"metadata":{"name":"l"}}`, 422, "must be specified for an update"},
		{"POST", role, "", `{"metadata":{"name":"system:Node"}}`, 201, ""},
		{"POST", role, "", `{"metadata":{"name":"a/b"}}`, 422, "may not contain"},
		{"PUT", role + "/system:Node", "", `{"metadata":{"name":"system:Node"}}`, 200, ""},
	} {
		if c.contentType == "" {
			c.contentType = runtime.ContentTypeJSON
		}
		got := request(t, c.method, s.URL()+c.path, c.body, "Content-Type", c.contentType)
		if got.code != c.code || !strings.Contains(string(got.body), c.has) {
			t.Errorf("%s %s %s: %d %s, want %d with %q", c.method, c.path, c.body, got.code, got.body,
				c.code, c.has)
		}
		if c.code == http.StatusMethodNotAllowed && c.method != http.MethodHead &&
			!strings.Contains(string(got.body), string(metav1.StatusReasonMethodNotAllowed)) {
			t.Errorf("%s %s: %s, want a Status", c.method, c.path, got.body)
		}
	}
}

// TestRecordedKinds: the unstructured pods of a replayed recording are pods and not custom
// resources; a Go type of a program's own group is one.
func TestRecordedKinds(t *testing.T) {
	t.Parallel()
	source := synthetic.NewSource(nil, synthetic.SourceOptions{Example: widget("", "", 0)})
	t.Cleanup(source.Stop)
	recorded := widget("", "", 0)
	recorded.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	pods := synthetic.NewSource(nil, synthetic.SourceOptions{Example: recorded})
	t.Cleanup(pods.Stop)
	s := must[*Server](t)(
		New(map[schema.GroupVersionResource]*synthetic.Source{widgets: source, Pods: pods}, Options{}))
	defer s.Stop()
	if r := s.resources[Pods]; r.custom || !r.unconditional() || !r.returnsDeleted() {
		t.Errorf("recorded pods: %+v, want them to be pods", r)
	}
	if r := s.resources[widgets]; !r.custom || r.unconditional() || r.returnsDeleted() {
		t.Errorf("widgets: %+v, want them to be custom resources", r)
	}
}

// TestTypedCustomKind: a custom resource for which the program has a Go type.
func TestTypedCustomKind(t *testing.T) {
	t.Parallel()
	things := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}
	known := runtime.NewScheme()
	known.AddKnownTypeWithName(things.GroupVersion().WithKind("Thing"), &corev1.ConfigMap{})
	known.AddKnownTypeWithName(things.GroupVersion().WithKind("ThingList"), &corev1.ConfigMapList{})
	known.AddKnownTypeWithName(things.GroupVersion().WithKind("Other"), &corev1.Secret{})
	source := synthetic.NewSource(nil, synthetic.SourceOptions{Example: &corev1.ConfigMap{}})
	t.Cleanup(source.Stop)
	s := must[*Server](t)(
		New(map[schema.GroupVersionResource]*synthetic.Source{things: source}, Options{Scheme: known}))
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	at := s.URL() + "/apis/example.com/v1/namespaces/a/things"
	for _, c := range []struct {
		method, path, body string
		code               int
		has                string
	}{
		{"POST", "", `{"metadata":{"name":"t"},"data":{"a":"b"}}`, 201, `"generation":1`},
		{"POST", "", `{"apiVersion":"example.com/v1","kind":"Other","metadata":{"name":"o"}}`, 422,
			"must be Thing"},
		{"POST", "", `{"apiVersion":"example.com/v2","kind":"Thing","metadata":{"name":"o"}}`, 400, ""},
		{"PUT", "/t", `{"metadata":{"name":"t"}}`, 422, "must be specified for an update"},
		{"PATCH", "/t", `{"metadata":{"labels":{"a":"b"}}}`, 200, `"generation":1`},
		{"PATCH", "/t", `{"data":{"a":"c"}}`, 200, `"generation":2`},
		{"PATCH", "/t", `{"kind":"Other"}`, 422, ""},
		{"DELETE", "/t", "", 200, `"kind":"Status"`},
	} {
		contentType := runtime.ContentTypeJSON
		if c.method == http.MethodPatch {
			contentType = string(types.MergePatchType)
		}
		got := request(t, c.method, at+c.path, c.body, "Content-Type", contentType)
		if got.code != c.code || !strings.Contains(string(got.body), c.has) {
			t.Errorf("%s %s %s: %d %s, want %d with %q", c.method, c.path, c.body, got.code, got.body,
				c.code, c.has)
		}
	}
}
