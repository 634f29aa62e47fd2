package delay_test

import (
	"testing"

	"github.com/informerbench/informerbench/conformance/delaytest"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/delay"
)

func TestQuadHeapKeepsTheClauses(t *testing.T) {
	t.Parallel()
	var opts []delaytest.Option
	if _, counts := newQuadHeap().(counter); counts {
		opts = append(opts, delaytest.CountedWork(steps, delaytest.LogSteps(2)))
	}
	delaytest.Run(t, newQuadHeap, opts...)
}

func steps(h contract.DelayHeap[string]) uint64 { return h.(counter).Steps() }

func newQuadHeap() contract.DelayHeap[string] { return delay.NewQuadHeap[string]() }
