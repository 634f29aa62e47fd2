package apiserver

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// openAPI answers /openapi/v3 and the paths below it. It lists paths, verbs and query
// parameters, and the kinds without their fields. kubectl reads there whether the server
// validates fields and supports dry runs; without it create, apply, replace and edit
// refuse. It returns nil for an unknown path.
func (s *Server) openAPI(path []string) map[string]any {
	if len(path) == 2 {
		paths := map[string]any{}
		for _, gv := range s.groupVersions() {
			at := strings.Join(apiPath(gv), "/")
			paths[at] = map[string]string{"serverRelativeURL": "/openapi/v3/" + at}
		}
		return map[string]any{"paths": paths}
	}
	for _, gv := range s.groupVersions() {
		if slices.Equal(path[2:], apiPath(gv)) {
			return s.openAPIOf(gv)
		}
	}
	return nil
}

// groupVersions are those of the resources, and the core's.
func (s *Server) groupVersions() []schema.GroupVersion {
	have := map[schema.GroupVersion]bool{{Version: "v1"}: true}
	for gvr := range s.resources {
		have[gvr.GroupVersion()] = true
	}
	return slices.Collect(maps.Keys(have))
}

func apiPath(gv schema.GroupVersion) []string {
	if gv.Group == "" {
		return []string{"api", gv.Version}
	}
	return []string{"apis", gv.Group, gv.Version}
}

// openAPIOf describes the resources of a group and version.
func (s *Server) openAPIOf(gv schema.GroupVersion) map[string]any {
	paths, schemas := map[string]any{}, map[string]any{}
	for gvr, r := range s.resources {
		if gvr.GroupVersion() != gv {
			continue
		}
		kind := metav1.GroupVersionKind(r.gvk)
		schemas[r.gvk.Kind] = map[string]any{
			"type": "object", "description": undescribed, "x-kubernetes-preserve-unknown-fields": true,
			"x-kubernetes-group-version-kind": []metav1.GroupVersionKind{kind},
		}
		operation := func(action string, parameters ...string) map[string]any {
			query := []map[string]any{}
			for _, name := range parameters {
				query = append(query, map[string]any{"name": name, "in": "query",
					"schema": map[string]string{"type": "string"}})
			}
			return map[string]any{
				"x-kubernetes-action": action, "x-kubernetes-group-version-kind": kind, "parameters": query,
				"responses": map[string]any{"200": map[string]string{"description": "OK"}},
			}
		}
		at := "/" + strings.Join(apiPath(gv), "/") + "/"
		all := at + gvr.Resource
		if r.namespaced {
			paths[all] = map[string]any{"get": operation("list", listParameters...)}
			all = at + "namespaces/{namespace}/" + gvr.Resource
		}
		paths[all] = map[string]any{
			"get":    operation("list", listParameters...),
			"post":   operation("post", writeParameters...),
			"delete": operation("deletecollection", append([]string{"dryRun"}, listParameters...)...),
		}
		one := map[string]any{
			"get":   operation("get"),
			"put":   operation("put", writeParameters...),
			"patch": operation("patch", writeParameters...),
		}
		if r.status {
			paths[all+"/{name}/status"] = maps.Clone(one)
		}
		one["delete"] = operation("delete", "dryRun")
		paths[all+"/{name}"] = one
	}
	return map[string]any{
		"openapi":    "3.0.0",
		"info":       map[string]string{"title": name, "version": serverVersion.GitVersion},
		"paths":      paths,
		"components": map[string]any{"schemas": schemas},
	}
}

// undescribed is the text that kubectl explain shows.
const undescribed = "This server of " + name +
	" does not describe fields: ask a cluster, or see " +
	"https://kubernetes.io/docs/reference/kubernetes-api/."

// The supported query parameters.
var (
	listParameters = []string{"allowWatchBookmarks", "continue", "fieldSelector", "labelSelector",
		"limit", "resourceVersion", "resourceVersionMatch", "sendInitialEvents", "timeoutSeconds",
		"watch"}
	writeParameters = []string{"dryRun", "fieldValidation"}
)

// respondJSON sends an answer that is not a Kubernetes object.
func respondJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	_ = json.NewEncoder(w).Encode(v) // fails only where the client is gone
}
