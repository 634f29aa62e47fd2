package dropin_test

import (
	"testing"
)

// controller-runtime's own tests of its cache, with our informer in the cache and our API server
// behind it.
func TestUpstreamOfControllerRuntimeCache(t *testing.T) {
	t.Parallel()
	if next {
		t.Skip("controller-runtime v0.25.2's own fake informer has no SetShardSelector, and does not " +
			"compile with client-go v0.38")
	}
	const starts = "starts a kube-apiserver and etcd; the bridge starts our API server"
	const synced = "it wants an error because the context has ended, but the cache returns none if " +
		"the informer has synced by then"
	upstreamSuite{
		Theirs: "sigs.k8s.io/controller-runtime/pkg/cache",
		Ours:   "github.com/informerbench/informerbench/dropin/testdata/ctrlcache",
		// the others are about controller-runtime's code alone
		Files:  []string{"cache_test.go", "cache_suite_test.go"},
		Bridge: "testdata/ctrlcache_bridge_test.go",
		Specs:  "TestSource",
		LeftOut: map[string]string{
			"cache_suite_test.go:_": starts,
			"testenv":               starts,
		},
		Races: map[string]string{
			"should return an error when context is cancelled":                       synced,
			"should allow for get informer to be cancelled":                          synced,
			"should allow getting an informer by group/version/kind to be cancelled": synced,
		},
	}.Run(t)
}
