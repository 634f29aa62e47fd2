package memory

import (
	"fmt"
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/informerbench/informerbench/load/synthetic"
)

// sampleOf are n synthetic objects, each on its own.
func sampleOf(t *testing.T, kind synthetic.ObjectKind, n int) *Sampler {
	t.Helper()
	s := NewSampler(DefaultSample)
	for _, obj := range synthetic.Generate(synthetic.ObjectSpec{Kind: kind, Count: n}, 1).All() {
		name := "Pod"
		if _, ok := obj.(*corev1.Node); ok {
			name = "Node"
		}
		if err := s.AddObject(obj, corev1.SchemeGroupVersion.WithKind(name)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// What the walk counts is what the heap grows by, in every form.
func TestWalkAgreesWithTheHeap(t *testing.T) {
	for _, c := range []struct {
		kind synthetic.ObjectKind
		n    int
	}{{synthetic.KindPod, 1500}, {synthetic.KindNode, 700}, {synthetic.KindSmall, 3000}} {
		for _, form := range Forms {
			t.Run(fmt.Sprint(c.kind, " ", form), func(t *testing.T) {
				r, err := Measure(t.Context(), sampleOf(t, c.kind, c.n), Options{Form: form})
				if err != nil {
					t.Fatal(err)
				}
				k := r.Kinds[0]
				off := float64(k.Walked)/float64(k.Measured()) - 1
				t.Logf("walked %d, measured %d: %+.1f%%", k.Walked, k.Measured(), 100*off)
				if math.Abs(off) > 0.05 {
					t.Errorf("off by %.1f%%", 100*off)
				}
			})
		}
	}
}
