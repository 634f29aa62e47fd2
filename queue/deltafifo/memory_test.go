package deltafifo

import (
	"fmt"
	"slices"
	"testing"

	"github.com/informerbench/informerbench/contract"
)

func nameIsKey(obj any) (string, error) { return obj.(string), nil }

func process(any, bool) error { return nil }

// The map and the ring of a large backlog must not outlive it.
func TestBacklogIsReleased(t *testing.T) {
	t.Parallel()
	f := New(contract.FIFOConfig{KeyFunc: nameIsKey}, Options{})
	const backlog = 100 * keepSlots
	for i := range backlog {
		if err := f.Add(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range backlog {
		item, err := f.Pop(process)
		if err != nil || item.(contract.Deltas)[0].Object != fmt.Sprint(i) {
			t.Fatalf("Pop %d gave %v, %v", i, item, err)
		}
	}
	if n := len(f.mu.order.slots); n > keepSlots {
		t.Errorf("the ring of an empty FIFO keeps %d slots", n)
	}
	if len(f.mu.waiting) != 0 {
		t.Errorf("the map of an empty FIFO has %d keys", len(f.mu.waiting))
	}
	if err := f.Add("again"); err != nil {
		t.Fatal(err)
	}
	if item, err := f.Pop(process); err != nil || item.(contract.Deltas)[0].Object != "again" {
		t.Fatalf("after the backlog, Pop gave %v, %v", item, err)
	}
}

// A short queue must not allocate for its order, and popped slots must be clear.
func TestRing(t *testing.T) {
	t.Parallel()
	var r ring[*int]
	var model []*int
	for step, n := range []int{3, 1, 20, 5, 100, 1} {
		for range n * 2 {
			v := new(int)
			r.push(v)
			model = append(model, v)
		}
		for range n {
			if got := r.pop(); got != model[0] {
				t.Fatalf("step %d: pop does not give the oldest", step)
			}
			model = model[1:]
		}
		if got := slices.Collect(r.all()); !slices.Equal(got, model) || r.len() != len(model) {
			t.Fatalf("step %d: the ring holds %d, want %d in order", step, r.len(), len(model))
		}
		held := 0
		for _, slot := range r.slots {
			if slot != nil {
				held++
			}
		}
		if held != len(model) {
			t.Fatalf("step %d: %d slots are not clear, want %d", step, held, len(model))
		}
	}
	slots := len(r.slots)
	r.reserve(slots)
	if len(r.slots) < slots+len(model) {
		t.Fatalf("reserve(%d) left %d slots for %d more than %d", slots, len(r.slots), slots, len(model))
	}
	if got := slices.Collect(r.all()); !slices.Equal(got, model) {
		t.Fatal("reserve changed what the ring holds")
	}
}
