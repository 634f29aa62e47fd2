package apiserver

import (
	"net/http"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/informerbench/informerbench/load/synthetic"
)

var galaxies = schema.GroupVersionResource{Group: "example.com", Version: "v1",
	Resource: "galaxies"}

// TestLikeARealServer sends the requests of parityCases, for custom resources, which a real
// server has answered.
func TestLikeARealServer(t *testing.T) {
	t.Parallel()
	galaxy := &unstructured.Unstructured{
		Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Galaxy"}}
	sources := map[schema.GroupVersionResource]*synthetic.Source{
		widgets: synthetic.NewSource(nil,
			synthetic.SourceOptions{Example: widget("", "", 0), SelectableFields: []string{".spec.color"}}),
		galaxies: synthetic.NewSource(nil, synthetic.SourceOptions{Example: galaxy}),
	}
	s := must[*Server](t)(
		New(sources, Options{ClusterScoped: map[schema.GroupVersionResource]bool{galaxies: true}}))
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		s.Stop()
		for _, source := range sources {
			source.Stop()
		}
	})
	runParity(t, parityServer{Client: &http.Client{Transport: transport}, URL: s.URL()})
}

// TestRealServer sends them to the real server that PARITY_KUBECONFIG leads to: it fails if the
// table is wrong about that one. It leaves its objects and their definitions there.
func TestRealServer(t *testing.T) {
	path := os.Getenv("PARITY_KUBECONFIG")
	if path == "" {
		t.Skip("PARITY_KUBECONFIG names no kubeconfig of a real server")
	}
	config := must[*rest.Config](t)(clientcmd.BuildConfigFromFlags("", path))
	config.QPS = -1
	web := must[*http.Client](t)(rest.HTTPClientFor(config))
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(web.Transport) })
	client := must[*dynamic.DynamicClient](t)(dynamic.NewForConfigAndClient(config, web))
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
		Resource: "customresourcedefinitions"}
	for _, definition := range parityDefinitions() {
		crd := &unstructured.Unstructured{}
		if err := crd.UnmarshalJSON([]byte(definition)); err != nil {
			t.Fatal(err)
		}
		must[*unstructured.Unstructured](t)(
			client.Resource(crds).Create(t.Context(), crd, metav1.CreateOptions{}))
	}
	for _, resource := range []schema.GroupVersionResource{widgets, galaxies} {
		// A streaming list is answered from a filled watch cache alone. An empty resource has no
		// other sign of that.
		eventually(t, resource.Resource+" are served from the watch cache", func() bool {
			w, err := client.Resource(resource).Watch(t.Context(), metav1.ListOptions{
				SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
				AllowWatchBookmarks: true,
			})
			if err == nil {
				w.Stop()
			}
			return err == nil
		})
	}
	runParity(t, parityServer{Client: web, URL: config.Host, Real: true})
}
