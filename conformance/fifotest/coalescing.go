package fifotest

// How the coalescing class treats the events of one key.

import (
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// coalescing is on for FIFOs of class Coalescing.
func coalescing(clause, name, why string, knows []*object, run func(b *fixture)) fifoCase {
	return on(clause, name, why, knows, func(b *fixture) {
		only(b.t, contract.Coalescing)
		run(b)
	})
}

func tombstone(o *object) contract.DeletedFinalStateUnknown {
	return contract.DeletedFinalStateUnknown{Key: o.key, Obj: o}
}

var coalescingCases = fifoCases{
	coalescing("FIFO-26", "one-key-one-pop",
		"a consumer that falls behind is swamped instead of catching up", nil, func(b *fixture) {
			b.add(obj("a", 1))
			b.update(obj("b", 2), obj("a", 3), obj("a", 4))
			b.remove(obj("a", 5))
			b.add(obj("a", 6))
			b.drain("Added(a@1) Updated(a@3) Updated(a@4) Deleted(a@5) Added(a@6)", "Updated(b@2)")
		}),
	coalescing("FIFO-26", "popped-deltas-stay", "the consumer's deltas change while it reads them",
		objs(obj("a", 0)), func(b *fixture) {
			b.add(obj("a", 1))
			b.remove(tombstone(obj("a", 2)))
			p := b.pop("Added(a@1) Deleted(tombstone a a@2)")
			b.remove(obj("a", 3))
			b.add(obj("a", 4))
			got := render(p.item.(contract.Deltas))
			b.t.FatalIf(got != "Added(a@1) Deleted(tombstone a a@2)", "deltas that were popped became %s", got)
		}),
	coalescing("FIFO-27", "keeps-its-place", "a key that changes often is starved", nil,
		func(b *fixture) {
			b.add(obj("a", 1), obj("b", 2), obj("c", 3))
			b.update(obj("a", 4))
			b.pop("Added(a@1) Updated(a@4)")
			b.update(obj("a", 5), obj("b", 6))
			b.drain("Added(b@2) Updated(b@6)", "Added(c@3)", "Updated(a@5)")
		}),
	coalescing("FIFO-28", "two-deletions", "a deletion is handled twice", nil, func(b *fixture) {
		b.add(obj("a", 1))
		b.remove(obj("a", 2), obj("a", 3), obj("a", 4))
		b.add(obj("a", 5))
		b.remove(obj("a", 6))
		b.drain("Added(a@1) Deleted(a@2) Added(a@5) Deleted(a@6)")
	}),
	coalescing("FIFO-28", "only-deletions-merge",
		"an update is lost because it looks like the one before", nil, func(b *fixture) {
			o := obj("a", 1)
			b.add(o, o)
			b.update(o, o)
			b.drain("Added(a@1) Added(a@1) Updated(a@1) Updated(a@1)")
		}),
	coalescing("FIFO-29", "tombstone-gives-way",
		"the last state of a deleted object is known and thrown away", nil, func(b *fixture) {
			b.add(obj("a", 1), obj("b", 2), obj("c", 3))
			b.remove(tombstone(obj("a", 4)), obj("a", 5))
			b.remove(obj("b", 6), tombstone(obj("b", 7)))
			b.remove(tombstone(obj("c", 8)), tombstone(obj("c", 9)))
			b.drain("Added(a@1) Deleted(a@5)", "Added(b@2) Deleted(b@6)",
				"Added(c@3) Deleted(tombstone c c@9)")
		}),
	check("FIFO-30", "unknown-key", "handlers are told of deletions of objects that they never saw",
		func(t *suite.T, construct newFIFO) {
			only(t, contract.Coalescing)
			for _, k := range []contract.KeyListerGetter{nil, known(obj("other", 1))} {
				b := setUp(t, construct, k)
				b.remove(obj("a", 1), contract.DeletedFinalStateUnknown{Key: "a"})
				b.add(obj("b", 2))
				b.drain("Added(b@2)")
			}
		}),
	coalescing("FIFO-30", "popped-is-unknown", "a deletion that a relist reported is reported again",
		nil, func(b *fixture) {
			b.add(obj("a", 1))
			b.pop("Added(a@1)")
			b.remove(obj("a", 2))
			b.drain()
		}),
	coalescing("FIFO-31", "known-key",
		"an object that was processed and then deleted stays in the cache for ever",
		objs(obj("a", 1), obj("b", 2)), func(b *fixture) {
			b.remove(obj("b", 3), tombstone(obj("a", 4)), obj("fails", 5))
			b.drain("Deleted(b@3)", "Deleted(tombstone a a@4)", "Deleted(fails@5)")
		}),
	coalescing("FIFO-31", "waits-but-unknown",
		"a creation and deletion in quick succession leave the object in the cache", objs(),
		func(b *fixture) {
			b.add(obj("a", 1))
			b.remove(obj("a", 2))
			b.drain("Added(a@1) Deleted(a@2)")
		}),
}
