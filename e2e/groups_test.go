package e2e

import (
	"encoding/json"
	"net/http"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// withGroups answers /apis, the list of groups, in front of the server's own handler.
// In a cluster kube-aggregator answers it, so the apiextensions-apiserver does not.
// Discovery needs it: that of benchrun record and that of controller-runtime.
func withGroups(next http.Handler) http.Handler {
	groups := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroupList"}}
	for _, gv := range []schema.GroupVersion{apiextensionsv1.SchemeGroupVersion,
		widgets.GroupVersion()} {
		version := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
		groups.Groups = append(groups.Groups,
			metav1.APIGroup{Name: gv.Group, Versions: []metav1.GroupVersionForDiscovery{version},
				PreferredVersion: version})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis" {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(groups) // a client that has gone needs no answer
	})
}
