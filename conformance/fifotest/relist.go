package fifotest

// Replace and Resync of the coalescing class.

import (
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

var relistCases = fifoCases{
	coalescing("FIFO-32", "replaced-in-order",
		"a relist is taken for a resync, and updates in it are ignored", nil, func(b *fixture) {
			b.add(obj("c", 1))
			b.replace(obj("b", 2), obj("a", 3), obj("c", 4))
			b.drain("Added(c@1) Replaced(c@4)", "Replaced(b@2)", "Replaced(a@3)")
		}),
	coalescing("FIFO-32", "listed-twice", "a list with a duplicate loses one object or never syncs",
		nil, func(b *fixture) {
			b.replace(obj("a", 1), obj("b", 2), obj("a", 3))
			b.pop("Replaced(a@1) Replaced(a@3)")
			b.synced(false, "b waits")
			b.pop("Replaced(b@2)")
			b.synced(true, "all was popped")
			b.drain()
		}),
	coalescing("FIFO-32", "list-stays-the-callers", "the list that a pager keeps is overwritten",
		objs(obj("z", 0)), func(b *fixture) {
			list := []any{obj("a", 1), obj("b", 2)}
			b.must(b.f.Replace(list, "7"))
			b.t.ErrorIf(list[0].(*object).version != 1 || list[1].(*object).version != 2,
				"Replace changed the list that it was given")
		}),
	check("FIFO-33", "waiting-and-unlisted",
		"an object whose deletion the watch missed is created in the cache after it is gone",
		func(t *suite.T, construct newFIFO) {
			only(t, contract.Coalescing)
			for name, k := range map[string]*knownObjects{"older object known": known(obj("a", 1)),
				"nothing known": known()} {
				b := setUp(t, construct, k)
				b.add(obj("a", 2))
				b.update(obj("a", 3))
				b.replace(obj("b", 4))
				t.Logf("%s", name)
				b.drain("Added(a@2) Updated(a@3) Deleted(tombstone a a@3)", "Replaced(b@4)")
			}
			b := setUp(t, construct, nil)
			b.add(obj("a", 5))
			b.replace()
			b.drain("Added(a@5) Deleted(tombstone a a@5)")
		}),
	coalescing("FIFO-33", "deletion-already-waits",
		"the last state of a deleted object is replaced by a guess", nil, func(b *fixture) {
			b.add(obj("a", 1), obj("b", 2))
			b.remove(obj("a", 3), tombstone(obj("b", 4)))
			b.replace()
			b.replace() // relists that follow each other wrap nothing either
			b.drain("Added(a@1) Deleted(a@3)", "Added(b@2) Deleted(tombstone b b@4)")
		}),
	coalescing("FIFO-34", "known-and-unlisted",
		"an object that was deleted during a disconnection stays in the cache for ever",
		objs(obj("x", 1), obj("a", 2), obj("w", 3)), func(b *fixture) {
			b.replace(obj("b", 4), obj("a", 5))
			b.drain("Replaced(b@4)", "Replaced(a@5)", "Deleted(tombstone x x@1)", "Deleted(tombstone w w@3)")
		}),
	coalescing("FIFO-34", "look-up-fails", "a deletion is lost because the last state is",
		objs(obj("fails", 1), obj("lost", 2)), replaceOfTheUnfound),
	coalescing("FIFO-34", "nothing-known", "a FIFO without known objects panics at its first relist",
		nil, func(b *fixture) {
			b.replace(obj("a", 1))
			b.pop("Replaced(a@1)")
			b.replace(obj("b", 2))
			b.drain("Replaced(b@2)")
		}),
	coalescing("FIFO-35", "resync", "a resync brings an old state after the new one",
		objs(obj("a", 1), obj("b", 2), obj("c", 3)), resyncOfTheRest),
	coalescing("FIFO-35", "resync-look-up-fails", "one broken object stops the resync of all others",
		objs(obj("fails", 1), obj("lost", 2), obj("a", 3)), resyncBesideTheUnfound),
	coalescing("FIFO-35", "resync-nothing-known",
		"a FIFO without known objects panics at its first resync", nil, func(b *fixture) {
			b.add(obj("a", 1))
			b.must(b.f.Resync())
			b.drain("Added(a@1)")
		}),
}

// Both classes that look into the store keep these.

func replaceOfTheUnfound(b *fixture) {
	b.replace()
	b.drain("Deleted(tombstone fails <nil>)", "Deleted(tombstone lost <nil>)")
}

func resyncOfTheRest(b *fixture) {
	b.update(obj("b", 4))
	b.must(b.f.Resync())
	b.must(b.f.Resync())
	b.drain("Updated(b@4)", "Sync(a@1)", "Sync(c@3)")
}

func resyncBesideTheUnfound(b *fixture) {
	b.must(b.f.Resync())
	b.drain("Sync(a@3)")
}
