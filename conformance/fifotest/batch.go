package fifotest

// PopBatch.

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/informerbench/informerbench/conformance/internal/fifomodel"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// batch is the result of one PopBatch.
type batch struct {
	deltas         contract.Deltas
	isInitial      bool
	asBatch, asOne int // calls of processBatch and of processSingle
	err            error
}

// ofBatches makes a case for FIFOs with PopBatch. popBatch pops a batch that must be
// waiting; result is the error that the process function returns.
func ofBatches(clause, name, why string,
	run func(b *fixture, popBatch func(result error) batch)) fifoCase {
	return check(clause, name, why, func(t *suite.T, construct newFIFO) {
		b := setUp(t, construct, known())
		popper := suite.Needs[contract.BatchPopper](t, b.f)
		run(b, func(result error) batch {
			return await(t, start(t, func() batch { return popBatchOnce(popper, result) }),
				"PopBatch does not return although something waits")
		})
	})
}

func popBatchOnce(f contract.BatchPopper, result error) (got batch) {
	got.err = f.PopBatch(func(deltas []contract.Delta, isInInitialList bool) error {
		got.asBatch++
		got.deltas, got.isInitial = slices.Clone(deltas), isInInitialList
		return result
	}, func(o any, isInInitialList bool) error {
		got.asOne++
		got.deltas, got.isInitial = slices.Clone(o.(contract.Deltas)), isInInitialList
		return result
	})
	return got
}

// drainBatches closes the FIFO and pops everything that waits, batch by batch.
func drainBatches(b *fixture, popBatch func(error) batch) (batches []batch) {
	b.f.Close()
	for {
		got := popBatch(nil)
		if errors.Is(got.err, contract.ErrFIFOClosed) {
			return batches
		}
		b.must(got.err)
		batches = append(batches, got)
	}
}

var batchCases = fifoCases{
	ofBatches("FIFO-41", "order",
		"handlers are told of changes in another order than they came in",
		func(b *fixture, popBatch func(error) batch) {
			rnd := b.t.Rand()
			m := fifomodel.Model{Class: b.class, Key: func(o any) string { return o.(*object).key }}
			for i := range 3000 { // short runs without a repetition, then long ones
				n := 8
				if i > 600 {
					n = 1 << 20
				}
				o := obj(fmt.Sprintf("k%d", rnd.IntN(n)), i)
				b.update(o)
				m.Event(contract.Updated, o)
			}
			var got []contract.Deltas
			for _, batch := range drainBatches(b, popBatch) {
				if batch.asOne > 0 {
					got = append(got, batch.deltas)
					continue
				}
				seen := map[string]bool{}
				for _, d := range batch.deltas {
					key := d.Object.(*object).key
					if seen[key] && b.class == contract.Coalescing {
						b.t.Fatalf("key %s is twice in the batch %s",
							key, render(batch.deltas))
					}
					seen[key] = true
					got = append(got, contract.Deltas{d})
				}
			}
			if len(got) != len(m.Waiting) {
				b.t.Fatalf("PopBatch gave %d things, Pop would give %d", len(got),
					len(m.Waiting))
			}
			for i, want := range m.Waiting {
				if !slices.Equal(got[i], want.Deltas) {
					b.t.Fatalf("PopBatch gave, as number %d, %s; Pop would give %s", i, render(got[i]),
						render(want.Deltas))
				}
			}
		}),
	ofBatches("FIFO-41", "several-deltas-of-a-key",
		"a transaction that holds a key twice lets the older state win",
		func(b *fixture, popBatch func(error) batch) {
			only(b.t, contract.Coalescing)
			b.add(obj("a", 1), obj("b", 2), obj("c", 3))
			b.update(obj("b", 4))
			b.remove(obj("c", 5))
			b.add(obj("d", 6), obj("e", 7))
			var got []string
			for _, batch := range drainBatches(b, popBatch) {
				if batch.asOne > 0 {
					got = append(got, render(batch.deltas))
					continue
				}
				for _, d := range batch.deltas {
					got = append(got, render(contract.Deltas{d}))
				}
			}
			want := []string{"Added(a@1)", "Added(b@2) Updated(b@4)", "Added(c@3) Deleted(c@5)",
				"Added(d@6)",
				"Added(e@7)"}
			if !slices.Equal(got, want) {
				b.t.Fatalf("PopBatch gave, key by key, %q; want %q", got, want)
			}
		}),
	ofBatches("FIFO-42", "who-is-called",
		"an event is processed twice, or not at all, or its error is lost",
		func(b *fixture, popBatch func(error) batch) {
			cause := errors.New("cannot process")
			for i := range 3 {
				b.add(obj("a", 2*i))
				one := popBatch(cause)
				if one.asOne != 1 || one.asBatch != 0 || one.err != cause || len(one.deltas) != 1 {
					b.t.Fatalf("PopBatch of one event: processSingle called %d times, processBatch %d times, "+
						"error %v; want 1, 0, that of the process", one.asOne, one.asBatch, one.err)
				}
				b.add(obj("a", 2*i), obj("b", 2*i+1))
				two := popBatch(cause)
				if two.err != cause || two.asOne+two.asBatch != 1 ||
					(len(two.deltas) > 1) != (two.asBatch == 1) {
					b.t.Fatalf("PopBatch of %d events: processSingle called %d times, processBatch %d times, error %v",
						len(two.deltas), two.asOne, two.asBatch, two.err)
				}
				if len(two.deltas) == 1 {
					popBatch(nil)
				}
			}
			if rest := drainBatches(b, popBatch); len(rest) > 0 {
				b.t.Fatalf("a batch whose process failed came again: %s", render(rest[0].deltas))
			}
		}),
	ofBatches("FIFO-43", "whole-lists-come-alone",
		"a relist is applied together with events from before it",
		func(b *fixture, popBatch func(error) batch) {
			only(b.t, contract.InOrderAtomic)
			b.add(obj("a", 1))
			b.replace(obj("a", 2), obj("b", 3))
			b.add(obj("c", 4))
			b.must(b.f.Resync())
			b.must(b.f.Resync())
			b.add(obj("d", 5), obj("e", 6))
			for _, got := range drainBatches(b, popBatch) {
				for _, d := range got.deltas {
					if (d.Type == contract.ReplacedAll || d.Type == contract.SyncAll) &&
						len(got.deltas) > 1 {
						b.t.Fatalf("%s is in a batch of %d", d.Type, len(got.deltas))
					}
				}
			}
		}),
	ofBatches("FIFO-44", "initial-list-apart",
		"handlers take news for the initial list, or a controller starts too early",
		func(b *fixture, popBatch func(error) batch) {
			b.replace(obj("a", 1), obj("b", 2), obj("c", 3))
			b.add(obj("later", 4))
			b.synced(false, "the initial list waits")
			later := false
			for !later {
				got := popBatch(nil)
				b.must(got.err)
				for _, d := range got.deltas {
					later = d.Type == contract.Added
					if got.isInitial == later {
						b.t.Fatalf("isInInitialList is %t for the batch %s", got.isInitial,
							render(got.deltas))
					}
				}
				if later && !b.f.HasSynced() {
					b.t.Fatalf("HasSynced is false though all of the initial list was popped")
				}
				o, ok := got.deltas.Newest().Object.(*object)
				if ok && o.key != "c" && !later && b.f.HasSynced() {
					b.t.Fatalf("HasSynced is true after %s, before the end of the initial list", render(got.deltas))
				}
			}
			b.synced(true, "the initial list was popped")
		}),
	ofBatches("FIFO-44", "repeated-in-the-list",
		"a controller starts before the last object of a list that has one twice",
		func(b *fixture, popBatch func(error) batch) {
			only(b.t, contract.Coalescing, contract.InOrder)
			b.replace(obj("a", 1), obj("a", 2), obj("b", 3), obj("c", 4), obj("c", 5))
			b.add(obj("later", 6))
			left := map[contract.FIFOClass]int{contract.Coalescing: 3, contract.InOrder: 5}[b.class]
			for left > 0 {
				got := popBatch(nil)
				b.must(got.err)
				if left -= max(1, got.asBatch*len(got.deltas)); left < 0 || !got.isInitial {
					b.t.Fatalf("the batch %s, of the end of the initial list, has later events or "+
						"isInInitialList=%t", render(got.deltas), got.isInitial)
				}
				b.synced(left == 0, fmt.Sprintf("%d of the initial list wait", left))
			}
			b.drain("Added(later@6)")
		}),
	ofBatches("FIFO-62", "all-that-fits",
		"a consumer that pops in batches to save work does the work of a batch for each event",
		func(b *fixture, popBatch func(error) batch) {
			queue := func(from, n int) {
				for i := range n {
					b.update(obj(fmt.Sprintf("k%d", from+i), i))
				}
			}
			want := func(n int, of string) {
				if got := popBatch(nil); got.err != nil || got.asBatch != 1 || len(got.deltas) != n {
					b.t.Fatalf("PopBatch gave %d of %s in %d calls of processBatch, error %v; want all %d in "+
						"one call", len(got.deltas), of, got.asBatch, got.err, n)
				}
			}
			for range 3 { // the same keys again and again
				for _, n := range []int{2, 3, 8, 9, 40, 100} {
					queue(0, n)
					want(n, fmt.Sprintf("%d events of different keys", n))
				}
			}
			for range 2 {
				b.add(obj("k0", 0), obj("", 1), obj("k1", 2))
				want(3, "events of which one has the empty key")
			}
			if q, ok := b.f.(contract.KeyedQueue); ok {
				b.must(q.AddIfNotPresent(contract.Deltas{{Type: contract.Updated, Object: obj("k0", 0)}}))
				queue(1, 2)
				want(3, "events of which one was put back")
			}
			queue(0, 200)
			for range 110 {
				b.popWith(nil)
			}
			want(90, "90 events that waited behind others")
			b.drain()
		}),
	check("FIFO-45", "each-producer-wakes", whySleeps, func(t *suite.T, construct newFIFO) {
		suite.Needs[contract.BatchPopper](t, setUp(t, construct, nil).f)
		eachProducerWakes(t, construct, byPopBatch)
	}),
	check("FIFO-45", "a-pop-that-waits-rests", whyRests, func(t *suite.T, construct newFIFO) {
		suite.Needs[contract.BatchPopper](t, setUp(t, construct, nil).f)
		rests(t, construct, byPopBatch)
	}),
	ofBatches("FIFO-45", "waits-and-closes", "a controller that pops in batches hangs or spins",
		func(b *fixture, popBatch func(error) batch) {
			popper := b.f.(contract.BatchPopper)
			for round := range b.t.Scale(50) {
				waiting := start(b.t, func() batch { return popBatchOnce(popper, nil) })
				for range round % 4 {
					runtime.Gosched()
				}
				o := obj("a", round)
				b.add(o)
				got := await(b.t, waiting, "Add does not wake a PopBatch that waits")
				if got.err != nil || render(got.deltas) != fmt.Sprintf("Added(%v)", o) {
					b.t.Fatalf("the PopBatch that waited gave %s, %v; want Added(%v)", render(got.deltas), got.err, o)
				}
			}
			waiting := start(b.t, func() batch { return popBatchOnce(popper, nil) })
			b.f.Close()
			got := await(b.t, waiting, "Close does not wake a PopBatch that waits")
			if !errors.Is(got.err, contract.ErrFIFOClosed) || got.asOne+got.asBatch != 0 {
				b.t.Fatalf("PopBatch of a closed, empty FIFO returned %v and called process %d times",
					got.err, got.asOne+got.asBatch)
			}
		}),
}
