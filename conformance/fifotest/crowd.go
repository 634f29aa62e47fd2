package fifotest

// A hundred producers at once, and a goroutine that waits for the initial list among them.

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// consumeBatches is consume with PopBatch.
func consumeBatches(t *suite.T, f contract.BatchPopper,
	process func(contract.Deltas)) <-chan struct{} {
	return start(t, func() struct{} {
		for {
			err := f.PopBatch(func(deltas []contract.Delta, _ bool) error {
				process(deltas)
				return nil
			}, func(o any, _ bool) error {
				process(o.(contract.Deltas))
				return nil
			})
			if errors.Is(err, contract.ErrFIFOClosed) {
				return struct{}{}
			}
			if err != nil {
				t.Errorf("PopBatch: %v", err)
				return struct{}{}
			}
		}
	})
}

// crowd lets a hundred producers queue their events, on a few shared keys and on many keys
// of their own. It checks that all events come out in order.
func crowd(t *suite.T, b *fixture, consume func(process func(contract.Deltas)) <-chan struct{}) {
	const producers = 100
	n := t.Scale(60)
	s := newSeen(t, n)
	consumed := consume(func(deltas contract.Deltas) { s.add(deltas, true) })
	produce(t, producers, func(p int) {
		for i := range n {
			key := fmt.Sprintf("shared%d", i%5)
			if i%4 == 0 {
				key = fmt.Sprintf("own%d-%d", p, i)
			}
			err := b.f.Update(obj(key, p*n+i))
			t.ErrorIf(err != nil, "Update: %v", err)
		}
	})
	b.f.Close()
	await(t, consumed, "the consumer does not return though the FIFO is closed")
	s.complete(producers)
}

var crowdCases = fifoCases{
	on("FIFO-20", "hundred-producers", "an event is lost when a whole cluster changes at once", nil,
		func(b *fixture) {
			crowd(b.t, b, func(process func(contract.Deltas)) <-chan struct{} {
				return consume(b.t, b.f, process)
			})
		}),
	on("FIFO-20", "hundred-producers-in-batches",
		"an event is lost when a whole cluster changes at once", nil, func(b *fixture) {
			popper := suite.Needs[contract.BatchPopper](b.t, b.f)
			crowd(b.t, b, func(process func(contract.Deltas)) <-chan struct{} {
				return consumeBatches(b.t, popper, process)
			})
		}),
	check("FIFO-17", "watched-in-a-crowd",
		"a controller starts on half a cache because others were busy meanwhile",
		func(t *suite.T, construct newFIFO) {
			for range t.Scale(3) {
				b := setUp(t, construct, nil)
				const n = 50
				var list []any
				for i := range n {
					list = append(list, obj(fmt.Sprintf("i%d", i), i))
				}
				b.replace(list...)
				var processed atomic.Int64 // objects of the list
				var stop atomic.Bool
				t.Cleanup(func() { stop.Store(true) })
				watched := start(t, func() (early int64) {
					for !b.f.HasSynced() && !stop.Load() {
						runtime.Gosched()
					}
					return n - processed.Load()
				})
				consumed := consume(t, b.f, func(deltas contract.Deltas) {
					runtime.Gosched()
					for _, d := range deltas {
						switch d.Type {
						case contract.Replaced:
							processed.Add(1)
						case contract.ReplacedAll:
							processed.Add(n)
						}
					}
				})
				produce(t, 4, func(p int) {
					for i := range n {
						err := b.f.Update(obj(fmt.Sprintf("k%d", i), n+p*n+i))
						t.ErrorIf(err != nil, "Update: %v", err)
					}
				})
				left := await(t, watched, "HasSynced does not become true though the consumer goes on")
				t.ErrorIf(left > 0, "HasSynced was true while %d of %d of the initial list were not processed",
					left, n)
				b.f.Close()
				await(t, consumed, "the consumer does not return though the FIFO is closed")
			}
		}),
}
