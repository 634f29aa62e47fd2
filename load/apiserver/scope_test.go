package apiserver

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
)

// TestClusterScopedIsThatOfTheClientset: in a clientset the clients of kinds without a namespace
// are
// made without one. Those that can only be created, such as reviews of access, cannot be served.
func TestClusterScopedIsThatOfTheClientset(t *testing.T) {
	t.Parallel()
	want := map[string][]string{}
	clientset := reflect.TypeFor[kubernetes.Interface]()
	for i := range clientset.NumMethod() {
		group := clientset.Method(i) // such as CoreV1
		if group.Type.NumIn() > 0 || group.Name == "Discovery" {
			continue
		}
		clients := group.Type.Out(0)
		for j := range clients.NumMethod() {
			client := clients.Method(j) // such as Nodes
			if client.Type.NumIn() > 0 || client.Type.Out(0).Kind() != reflect.Interface {
				continue
			}
			if _, lists := client.Type.Out(0).MethodByName("List"); !lists {
				continue
			}
			kind := kindOf(t, group.Name, client.Name)
			if !slices.Contains(want[kind.Group], kind.Kind) {
				want[kind.Group] = append(want[kind.Group], kind.Kind)
			}
		}
	}
	for group, all := range want {
		slices.Sort(all)
		if got := kinds.ClusterScoped[group]; !slices.Equal(got, all) {
			t.Errorf("%q: %q, want %q", group, got, all)
		}
	}
	if len(want) != len(kinds.ClusterScoped) {
		t.Errorf("groups %q, want %q", slices.Sorted(maps.Keys(kinds.ClusterScoped)),
			slices.Sorted(maps.Keys(want)))
	}
}

// kindOf finds the kind that a client such as Nodes of CoreV1 is for.
func kindOf(t *testing.T, client, resource string) schema.GroupVersionKind {
	t.Helper()
	for kind := range scheme.Scheme.AllKnownTypes() {
		plural, _ := meta.UnsafeGuessKindToResource(kind)
		short, _, _ := strings.Cut(kind.Group, ".")
		if short == "" {
			short = "core"
		}
		if plural.Resource == strings.ToLower(resource) && strings.EqualFold(short+kind.Version, client) {
			return kind
		}
	}
	t.Fatalf("no kind for %s of %s", resource, client)
	return schema.GroupVersionKind{}
}
