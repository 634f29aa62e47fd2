package informertest

// Servers with replicas that lag, lists in pages, and streams that tear.

import (
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/load/synthetic"
)

const (
	whyBackInTime = "a kubelet would start again what it was told to stop"
	whyHalf       = "what the other half of the list holds would be deleted, or never seen"
	whyRestart    = "after a change of its custom resource definition, or a restart of the server, " +
		"a controller acts on the state of before, until etcd is compacted"
	whyWatches = "each costs the API server a goroutine and a buffer until its connection ends"
)

// restartClause is the clause on a watch cache that is younger than the storage.
const restartClause = "INFORMER-33"

// restarts restarts the watch cache of the source while the informer watches, and checks
// that the informer recovers.
func restarts(b *fixture) {
	b.handler("handler", nil)
	b.startUp()
	for round := range 3 {
		b.update(keyOf(0), 1) // the fault replaces this event
		churn(b)
		b.advance(61 * time.Second)
		if got := b.problemsNow(func() { b.compareStore(b.wanted()) }); got != "" {
			b.errorf("a minute after the watch cache was begun anew for the %d. time: %s", round+1, got)
			return
		}
		churnBack(b)
		b.advance(61 * time.Second)
	}
	struck := b.source.Struck()[synthetic.FaultCacheRestart]
	if struck < 3 {
		b.errorf("the watch cache was begun anew %d times, want 3 or more", struck)
	}
}

// expiring has lists in pages, and a continue token that expires before the second page.
var expiring = setup{objects: 6, page: 2,
	faults: []synthetic.Fault{{Kind: synthetic.FaultExpireContinue}}}

// betweenPages writes when the informer asks for the second page, so that the first page is
// out of date.
func betweenPages(b *fixture) {
	b.gate.between(func() {
		b.delete(keyOf(0))
		b.update(keyOf(2), 1)
		b.update(keyOf(2), 2)
	})
	b.handler("handler", nil)
	b.start()
	b.advance(time.Minute)
}

var serverCases = []suite.Case[env]{
	play("INFORMER-1", "page-that-expires", whyHalf, expiring, betweenPages),
	play("INFORMER-5", "page-that-expires", whyBackInTime, expiring, betweenPages),
	play("INFORMER-1", "pages", whyHalf, setup{objects: 11, page: 2}, func(b *fixture) {
		b.gate.between(func() { churn(b) })
		b.start()
	}),
	play("INFORMER-7", "streaming-list-that-tears", whyHalf, setup{objects: 6, window: 3},
		func(b *fixture) {
			b.handler("handler", nil)
			b.startUp()
			b.gate.tear(2)
			b.miss(func() { churn(b) })
		}),
	play("INFORMER-9", "streaming-list-that-tears", whyHalf, setup{objects: 6}, func(b *fixture) {
		for n := range 3 {
			b.gate.tear(2 * n)
		}
		b.start()
		b.advance(5 * time.Minute)
	}),
	play("INFORMER-1", "first-list-of-a-replica-that-lags", whyStale, setup{objects: 6},
		func(b *fixture) {
			b.gate.lag()
			churn(b)
			b.startUp()
			b.compare()
			churnBack(b)
		}),
	play("INFORMER-5", "replica-that-lags", whyBackInTime, setup{objects: 6, window: 3},
		func(b *fixture) {
			b.handler("handler", nil)
			b.startUp()
			b.gate.lag()
			writer(b, keyOf(0), 3)
			b.settle()
			b.miss(func() { churn(b) })
			b.gate.catchUp()
			b.miss(func() { churnBack(b) })
		}),
	play("INFORMER-5", "watch-begun-again", whyBackInTime, setup{objects: 6}, func(b *fixture) {
		b.handler("handler", nil)
		b.startUp()
		for i := range 3 {
			writer(b, keyOf(i), 3)
			b.settle()
			b.gate.cut(errCut)
			b.settle()
			writer(b, keyOf(i+1), 2)
			b.gate.mend()
			b.advance(2 * time.Minute)
		}
	}),

	play("INFORMER-19", "bookmarks-alone",
		"a watch that begins again where the last event was, days ago, is answered 410 and costs a list",
		setup{objects: 6, namespace: "ns0"}, func(b *fixture) {
			b.startUp()
			b.create("ns1/of-others", 1)
			b.advance(3 * time.Minute)
		}),

	play(restartClause, "no-watch-cache-at-first", whyRestart, setup{
		objects: 6, page: 2, faults: []synthetic.Fault{
			{Kind: synthetic.FaultCacheRestart, EveryEvents: 3}},
	}, restarts),
	play(restartClause, "watch-cache-not-filled-at-first", whyRestart, setup{
		objects: 6, page: 2, cached: true,
		faults: []synthetic.Fault{{Kind: synthetic.FaultCacheFilling},
			{Kind: synthetic.FaultCacheRestart, EveryEvents: 3}},
	}, restarts),
	play(restartClause, "watch-cache-from-the-start", whyRestart, setup{
		objects: 6, cached: true, faults: []synthetic.Fault{
			{Kind: synthetic.FaultCacheRestart, EveryEvents: 3}},
	}, restarts),

	play("INFORMER-27", "watches-refused", whyBackoff, setup{objects: 3}, func(b *fixture) {
		b.watchesFail(errBroken)
	}),
	play("INFORMER-27", "watches-unreachable", whyBackoff, setup{objects: 3}, func(b *fixture) {
		b.watchesFail(errCut)
	}),
	play("INFORMER-27", "watches-that-end-at-once", whyBackoff, setup{objects: 3}, func(b *fixture) {
		b.watchesFail(nil)
	}),

	play("INFORMER-32", "errors-that-do-not-end-them", whyWatches, setup{
		objects: 5, linger: true, faults: []synthetic.Fault{{Kind: synthetic.FaultError, EveryEvents: 2}},
	}, func(b *fixture) {
		b.start()
		for i := range 5 {
			b.advance(3 * time.Minute)
			b.update(keyOf(i), i+1)
		}
		b.advance(3 * time.Minute)
	}),
	play("INFORMER-32", "resyncs-and-lists", whyWatches,
		setup{objects: 5, window: 3, resync: time.Minute}, func(b *fixture) {
			b.handler("handler", nil)
			b.start()
			b.advance(20 * time.Minute) // longer than the timeout that a watch asks for
			for range 3 {
				b.compare()
				b.miss(func() { b.update(keyOf(0), 1) })
			}
		}),
	play("INFORMER-32", "at-the-end", whyWatches, setup{objects: 5}, func(b *fixture) {
		b.startUp()
		b.update(keyOf(0), 1)
		b.stop()
	}),
}

// watchesFail answers lists but not watches, for long enough to see how often the informer
// retries them.
func (b *fixture) watchesFail(err error) {
	const outage = 15 * time.Minute
	b.start()
	b.advance(time.Minute)
	b.gate.forgetRequests()
	b.gate.refuseWatches(err)
	b.update(keyOf(0), 1)
	b.advance(outage)
	b.wantBackoff(outage)
	b.gate.mend()
	b.update(keyOf(0), 2)
	b.advance(61 * time.Second)
	if got := b.problemsNow(func() { b.compareStore(b.wanted()) }); got != "" {
		b.errorf("a minute after the source is mended: %s", got)
	}
}
