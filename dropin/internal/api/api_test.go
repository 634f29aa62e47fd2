package api

import (
	"slices"
	"strings"
	"testing"
)

// queue/workqueue has names in common with client-go's package, and other types under them.
func TestDifferencesAreSeen(t *testing.T) {
	t.Parallel()
	missing, err := Missing("github.com/informerbench/informerbench/queue/workqueue",
		"k8s.io/client-go/util/workqueue")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"NewTyped: missing",
		"Queue.Touch: missing, want (string) ()",
		"New: (Config[T]) (*Queue[T]) T comparable, want () (*Type)",
	} {
		if !slices.Contains(missing, want) {
			t.Errorf("no %q among\n%s", want, strings.Join(missing, "\n"))
		}
	}
	if _, err := Missing("nowhere.example/at/all", "fmt"); err == nil {
		t.Error("a package that does not exist: no error")
	}
}
