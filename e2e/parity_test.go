package e2e

// The table against which serve-api is tested, asked of the real server.

import (
	"encoding/json"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informerbench/informerbench/load/apiserver/apitest"
)

// TestParity sends the requests of apitest to the real server. serve-api has to answer the
// same requests alike, or the table says why it does not: if the table is wrong about the
// real server, this test fails.
func TestParity(t *testing.T) {
	c := newCluster(t)
	for _, definition := range apitest.Definitions() {
		var crd apiextensionsv1.CustomResourceDefinition
		must(t, json.Unmarshal([]byte(definition), &crd))
		must1(c.crds.ApiextensionsV1().CustomResourceDefinitions().Create(t.Context(), &crd,
			metav1.CreateOptions{}))(t)
		c.awaitStreaming(schema.GroupVersionResource{Group: crd.Spec.Group,
			Version: crd.Spec.Versions[0].Name, Resource: crd.Spec.Names.Plural})
	}
	config := c.restConfig(c.direct)
	apitest.Run(t, apitest.Server{Client: must1(rest.HTTPClientFor(config))(t), URL: config.Host,
		Real: true})
}

// awaitStreaming waits until the server answers a streaming list, which it does from a
// filled watch cache alone. An empty resource has no other sign of that.
func (c *cluster) awaitStreaming(resource schema.GroupVersionResource) {
	c.t.Helper()
	eventually(c.t, resource.Resource+" are served from the watch cache", func() error {
		w, err := c.dynamic.Resource(resource).Watch(c.t.Context(), metav1.ListOptions{
			SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
			AllowWatchBookmarks: true,
		})
		if err == nil {
			w.Stop()
		}
		return err
	})
}
