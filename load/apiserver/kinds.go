package apiserver

import (
	_ "embed" // of the table
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

//go:embed kinds.yaml
var kindsText []byte

// kinds are the rules of the registries of Kubernetes' own resources (pkg/registry in
// kubernetes/kubernetes) that clients see; kinds.yaml explains each.
var kinds = func() (k struct {
	ClusterScoped              map[string][]string
	Conditional, Returned, All resources
	Short                      map[string]string
}) {
	if err := yaml.UnmarshalStrict(kindsText, &k); err != nil {
		panic(fmt.Sprintf("apiserver: kinds.yaml: %v", err))
	}
	return k
}()

// resources are named as kubectl does: "deployments.apps".
type resources []string

func (r resources) have(gvr schema.GroupVersionResource) bool {
	return slices.Contains(r, gvr.GroupResource().String())
}

func (r *resource) unconditional() bool { return !r.custom && !kinds.Conditional.have(r.gvr) }

func (r *resource) returnsDeleted() bool { return kinds.Returned.have(r.gvr) }
