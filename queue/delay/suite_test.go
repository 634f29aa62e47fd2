package delay_test

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/conformance/delaytest"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/delay"
)

func newWheel(granularity time.Duration) func() contract.DelayHeap[string] {
	return func() contract.DelayHeap[string] { return delay.NewWheel[string](granularity) }
}

// suiteStructures are those of the package delay.
var suiteStructures = []struct {
	name        string
	granularity time.Duration // 0 for exact times
	construct   func() contract.DelayHeap[string]
}{
	{"binaryheap", 0, newHeap},
	{"quadheap", 0, newQuadHeap},
	{"wheel of nanoseconds", 0, newWheel(1)},
	{"wheel of milliseconds", time.Millisecond, newWheel(time.Millisecond)},
	{"wheel of 7 s", 7 * time.Second, newWheel(7 * time.Second)},
	{"wheel of minutes", time.Minute, newWheel(time.Minute)},
}

func TestDelayStructuresKeepTheClauses(t *testing.T) {
	t.Parallel()
	for _, s := range suiteStructures {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			var opts []delaytest.Option
			if s.granularity > 0 {
				opts = append(opts, delaytest.Granularity(s.granularity))
			}
			if _, counts := s.construct().(counter); counts {
				opts = append(opts, delaytest.CountedWork(steps, delaytest.LogSteps(2)))
			}
			delaytest.Run(t, s.construct, opts...)
		})
	}
}

func steps(h contract.DelayHeap[string]) uint64 { return h.(counter).Steps() }

func newHeap() contract.DelayHeap[string] { return delay.NewBinaryHeap[string]() }

func newQuadHeap() contract.DelayHeap[string] { return delay.NewQuadHeap[string]() }
