package cache_test

import (
	"testing"

	"github.com/informerbench/informerbench/dropin/internal/upstream"
)

// controller-runtime's own tests of its cache, with our informer in the cache and our API server
// behind it.
func TestUpstream(t *testing.T) {
	t.Parallel()
	const starts = "starts a kube-apiserver and etcd; the bridge starts our API server"
	upstream.Suite{
		Theirs: "sigs.k8s.io/controller-runtime/pkg/cache",
		Ours:   "github.com/informerbench/informerbench/dropin/internal/ctrlcache",
		Files:  []string{"cache_test.go", "cache_suite_test.go"}, // the others are about controller-runtime's code alone
		Bridge: "testdata/bridge.go",
		Specs:  "TestSource",
		LeftOut: map[string]string{
			"cache_suite_test.go:_": starts,
			"testenv":               starts,
		},
	}.Run(t)
}
