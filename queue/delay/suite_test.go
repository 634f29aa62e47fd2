package delay_test

import (
	"testing"

	"github.com/informerbench/informerbench/conformance/delaytest"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/delay"
)

// suiteStructures are those of the package delay.
var suiteStructures = []struct {
	name      string
	construct func() contract.DelayHeap[string]
}{{"binaryheap", newHeap}, {"quadheap", newQuadHeap}}

func TestDelayStructuresKeepTheClauses(t *testing.T) {
	t.Parallel()
	for _, s := range suiteStructures {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			var opts []delaytest.Option
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
