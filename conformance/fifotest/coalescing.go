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
			if got != "Added(a@1) Deleted(tombstone a a@2)" {
				b.t.Fatalf("deltas that were popped became %s", got)
			}
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

// Replace and Resync of the coalescing class.

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
			if list[0].(*object).version != 1 || list[1].(*object).version != 2 {
				b.t.Errorf("Replace changed the list that it was given")
			}
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

// The in-order classes, which hand out every event by itself.

// inOrder is on for FIFOs of class InOrder.
func inOrder(clause, name, why string, knows []*object, run func(b *fixture)) fifoCase {
	return on(clause, name, why, knows, func(b *fixture) {
		only(b.t, contract.InOrder)
		run(b)
	})
}

var inOrderCases = fifoCases{
	on("FIFO-36", "every-event-alone", "a consumer that counts on seeing each change misses some",
		objs(), func(b *fixture) {
			only(b.t, contract.InOrder, contract.InOrderAtomic)
			b.add(obj("a", 1))
			b.update(obj("b", 2), obj("a", 3))
			b.remove(obj("a", 4), obj("a", 5), tombstone(obj("a", 6)), obj("unknown", 7))
			b.add(obj("a", 8))
			b.drain("Added(a@1)", "Updated(b@2)", "Updated(a@3)", "Deleted(a@4)", "Deleted(a@5)",
				"Deleted(tombstone a a@6)", "Deleted(unknown@7)", "Added(a@8)")
		}),
	inOrder("FIFO-37", "replace", "an object that was deleted during a disconnection stays in the "+
		"cache for ever", objs(obj("known", 1), obj("a", 2), obj("stays", 3)), func(b *fixture) {
		b.add(obj("a", 4), obj("b", 5))
		b.update(obj("a", 6))
		b.remove(obj("b", 7))
		b.replace(obj("new", 8), obj("stays", 9), obj("new", 10))
		b.drain("Added(a@4)", "Added(b@5)", "Updated(a@6)", "Deleted(b@7)",
			"Deleted(tombstone a a@6)", "Deleted(tombstone known known@1)",
			"Replaced(new@8)", "Replaced(stays@9)", "Replaced(new@10)")
	}),
	inOrder("FIFO-37", "replace-with-nil-known",
		"a FIFO without known objects panics at its first relist", nil, func(b *fixture) {
			b.replace(obj("a", 1))
			b.drain("Replaced(a@1)")
		}),
	inOrder("FIFO-37", "replace-look-up-fails",
		"a deletion is lost because the last state is, or an old state is taken for the last",
		objs(obj("fails", 1), obj("lost", 2)), replaceOfTheUnfound),
	inOrder("FIFO-38", "resync-look-up-fails", "one broken object stops the resync of all others",
		objs(obj("fails", 1), obj("lost", 2), obj("a", 3)), resyncBesideTheUnfound),
	inOrder("FIFO-38", "resync", "a resync brings an old state after the new one",
		objs(obj("a", 1), obj("b", 2), obj("c", 3)), resyncOfTheRest),
	on("FIFO-39", "replaced-all", "readers see half a relist", objs(obj("known", 1)),
		func(b *fixture) {
			only(b.t, contract.InOrderAtomic)
			b.add(obj("a", 2))
			b.must(b.f.Replace([]any{obj("c", 3), obj("b", 4), obj("c", 5)}, "11"))
			b.must(b.f.Replace(nil, "12"))
			b.drain("Added(a@2)", "ReplacedAll(rv 11 [c@3 b@4 c@5])", "ReplacedAll(rv 12 [])")
		}),
	on("FIFO-40", "sync-all", "a resync is lost, or comes once for every object",
		objs(obj("a", 1), obj("b", 2)), func(b *fixture) {
			only(b.t, contract.InOrderAtomic)
			b.must(b.f.Resync())
			p := b.pop("SyncAll(all)")
			info, ok := p.deltas[0].Object.(contract.SyncAllInfo)
			if !ok {
				b.t.Errorf("the object of SyncAll is %T", info)
			}
			b.add(obj("a", 3))
			b.must(b.f.Resync())
			b.drain("Added(a@3)", "SyncAll(all)")
		}),
}
