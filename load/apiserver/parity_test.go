package apiserver

import (
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informerbench/informerbench/load/apiserver/apitest"
	"github.com/informerbench/informerbench/load/synthetic"
)

// TestLikeARealServer sends the requests of apitest, for custom resources, which a real
// server has answered.
func TestLikeARealServer(t *testing.T) {
	t.Parallel()
	galaxies := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "galaxies"}
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
	apitest.Run(t, apitest.Server{Client: &http.Client{Transport: transport}, URL: s.URL()})
}
