package deltafifo

import (
	"fmt"
	"testing"

	"github.com/informerbench/informerbench/contract"
)

func nameIsKey(obj any) (string, error) { return obj.(string), nil }

func process(any, bool) error { return nil }

// The ring and the index of a large backlog must not outlive it.
func TestBacklogIsReleased(t *testing.T) {
	t.Parallel()
	f := NewCoalescing(contract.FIFOConfig{KeyFunc: nameIsKey}, Options{})
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
	if n := max(len(f.waiting.slots), len(f.waiting.places)); n > keepSlots {
		t.Errorf("an empty FIFO keeps %d slots", n)
	}
	if err := f.Add("again"); err != nil {
		t.Fatal(err)
	}
	if item, err := f.Pop(process); err != nil || item.(contract.Deltas)[0].Object != "again" {
		t.Fatalf("after the backlog, Pop gave %v, %v", item, err)
	}
}
