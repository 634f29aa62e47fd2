package delay_test

import (
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/delay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// structure is one of the package's, with items of type T.
type structure[T comparable] struct {
	name      string
	construct func() contract.DelayHeap[T]
}

func structures[T comparable]() []structure[T] {
	return []structure[T]{
		{"binaryheap", func() contract.DelayHeap[T] { return delay.NewBinaryHeap[T]() }},
		{"quadheap", func() contract.DelayHeap[T] { return delay.NewQuadHeap[T]() }},
	}
}

// waiting is an item of the model.
type waiting struct {
	item byte
	at   time.Time
}

// FuzzStructures reads its input as a program: each three bytes are a step and a time,
// which are done on every structure and on a sorted slice.
func FuzzStructures(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0, 9, 1, 0, 3, 2, 0, 5, 1, 1, 1, 13, 3, 0, 13, 200, 0, 13, 200, 0})
	f.Add([]byte{0, 255, 7, 1, 128, 7, 2, 127, 7, 13, 255, 255, 3, 0, 7, 14, 1, 7, 14, 0, 7, 0, 0, 7,
		13, 0, 6})
	f.Fuzz(func(t *testing.T, program []byte) {
		for _, s := range structures[byte]() {
			play(t, s, program)
		}
	})
}

// operand is one of 65,536 times: the first byte chooses how far they are from 1970, in
// nanoseconds to centuries, the second which of them.
func operand(scale, n byte) time.Time {
	if scale > 250 {
		return time.Date(int(n)*100, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Unix(0, (int64(n)-128)<<(scale%56))
}

func play(t *testing.T, s structure[byte], program []byte) {
	h := s.construct()
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
				t.Fatalf("%s: PopReady(%v) hands out nothing; waiting: %v", s.name, when, model)
			}
			if ok {
				i := slices.IndexFunc(model, func(w waiting) bool { return w.item == item })
				if i < 0 || model[i].at.After(when) || model[i].at.After(model[0].at) {
					t.Fatalf("%s: PopReady(%v) = %d; waiting: %v", s.name, when, item, model)
				}
				model = slices.Delete(model, i, i+1)
			}
		}
		if h.Len() != len(model) {
			t.Fatalf("%s: Len() = %d, want %d", s.name, h.Len(), len(model))
		}
		next, ok := h.Next()
		if ok != (len(model) > 0) || ok && !next.Equal(model[0].at) {
			t.Fatalf("%s: Next() = %v, %v; waiting: %v", s.name, next, ok, model)
		}
	}
}
