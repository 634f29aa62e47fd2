package delay_test

import (
	"slices"
	"testing"
	"time"

	"github.com/informerbench/informerbench/conformance/delaytest"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/delay"
)

func newHeap() contract.DelayHeap[string] { return delay.NewBinaryHeap[string]() }

func TestBinaryHeapKeepsTheClauses(t *testing.T) { delaytest.Run(t, newHeap) }

// FuzzHeap reads its input as a program: each pair of bytes is a step and its
// operand, done on the heap and on a sorted slice.
func FuzzHeap(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 9, 1, 3, 2, 5, 1, 1, 3, 0, 3, 200, 3, 200})
	f.Add([]byte{0, 7, 1, 7, 2, 7, 3, 7, 3, 7, 0, 7, 3, 6})
	f.Fuzz(func(t *testing.T, program []byte) {
		h := delay.NewBinaryHeap[byte]()
		type waiting struct {
			item byte
			at   time.Time
		}
		var model []waiting // sorted by time
		for ; len(program) >= 2; program = program[2:] {
			step, operand := program[0], time.Unix(int64(program[1]), 0)
			if item := step % 16; item < 12 {
				h.Add(item, operand)
				i := slices.IndexFunc(model, func(w waiting) bool { return w.item == item })
				if i < 0 {
					model = append(model, waiting{item, operand})
				} else if operand.Before(model[i].at) {
					model[i].at = operand
				}
				slices.SortFunc(model, func(a, b waiting) int { return a.at.Compare(b.at) })
			} else {
				item, ok := h.PopReady(operand)
				if want := len(model) > 0 && !model[0].at.After(operand); ok != want {
					t.Fatalf("PopReady(%v) answers %v, want %v: %v", operand, ok, want, model)
				}
				if ok {
					i := slices.IndexFunc(model, func(w waiting) bool { return w.item == item })
					if i < 0 || !model[i].at.Equal(model[0].at) {
						t.Fatalf("PopReady(%v) = %d; waiting: %v", operand, item, model)
					}
					model = slices.Delete(model, i, i+1)
				}
			}
			if h.Len() != len(model) {
				t.Fatalf("Len() = %d, want %d", h.Len(), len(model))
			}
			if next, ok := h.Next(); ok != (len(model) > 0) || ok && !next.Equal(model[0].at) {
				t.Fatalf("Next() = %v, %v; waiting: %v", next, ok, model)
			}
		}
	})
}
