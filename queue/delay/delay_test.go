package delay_test

import (
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/informerbench/informerbench/queue/delay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// waiting is an item of the model.
type waiting struct {
	item byte
	at   time.Time
}

// FuzzQuadHeap reads its input as a program: each three bytes are a step and a time,
// which are done on the heap and on a sorted slice.
func FuzzQuadHeap(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0, 9, 1, 0, 3, 2, 0, 5, 1, 1, 1, 13, 3, 0, 13, 200, 0, 13, 200, 0})
	f.Add([]byte{0, 255, 7, 1, 128, 7, 2, 127, 7, 13, 255, 255, 3, 0, 7, 14, 1, 7, 14, 0, 7, 0, 0, 7,
		13, 0, 6})
	f.Fuzz(play)
}

// operand is one of 65,536 times: the first byte chooses how far they are from 1970, in
// nanoseconds to centuries, the second which of them.
func operand(scale, n byte) time.Time {
	if scale > 250 {
		return time.Date(int(n)*100, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Unix(0, (int64(n)-128)<<(scale%56))
}

func play(t *testing.T, program []byte) {
	h := delay.NewQuadHeap[byte]()
	var model []waiting // sorted by time
	for ; len(program) >= 3; program = program[3:] {
		step, when := program[0], operand(program[1], program[2])
		if item := step % 16; item < 12 {
			h.Add(item, when)
			i := slices.IndexFunc(model, func(w waiting) bool { return w.item == item })
			if i < 0 {
				model = append(model, waiting{item, when})
			} else if when.Before(model[i].at) {
				model[i].at = when
			}
			slices.SortFunc(model, func(a, b waiting) int { return a.at.Compare(b.at) })
		} else {
			item, ok := h.PopReady(when)
			if !ok && len(model) > 0 && !model[0].at.After(when) {
				t.Fatalf("PopReady(%v) hands out nothing; waiting: %v", when, model)
			}
			if ok {
				i := slices.IndexFunc(model, func(w waiting) bool { return w.item == item })
				if i < 0 || model[i].at.After(when) || model[i].at.After(model[0].at) {
					t.Fatalf("PopReady(%v) = %d; waiting: %v", when, item, model)
				}
				model = slices.Delete(model, i, i+1)
			}
		}
		if h.Len() != len(model) {
			t.Fatalf("Len() = %d, want %d", h.Len(), len(model))
		}
		next, ok := h.Next()
		if ok != (len(model) > 0) || ok && !next.Equal(model[0].at) {
			t.Fatalf("Next() = %v, %v; waiting: %v", next, ok, model)
		}
	}
}
