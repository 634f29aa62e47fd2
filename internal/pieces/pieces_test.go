package pieces

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A list against a slice, over the borders of its pieces and back.
func TestAgainstSlice(t *testing.T) {
	t.Parallel()
	var l List[*int]
	var model []*int
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1, pieceLen, pieceLen + 1, 5 * pieceLen, 3*pieceLen - 1, 100 * pieceLen,
		0, 2} {
		for len(model) < size {
			v := new(int)
			l.Push(v)
			model = append(model, v)
		}
		for len(model) > size {
			l.Pop()
			model = model[:len(model)-1]
		}
		for range 100 {
			if size == 0 {
				break
			}
			i := rnd.IntN(size)
			if *l.At(uint32(i)) != model[i] {
				t.Fatalf("element %d of %d is another", i, size)
			}
			four := l.Four(uint32(i &^ 3))
			if !slices.Equal(four, model[i&^3:min(i&^3+4, size)]) {
				t.Fatalf("the four from %d of %d are others", i&^3, size)
			}
		}
		if most := size/pieceLen + 2; len(l.of) > most || l.n != size {
			t.Errorf("with %d elements (it counts %d) it has %d pieces, want at most %d", size, l.n,
				len(l.of), most)
		}
		for _, piece := range l.of {
			for _, v := range piece[len(piece):cap(piece)] {
				if v != nil {
					t.Fatal("what was popped is still referenced")
				}
			}
		}
	}
}
