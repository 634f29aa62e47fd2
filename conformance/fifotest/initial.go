package fifotest

// HasSynced and the flag of the initial list.

import (
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

var initialCases = fifoCases{
	on("FIFO-12", "nothing-yet", "a controller starts to act on an empty cache", objs(),
		func(b *fixture) {
			b.synced(false, "nothing was called")
			b.f.Close()
			b.synced(false, "only Close was called")
		}),
	check("FIFO-13", "first-call-is-an-event",
		"whoever feeds a FIFO by hand waits for ever for its sync", func(t *suite.T, construct newFIFO) {
			for name, call := range map[string]func(b *fixture){
				"Add":                      func(b *fixture) { b.add(obj("a", 1)) },
				"Update":                   func(b *fixture) { b.update(obj("a", 1)) },
				"Delete":                   func(b *fixture) { b.remove(obj("known", 1)) },
				"Delete of an unknown key": func(b *fixture) { b.remove(obj("a", 1)) },
			} {
				b := setUp(t, construct, known(obj("known", 0)))
				call(b)
				b.synced(true, "the first call was "+name)
				b.replace(obj("b", 2), obj("c", 3))
				b.synced(true, "a Replace came after "+name)
			}
		}),
	on("FIFO-14", "exactly-the-first-replace",
		"a controller acts on half a cache, or waits for one event more",
		objs(obj("gone", 1), obj("a", 2)), func(b *fixture) {
			b.replace(obj("a", 3), obj("b", 4), obj("b", 5))
			initial := map[contract.FIFOClass]int{
				contract.Coalescing:    3, // a, b, the deletion of gone
				contract.InOrder:       4, // a, b twice, the deletion of gone
				contract.InOrderAtomic: 1,
			}[b.class]
			b.add(obj("later", 6))
			for i := range initial {
				b.synced(false, "not all of the first Replace was popped")
				p := b.popWith(nil)
				if p.err != nil {
					b.t.Fatalf("Pop %d: %v", i+1, p.err)
				}
			}
			b.synced(true, "all of the first Replace was popped")
			b.drain("Added(later@6)")
		}),
	on("FIFO-14", "what-waited-before-counts",
		"sync comes early by as many objects as a Resync put first", objs(obj("a", 1), obj("b", 2)),
		func(b *fixture) {
			b.must(b.f.Resync())
			b.synced(false, "only Resync was called")
			b.replace(obj("a", 3))
			initial := map[contract.FIFOClass]int{
				contract.Coalescing:    2, // a, b
				contract.InOrder:       4, // two Syncs, b's deletion, a
				contract.InOrderAtomic: 2,
			}[b.class]
			for range initial {
				b.synced(false, "not all of the first Replace was popped")
				b.popWith(nil)
			}
			b.synced(true, "all of the first Replace was popped")
			b.drain()
		}),
	on("FIFO-14", "failed-process-counts",
		"one object that cannot be processed keeps a controller from starting", nil, func(b *fixture) {
			b.replace(obj("a", 1))
			b.popWith(func(any, bool) error { return errNoKey })
			b.synced(true, "all was popped, though process failed")
		}),
	on("FIFO-15", "empty-first-replace",
		"a controller waits for ever in a cluster that has no object of its kind", objs(),
		func(b *fixture) {
			b.replace()
			if b.class == contract.InOrderAtomic {
				b.synced(false, "the event of the empty list waits")
				b.pop("ReplacedAll(rv 7 [])")
			}
			b.synced(true, "the first Replace left nothing waiting")
			b.drain()
		}),
	on("FIFO-15", "empty-but-deleting", "a controller acts on objects that are gone",
		objs(obj("gone", 1)), func(b *fixture) {
			only(b.t, contract.Coalescing, contract.InOrder)
			b.replace()
			b.synced(false, "a deletion waits")
			b.pop("Deleted(tombstone gone gone@1)")
			b.synced(true, "the deletion was popped")
		}),
	on("FIFO-16", "never-unsynced", "a relist makes every informer of a factory unready", objs(),
		func(b *fixture) {
			b.replace(obj("a", 1))
			b.popWith(nil)
			b.replace(obj("b", 2), obj("c", 3))
			b.synced(true, "a second Replace came")
			b.popWith(nil)
			b.synced(true, "part of the second Replace was popped")
		}),
	byEachPopper("FIFO-17", "not-before-process-returned",
		"a controller starts while the last object is still on its way to the cache",
		func(t *suite.T, construct newFIFO, by popper) {
			for range t.Scale(20) {
				b := by.setUp(t, construct, nil)
				b.replace(listOf(by.objects())...)
				var processed atomic.Bool
				var tooEarly <-chan bool
				b.take(func(any, bool) error {
					// HasSynced may wait for the FIFO's lock. So process leaves it time and
					// does not wait for it.
					tooEarly = start(t, func() bool { return b.f.HasSynced() && !processed.Load() })
					letOthersRun()
					processed.Store(true)
					return nil
				})
				if await(t, tooEarly, "HasSynced does not return") {
					t.Fatalf("HasSynced was true while process still had the last item of the initial list")
				}
				b.synced(true, "the initial list was popped and processed")
			}
		}),
	byEachPopper("FIFO-18", "checker",
		"whoever waits for the channel starts while the last object is still on its way to the cache",
		func(t *suite.T, construct newFIFO, by popper) {
			b := by.setUp(t, construct, nil)
			withChecker := suite.Needs[interface{ HasSyncedChecker() cache.DoneChecker }](t, b.f)
			checker := withChecker.HasSyncedChecker()
			if checker.Name() == "" {
				t.Errorf("the checker has no name")
			}
			b.replace(listOf(by.objects())...)
			var inProcess bool
			p := b.take(func(any, bool) error {
				inProcess = cache.IsDone(checker)
				return nil
			})
			if p.err != nil {
				t.Fatalf("%s: %v", by.name, p.err)
			}
			if inProcess {
				t.Errorf("Done was closed while process had the last item of the initial list")
			}
			if !cache.IsDone(checker) {
				t.Errorf("Done is open though the initial list was popped and processed")
			}
		}),
	on("FIFO-18", "checker-without-list",
		"whoever feeds a FIFO by hand waits for ever for its channel", nil, func(b *fixture) {
			withChecker := suite.Needs[interface{ HasSyncedChecker() cache.DoneChecker }](b.t, b.f)
			if cache.IsDone(withChecker.HasSyncedChecker()) {
				b.t.Errorf("Done is closed before anything was called")
			}
			b.add(obj("a", 1))
			if !cache.IsDone(withChecker.HasSyncedChecker()) {
				b.t.Errorf("Done is open though the first call was Add")
			}
		}),
	on("FIFO-19", "flag", "handlers take the initial list for news, or news for the initial list",
		objs(), func(b *fixture) {
			b.replace(obj("a", 1), obj("b", 2))
			b.add(obj("later", 3))
			for !b.f.HasSynced() {
				if p := b.popWith(nil); !p.isInitial {
					b.t.Fatalf("Pop of %s said that it is not of the initial list", render(p.deltas))
				}
			}
			b.replace(obj("a", 4), obj("later", 5))
			b.f.Close()
			for p := b.popWith(nil); p.err == nil; p = b.popWith(nil) {
				if p.isInitial {
					b.t.Fatalf("Pop of %s said that it is of the initial list", render(p.deltas))
				}
			}
		}),
}
