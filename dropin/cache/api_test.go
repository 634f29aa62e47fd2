package cache_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/informerbench/informerbench/dropin/internal/api"
	"github.com/informerbench/informerbench/dropin/internal/forward"
)

// Whatever a program takes from client-go's package is here.
func TestNothingIsMissing(t *testing.T) {
	t.Parallel()
	missing, err := api.Missing("github.com/informerbench/informerbench/dropin/cache", "k8s.io/client-go/tools/cache")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range missing {
		t.Error(m)
	}
}

// forwards.go is what the program writes for the client-go of go.mod.
func TestForwardsAreTrue(t *testing.T) {
	t.Parallel()
	want, err := forward.Generate(".", "forwards.go", "k8s.io/client-go/tools/cache")
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("forwards.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Error("forwards.go is stale: run go generate ./dropin/cache")
	}
}
