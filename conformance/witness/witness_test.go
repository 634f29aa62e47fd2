package witness_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informerbench/informerbench/conformance/witness"
)

func pod(name, version string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: version}}
}

// Each history names the clauses that it breaks, in order.
func TestHistories(t *testing.T) {
	a1, a2, a3 := pod("a", "1"), pod("a", "2"), pod("a", "3")
	type call = witness.Call[*corev1.Pod]
	told := func(kind witness.Kind, objs ...*corev1.Pod) call {
		c := call{Kind: kind, Key: "ns/a", New: objs[len(objs)-1]}
		if len(objs) > 1 {
			c.Old = objs[0]
		}
		return c
	}
	const added, updated = witness.Added, witness.Updated
	const deleted, buried = witness.Deleted, witness.Tombstone
	for name, c := range map[string]struct {
		calls []call
		want  []string
	}{
		"a life": {[]call{told(added, a1), told(updated, a1, a2), told(deleted, a3)},
			nil},
		"a tombstone":          {[]call{told(added, a1), told(buried, a1)}, nil},
		"two lives":            {[]call{told(added, a1), told(deleted, a2), told(added, a3)}, nil},
		"added twice":          {[]call{told(added, a1), told(added, a2)}, []string{"INFORMER-3"}},
		"updated from nothing": {[]call{told(updated, a1, a2)}, []string{"INFORMER-3"}},
		"deleted twice": {[]call{told(added, a1), told(deleted, a1), told(deleted, a1)},
			[]string{"INFORMER-3"}},
		"another old object": {[]call{told(added, a1), told(updated, a2, a3)},
			[]string{"INFORMER-5"}},
		"back in time": {[]call{told(added, a2), told(updated, a2, a1)},
			[]string{"INFORMER-5"}},
		"an update without a change": {[]call{told(added, a1), told(updated, a1, a1)}, nil},
		"an older final state": {[]call{told(added, a2), told(deleted, a1)},
			[]string{"INFORMER-6"}},
		"a tombstone of another": {[]call{told(added, a2), told(buried, a1)}, []string{"INFORMER-7"}},
	} {
		t.Run(name, func(t *testing.T) {
			view := witness.NewView(func(a, b *corev1.Pod) bool { return a == b })
			var clauses []string
			for _, call := range c.calls {
				for _, p := range view.Tell(call) {
					clauses = append(clauses, p.Clause)
				}
			}
			if !slices.Equal(clauses, c.want) {
				t.Errorf("got %q, want %v", clauses, c.want)
			}
		})
	}
}
