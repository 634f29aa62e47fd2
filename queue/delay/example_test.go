package delay_test

import (
	"fmt"
	"time"

	"github.com/informerbench/informerbench/queue/delay"
)

func ExampleWheel() {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	w := delay.NewWheel[string](time.Second)
	readyAt := noon.Add(300 * time.Millisecond)
	w.Add("lunch", readyAt)
	_, early := w.PopReady(readyAt.Add(-1))
	item, ok := w.PopReady(readyAt.Add(w.Granularity()))
	fmt.Println(early, item, ok)
	// Output: false lunch true
}

func ExampleBinaryHeap() {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	h := delay.NewBinaryHeap[string]()
	h.Add("lunch", noon)
	h.Add("tea", noon.Add(4*time.Hour))
	h.Add("tea", noon.Add(5*time.Hour)) // already waits for an earlier time

	for {
		at, ok := h.Next()
		if !ok {
			break
		}
		item, _ := h.PopReady(at)
		fmt.Println(at.Format(time.Kitchen), item)
	}
	// Output:
	// 12:00PM lunch
	// 4:00PM tea
}
