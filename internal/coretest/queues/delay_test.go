package queues

import (
	"testing"
	"time"

	"github.com/informerbench/informerbench/conformance/delaytest"
	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/core/queue/delay"
)

func newWheel(granularity time.Duration) func() contract.DelayHeap[string] {
	return func() contract.DelayHeap[string] { return delay.NewWheel[string](granularity) }
}

// structures are those of the package delay.
var structures = []struct {
	name        string
	granularity time.Duration // 0 for exact times
	construct   func() contract.DelayHeap[string]
}{
	{"binaryheap", 0, newHeap},
	{"quadheap", 0, newQuadHeap},
	{"pairingheap", 0, func() contract.DelayHeap[string] { return delay.NewPairingHeap[string]() }},
	{"wheel of nanoseconds", 0, newWheel(1)},
	{"wheel of milliseconds", time.Millisecond, newWheel(time.Millisecond)},
	{"wheel of 7 s", 7 * time.Second, newWheel(7 * time.Second)},
	{"wheel of minutes", time.Minute, newWheel(time.Minute)},
}

func TestDelayStructuresKeepTheClauses(t *testing.T) {
	t.Parallel()
	for _, s := range structures {
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

// counter is what the structures that count their work are under the race detector.
type counter interface{ Steps() uint64 }

func steps(h contract.DelayHeap[string]) uint64 { return h.(counter).Steps() }
