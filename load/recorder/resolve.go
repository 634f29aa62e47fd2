package recorder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/informerbench/informerbench/load"
)

var errNoResource = errors.New(
	"no resource is asked for: use --resource with one or more, such as pods,deployments.apps")

// candidate is a resource that the cluster serves.
type candidate struct {
	load.TraceResource
	names     []string // accepted names, without the group
	watchable bool
	preferred bool // of the server's preferred version
}

// Resolve finds resources by the names used with kubectl: plural, singular, kind or short
// name, with or without group ("deployments.apps", "deploy", "deployments.v1.apps"). If
// several groups have a name, the first that the server lists is taken, which is the core
// group if it is one of them. Duplicates are removed. The error lists the
// resources that can be recorded.
func (c *Cluster) Resolve(ctx context.Context, names []string) ([]load.TraceResource, error) {
	if len(names) == 0 {
		return nil, errNoResource
	}
	have, err := c.candidates(ctx)
	if err != nil {
		return nil, c.hide(err)
	}
	var out []load.TraceResource
	for _, name := range names {
		found, err := pick(have, name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, found) {
			out = append(out, found)
		}
	}
	return out, nil
}

func pick(have []candidate, name string) (load.TraceResource, error) {
	version, group := schema.ParseResourceArg(name)
	var unwatchable *candidate
	for i, c := range have {
		// "deployments.v1.apps" is a resource with version and group, "a.b.example.com" one
		// of group b.example.com: both readings are tried.
		full := version != nil && c.is(version.Resource) && c.Version == version.Version &&
			c.Group == version.Group
		short := c.is(group.Resource) && (group.Group == "" || group.Group == c.Group) && c.preferred
		switch {
		case !full && !short:
		case c.watchable:
			return c.TraceResource, nil
		case unwatchable == nil:
			unwatchable = &have[i]
		}
	}
	if unwatchable != nil {
		return load.TraceResource{},
			fmt.Errorf("resource %q: the server lets nobody list and watch %s", name,
				unwatchable.TraceResource)
	}
	return load.TraceResource{}, fmt.Errorf("unknown resource %q: %s", name, watchable(have))
}

func (c *candidate) is(name string) bool {
	return slices.Contains(c.names, strings.ToLower(name))
}

// candidates asks the server for its resources. Groups that do not answer are left out.
func (c *Cluster) candidates(ctx context.Context) ([]candidate, error) {
	type answer struct {
		groups []*metav1.APIGroup
		lists  []*metav1.APIResourceList
	}
	found, err := patiently(ctx, func() (a answer, err error) {
		a.groups, a.lists, err = discovery.ToDiscoveryInterfaceWithContext(
			c.Discovery).ServerGroupsAndResourcesWithContext(ctx)
		return a, err
	})
	groups, lists := found.groups, found.lists
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) || len(groups) == 0 {
		return nil, c.unreachable(err)
	}
	preferred := map[string]bool{}
	for _, g := range groups {
		// A resource that is not in the preferred version is found in the first version
		// that has it.
		preferred[g.PreferredVersion.GroupVersion] = true
	}
	var out []candidate
	for _, g := range groups {
		versions := firstThose(g.Versions, func(v metav1.GroupVersionForDiscovery) bool {
			return preferred[v.GroupVersion]
		})
		seen := map[string]bool{}
		for _, v := range versions {
			for _, list := range lists {
				if list.GroupVersion != v.GroupVersion {
					continue
				}
				for _, r := range list.APIResources {
					if strings.Contains(r.Name, "/") {
						continue // a subresource
					}
					out = append(out, candidate{
						TraceResource: load.TraceResource{Group: g.Name, Version: v.Version, Resource: r.Name,
							Kind: r.Kind, Namespaced: r.Namespaced},
						names:     lower(append([]string{r.Name, r.SingularName, r.Kind}, r.ShortNames...)),
						watchable: slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "watch"),
						preferred: !seen[r.Name],
					})
					seen[r.Name] = true
				}
			}
		}
	}
	return firstThose(out, func(c candidate) bool { return c.Group == "" }), nil // the core group
}

func (c *Cluster) unreachable(err error) error {
	switch {
	case err == nil:
		return fmt.Errorf(
			"the server at %s serves no API: is it an apiserver? Check --kubeconfig and --context", c.Host)
	case apierrors.IsNotFound(err):
		return fmt.Errorf(
			"the server at %s has no /api: it is no apiserver; check --kubeconfig and --context", c.Host)
	case apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err):
		return fmt.Errorf("the cluster at %s does not let us in: %w; check the kubeconfig's user", c.Host,
			err)
	}
	return fmt.Errorf("the cluster at %s cannot be reached: %w; check --kubeconfig and --context",
		c.Host, err)
}

// firstThose puts those that are chosen before the others, in a slice of its own.
func firstThose[T any](of []T, chosen func(T) bool) []T {
	others := func(v T) bool { return !chosen(v) }
	return append(slices.DeleteFunc(slices.Clone(of), others),
		slices.DeleteFunc(slices.Clone(of), chosen)...)
}

func lower(names []string) []string {
	var out []string
	for _, n := range names {
		if n != "" {
			out = append(out, strings.ToLower(n))
		}
	}
	return out
}

// watchable lists the resources that can be recorded.
func watchable(have []candidate) string {
	var all []string
	for _, c := range have {
		if c.watchable && c.preferred {
			all = append(all, c.String())
		}
	}
	slices.Sort(all)
	return "the server has " + strings.Join(slices.Compact(all), ", ")
}
