package informertest

// The store: its content and its indexes.

import (
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/synthetic"
)

const (
	whyStale   = "controllers would act on what is no longer so, until somebody restarts them"
	whyIndexes = "a scheduler or kubelet that asks by node would see pods that are elsewhere, or " +
		"miss its own"
)

// churn makes writes of each kind.
func churn(b *fixture) {
	b.create("ns0/new", 0)
	b.update(keyOf(0), 1)
	b.update(keyOf(1), 2)
	b.update(keyOf(1), 0)
	b.delete(keyOf(2))
	b.delete(keyOf(3))
	b.create(keyOf(3), 2)
	b.create("ns1/brief", 1)
	b.delete("ns1/brief")
}

var stateCases = []suite.Case[env]{
	play("INFORMER-1", "first-list", whyStale, setup{objects: 20}, func(b *fixture) { b.start() }),
	play("INFORMER-1", "empty-source", whyStale, setup{}, func(b *fixture) { b.start() }),
	play("INFORMER-1", "watched-writes", whyStale, setup{objects: 10}, func(b *fixture) {
		b.startUp()
		churn(b)
		b.settle()
		b.compare()
		churnBack(b)
	}),
	play("INFORMER-1", "writes-while-it-starts", whyStale, setup{objects: 10}, func(b *fixture) {
		b.start()
		churn(b)
	}),
	play("INFORMER-1", "writes-behind-its-back",
		"what changes while the connection is down would be lost", setup{objects: 10, window: 3},
		func(b *fixture) {
			b.handler("handler", nil)
			b.startUp()
			b.miss(func() { churn(b) })
			b.compare()
			churnBack(b)
		}),
	play("INFORMER-1", "everything-gone-behind-its-back", whyStale, setup{objects: 5, window: 3},
		func(b *fixture) {
			b.startUp()
			b.miss(func() {
				for i := range 5 {
					b.delete(keyOf(i))
				}
			})
		}),
	play("INFORMER-1", "watches-that-break", whyStale, setup{objects: 10, faults: []synthetic.Fault{
		{Kind: synthetic.FaultClose, EveryEvents: 3, AfterEvents: 1},
		{Kind: synthetic.FaultError, EveryEvents: 7},
		{Kind: synthetic.FaultGone, EveryEvents: 11, AfterEvents: 4},
	}}, func(b *fixture) {
		b.start()
		for range 3 {
			b.advance(time.Minute)
			churn(b)
			b.advance(time.Minute)
			churnBack(b)
		}
		b.advance(5 * time.Minute)
	}),
	play("INFORMER-1", "continue-that-expires", whyStale,
		setup{objects: 1200, faults: []synthetic.Fault{{Kind: synthetic.FaultExpireContinue}}},
		func(b *fixture) {
			b.start()
			b.advance(5 * time.Minute)
		}),

	play("INFORMER-2", "watched-writes", whyIndexes, setup{objects: 10}, func(b *fixture) {
		b.startUp()
		churn(b)
	}),
	play("INFORMER-2", "writes-behind-its-back", whyIndexes, setup{objects: 10, window: 3},
		func(b *fixture) {
			b.startUp()
			b.miss(func() { churn(b) })
		}),

	play("INFORMER-15", "before-the-start",
		"managers add the indexes of all controllers before they start", setup{objects: 9, bare: true},
		func(b *fixture) {
			err := b.informer.AddIndexers(contract.Indexers{nodeIndex: byNode})
			if err != nil {
				b.errorf("AddIndexers before the start: %v", err)
			}
			b.startUp()
			wantIndexed(b)
		}),
	play("INFORMER-15", "while-it-runs",
		"a controller that starts late would find nothing by its index", setup{objects: 9, bare: true},
		func(b *fixture) {
			b.startUp()
			err := b.informer.AddIndexers(contract.Indexers{nodeIndex: byNode})
			if err != nil {
				b.errorf("AddIndexers while it runs: %v", err)
			}
			wantIndexed(b)
			churn(b)
			b.settle()
			wantIndexed(b)
		}),
	play("INFORMER-15", "name-that-is-taken", "two controllers would read each other's index",
		setup{objects: 9}, func(b *fixture) {
			everywhere := func(any) ([]string, error) { return []string{"everywhere"}, nil }
			for _, when := range []string{"before the start", "while it runs"} {
				if err := b.informer.AddIndexers(
					contract.Indexers{nodeIndex: everywhere, "other " + when: everywhere}); err == nil {
					b.errorf("AddIndexers %s takes a name that is taken", when)
				}
				if when == "before the start" {
					b.startUp()
				}
				_, there := b.informer.GetIndexer().GetIndexers()["other "+when]
				if there {
					b.errorf("AddIndexers %s refused one name and took another of the same call", when)
				}
			}
			wantIndexed(b)
		}),
}

// churnBack undoes churn, so that churn can run again.
func churnBack(b *fixture) {
	b.delete("ns0/new")
	b.create(keyOf(2), 2)
}

// wantIndexed checks the index of nodes.
func wantIndexed(b *fixture) {
	indexer := b.informer.GetIndexer()
	if indexer.GetIndexers()[nodeIndex] == nil {
		b.errorf("there is no index %s", nodeIndex)
		return
	}
	nodes := map[string]int{}
	for _, obj := range b.source.Snapshot() {
		values, _ := byNode(obj)
		nodes[values[0]]++
	}
	for node, n := range nodes {
		if got, err := indexer.ByIndex(nodeIndex, node); err != nil || len(got) != n {
			b.errorf("the index gives %d objects (%v) for %s, want %d", len(got), err, node, n)
		}
	}
	if got := indexer.ListIndexFuncValues(nodeIndex); len(got) != len(nodes) {
		b.errorf("the index has the values %v, want %d of them", got, len(nodes))
	}
}
