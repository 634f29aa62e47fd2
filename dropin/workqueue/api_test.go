package workqueue_test

import (
	"testing"

	"github.com/informerbench/informerbench/dropin/internal/api"
)

// Whatever a program takes from client-go's package is here.
func TestNothingIsMissing(t *testing.T) {
	t.Parallel()
	missing, err := api.Missing("github.com/informerbench/informerbench/dropin/workqueue", "k8s.io/client-go/util/workqueue")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range missing {
		t.Error(m)
	}
}
