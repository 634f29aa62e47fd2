package fifotest

// The in-order classes, which hand out every event by itself.

import (
	"github.com/informerbench/informerbench/contract"
)

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
			b.t.ErrorIf(!ok, "the object of SyncAll is %T", info)
			b.add(obj("a", 3))
			b.must(b.f.Resync())
			b.drain("Added(a@3)", "SyncAll(all)")
		}),
}
