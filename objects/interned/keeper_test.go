package interned_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informerbench/informerbench/objects/interned"
)

// TestKeepChangesNoValue keeps pods of templates, each twice, and compares them with what they
// were.
func TestKeepChangesNoValue(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{false, true} {
		pods := podsOf(300, own)
		for _, c := range codecs {
			keeper := interned.New(interned.Options{})
			for i, e := range c.encodeAll(pods) {
				obj := c.decode(e)
				want := obj.(runtime.Object).DeepCopyObject()
				for range 2 {
					if kept := keeper.Keep(obj); kept != obj || !equality.Semantic.DeepEqual(kept, want) {
						t.Fatalf("%s, own %t, pod %d: %v became %v", c.name, own, i, want, kept)
					}
				}
			}
		}
	}
}
