package apiserver

import (
	"cmp"
	"fmt"
	"net/http"
	goruntime "runtime"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// serverVersion is the Kubernetes version whose behaviour the server follows: that of
// client-go in go.mod.
var serverVersion = version.Info{Major: "1", Minor: "37", GitVersion: "v1.37.2+informerbench"}

// discover answers requests about the server rather than a resource, and reports whether
// this was one.
func (s *Server) discover(w http.ResponseWriter, req *http.Request, path []string) bool {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		return false
	}
	var obj runtime.Object
	switch p := strings.Join(path, "/"); {
	case p == "healthz", p == "readyz", p == "livez":
		fmt.Fprint(w, "ok")
		return true
	case p == "version":
		v := serverVersion
		v.GoVersion, v.Compiler, v.Platform = goruntime.Version(), goruntime.Compiler,
			goruntime.GOOS+"/"+goruntime.GOARCH
		respondJSON(w, v)
		return true
	case path[0] == "openapi" && len(path) >= 2 && path[1] == "v3":
		if doc := s.openAPI(path); doc != nil {
			respondJSON(w, doc)
			return true
		}
	case p == "api":
		obj = s.coreVersions()
	case p == "apis":
		obj = s.groups()
	case path[0] == "api" && len(path) == 2:
		obj = s.resourceList(schema.GroupVersion{Version: path[1]})
	case path[0] == "apis" && len(path) == 2:
		obj = s.group(path[1])
	case path[0] == "apis" && len(path) == 3:
		obj = s.resourceList(schema.GroupVersion{Group: path[1], Version: path[2]})
	default:
		return false
	}
	if obj == nil {
		s.writeError(w, req, s.notServed(path))
		return true
	}
	m, err := s.negotiate(req, nil, false)
	if err != nil {
		s.writeError(w, req, err)
		return true
	}
	s.respond(w, m, http.StatusOK, obj)
	return true
}

// coreVersions is /api. It exists even if the core group is empty, because clients ask for
// both.
func (s *Server) coreVersions() runtime.Object {
	versions := &metav1.APIVersions{Versions: []string{"v1"}}
	versions.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "APIVersions"})
	return versions
}

// groups is /apis: every group but the core.
func (s *Server) groups() runtime.Object {
	list := &metav1.APIGroupList{Groups: []metav1.APIGroup{}}
	list.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "APIGroupList"})
	var names []string
	for gvr := range s.resources {
		if gvr.Group != "" && !slices.Contains(names, gvr.Group) {
			names = append(names, gvr.Group)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		list.Groups = append(list.Groups, *s.group(name).(*metav1.APIGroup))
	}
	return list
}

// group is /apis/GROUP; nil if the server does not have the group.
func (s *Server) group(group string) runtime.Object {
	var versions []string
	for gvr := range s.resources {
		if gvr.Group == group && !slices.Contains(versions, gvr.Version) {
			versions = append(versions, gvr.Version)
		}
	}
	if group == "" || len(versions) == 0 {
		return nil
	}
	slices.SortFunc(versions, func(a, b string) int {
		return version.CompareKubeAwareVersionStrings(b, a)
	})
	g := &metav1.APIGroup{Name: group}
	g.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "APIGroup"})
	for _, v := range versions {
		g.Versions = append(g.Versions,
			metav1.GroupVersionForDiscovery{GroupVersion: group + "/" + v, Version: v})
	}
	g.PreferredVersion = g.Versions[0]
	return g
}

// resourceList is /api/v1 and /apis/GROUP/VERSION; nil for a version that the server does
// not have, except the core's.
func (s *Server) resourceList(gv schema.GroupVersion) runtime.Object {
	list := &metav1.APIResourceList{GroupVersion: gv.String(), APIResources: []metav1.APIResource{}}
	list.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "APIResourceList"})
	for gvr, r := range s.resources {
		if gvr.GroupVersion() != gv {
			continue
		}
		var short, categories []string
		if name, ok := kinds.Short[gvr.GroupResource().String()]; ok {
			short = []string{name}
		}
		if kinds.All.have(gvr) {
			categories = []string{"all"}
		}
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: gvr.Resource, SingularName: strings.ToLower(r.gvk.Kind), Namespaced: r.namespaced,
			Kind: r.gvk.Kind,
			Verbs: metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch",
				"update", "watch"},
			ShortNames: short, Categories: categories,
		})
		if r.status {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: gvr.Resource + "/status", Namespaced: r.namespaced, Kind: r.gvk.Kind,
				Verbs: metav1.Verbs{"get", "patch", "update"},
			})
		}
	}
	if len(list.APIResources) == 0 && gv != (schema.GroupVersion{Version: "v1"}) {
		return nil
	}
	slices.SortFunc(list.APIResources, func(a, b metav1.APIResource) int {
		return cmp.Compare(a.Name, b.Name)
	})
	return list
}
