package delay_test

import (
	"fmt"
	"time"

	"github.com/informerbench/informerbench/queue/delay"
)

func ExampleQuadHeap() {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	h := delay.NewQuadHeap[string]()
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
