// Package dropin holds nothing but tests: they compare the core's drop-ins with the packages
// of client-go that they stand in for. The tests need the conformance suites and go/packages,
// which a program that imports the core does not.
package dropin_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/informerbench/informerbench/dropin/internal/api"
	"github.com/informerbench/informerbench/dropin/internal/forward"
)

//go:generate go run ./internal/forward/run -from k8s.io/client-go/tools/cache ../dropin/cache/forwards.go

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Whatever a program takes from client-go's packages is here.
func TestNothingIsMissing(t *testing.T) {
	t.Parallel()
	for ours, theirs := range map[string]string{
		"github.com/informerbench/informerbench/dropin/cache":     "k8s.io/client-go/tools/cache",
		"github.com/informerbench/informerbench/dropin/workqueue": "k8s.io/client-go/util/workqueue",
	} {
		missing, err := api.Missing(ours, theirs)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range missing {
			t.Error(m)
		}
	}
}

// forwards.go is what the program writes for the client-go of go.mod.
func TestForwardsAreTrue(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "core", "dropin", "cache")
	want, err := forward.Generate(dir, "forwards.go", "k8s.io/client-go/tools/cache")
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(dir, "forwards.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Error("forwards.go is stale: go generate ./dropin")
	}
}
