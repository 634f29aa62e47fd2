package delay_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/delay"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func names(n int) []string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf("namespace-%02d/pod-%07d", i%50, i)
	}
	return items
}

// fill adds the items at random times within the span.
func fill(h contract.DelayHeap[string], items []string, from time.Time, span time.Duration) {
	rnd := rand.New(rand.NewPCG(1, uint64(len(items))))
	for _, item := range items {
		h.Add(item, from.Add(time.Duration(rnd.Int64N(int64(span)))))
	}
}

func TestNothingIsAllocatedForAnItem(t *testing.T) {
	inOneGoroutine(t)
	h, rnd := newQuadHeap(), rand.New(rand.NewPCG(1, 2))
	fill(h, names(5000), noon, 10*time.Minute)
	hold := func() {
		now, _ := h.Next()
		item, ok := h.PopReady(now)
		if !ok {
			t.Fatal("PopReady at the time of Next hands out nothing")
		}
		h.Add(item, now.Add(10*time.Minute+time.Duration(rnd.Int64N(int64(time.Minute)))))
		h.Add(item, now.Add(time.Duration(rnd.Int64N(int64(10*time.Minute)))))
	}
	for range 10_000 {
		hold()
	}
	if got := testing.AllocsPerRun(20_000, hold); got != 0 {
		t.Errorf("%g allocations for an item that comes out and is added twice", got)
	}
}

// counter is a heap that counts its steps.
type counter interface{ Steps() uint64 }

// While 200,000 items come, no Add takes more steps than one piece of everything has.
func TestNoAddTakesLong(t *testing.T) {
	if _, counts := any(delay.NewQuadHeap[string]()).(counter); !counts {
		t.Skip("steps are counted under the race detector, and not with -tags degraded")
	}
	t.Parallel()
	items := names(200_000)
	for _, order := range []struct {
		name string
		at   func(i int) time.Duration
	}{
		{"rising", func(i int) time.Duration { return time.Duration(i) * time.Millisecond }},
		{"falling", func(i int) time.Duration { return -time.Duration(i) * time.Millisecond }},
	} {
		h := newQuadHeap()
		c := h.(counter)
		// A cell looked at, the segment split, the directory doubled, a heap's height.
		most := uint64(4 * delay.SegmentLen)
		for i, item := range items {
			before := c.Steps()
			h.Add(item, noon.Add(order.at(i)))
			if took := c.Steps() - before; took > most {
				t.Fatalf("times %s: Add number %d took %d steps, want at most %d", order.name, i, took, most)
			}
		}
	}
}

// Items of any comparable type will do, NaN too, which is not equal to itself: each
// Add of it is another item, as in a map.
func TestItemsOfOtherTypes(t *testing.T) {
	t.Parallel()
	h := delay.NewQuadHeap[any]()
	for _, item := range []any{1, "1", 1.0, struct {
		a, b string
	}{"1", ""}, nil, math.NaN(), math.NaN()} {
		h.Add(item, noon)
		h.Add(item, noon.Add(time.Hour))
	}
	if got := h.Len(); got != 9 {
		t.Errorf("%d items wait, want 5 and 4 times NaN", got)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a slice was taken for comparable")
			}
		}()
		h.Add([]int{1}, noon)
	}()
	seen := 0
	for now := noon.Add(2 * time.Hour); ; seen++ {
		if _, ok := h.PopReady(now); !ok {
			break
		}
	}
	if seen != 9 || h.Len() != 0 {
		t.Errorf("%d of 9 items came out, %d are left", seen, h.Len())
	}
}

// inOneGoroutine skips the test under -short, as make race runs tests: the race detector sees
// nothing in it, and makes it many times slower.
func inOneGoroutine(t *testing.T) {
	if t.Helper(); testing.Short() {
		t.Skip("one goroutine, and slow")
	}
}

// The numbers that keep equal times in the order of arrival begin again after 2^32 items.
func TestArrivalOrderGoesOnWhenNumbersBeginAgain(t *testing.T) {
	t.Parallel()
	h := delay.NewQuadHeap[string]()
	h.StartNumbers(math.MaxUint32 - 50)
	items := names(100)
	for i, item := range items {
		h.Add(item, noon.Add(time.Duration(i%2)*time.Hour))
	}
	for i := range items {
		want := items[2*i%100+2*i/100]
		if got, ok := h.PopReady(noon.Add(2 * time.Hour)); !ok || got != want {
			t.Fatalf("item %d is %q, %v; want %q", i, got, ok, want)
		}
	}
}
