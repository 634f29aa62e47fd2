package mutants

// What the mutants are broken on must be sound: a mistake on rotten ground proves
// nothing about the clause that finds it.

import (
	"testing"

	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/delaytest"
	"github.com/informerbench/informerbench/conformance/fifotest"
	"github.com/informerbench/informerbench/conformance/informertest"
	"github.com/informerbench/informerbench/conformance/internal/pointerheap"
	"github.com/informerbench/informerbench/conformance/keepertest"
	"github.com/informerbench/informerbench/conformance/limittest"
	"github.com/informerbench/informerbench/conformance/queuetest"
	"github.com/informerbench/informerbench/conformance/storetest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

const why = "it is a mistake of client-go, and has a mutant"

// brief is the effort of these suites: every case runs at any effort.
const brief = 0.05

func TestStoresStandOnSoundGround(t *testing.T) {
	var waivers []suite.Option
	for _, m := range clientGoStores() {
		for _, clause := range m.Clauses {
			waivers = append(waivers, suite.Waive(clause, why))
		}
	}
	for _, s := range []struct {
		name string
		new  storetest.NewStore
		opts []suite.Option
	}{
		{"client-go", func(ix contract.Indexers) contract.Store { return newBase(ix) }, waivers},
		{"snapshots", func(ix contract.Indexers) contract.Store { return newSnapshots(ix) },
			[]suite.Option{suite.Waive("STORE-23",
				"its indexes are searched: 20,000 values are 400 million calls")}},
	} {
		t.Run(s.name, func(t *testing.T) {
			storetest.Run(t, s.new, append(s.opts, suite.WithEffort(brief))...)
		})
	}
}

func TestFIFOsStandOnSoundGround(t *testing.T) {
	for _, class := range contract.FIFOClasses() {
		t.Run(string(class), func(t *testing.T) {
			fifotest.Run(t, func(cfg contract.FIFOConfig) contract.FIFO {
				return newFIFO(cfg, class)
			}, fifotest.Class(class), suite.WithEffort(brief))
		})
	}
	t.Run("readable", func(t *testing.T) {
		fifotest.Run(t, func(cfg contract.FIFOConfig) contract.FIFO {
			return newReadable(cfg)
		}, suite.WithEffort(brief))
	})
}

func TestQueuesStandOnSoundGround(t *testing.T) {
	opts := []suite.Option{suite.WithEffort(brief)}
	for _, m := range clientGoQueues() {
		for _, clause := range m.Clauses {
			opts = append(opts, suite.Waive(clause, why))
		}
	}
	for _, unbroken := range []Mutant{
		queueOf("unbroken", "none", "QUEUE-1", func(*brokenQueue, okQueue) {}),
		rankedOf("unbroken with priorities", "none", "QUEUE-31", func(*ranked) {}),
	} {
		if err := queuetest.Check(unbroken.NewQueue, opts...); err != nil {
			t.Errorf("%s: %v", unbroken.Name, err)
		}
	}
}

func TestHeapsStandOnSoundGround(t *testing.T) {
	t.Run("exact", func(t *testing.T) {
		delaytest.Run(t, heapOf("unbroken", "none", "DELAY-1",
			func(*brokenHeap, *pointerheap.Heap) {}).NewDelay, suite.WithEffort(brief))
	})
	t.Run("granular", func(t *testing.T) {
		m := granularOf("unbroken", "none", "DELAY-1", func(*brokenHeap, *pointerheap.Heap) {})
		delaytest.Run(t, m.NewDelay, suite.WithEffort(brief), delaytest.Granularity(m.Granularity))
	})
	t.Run("counting", func(t *testing.T) { // sound but for what they count
		for _, m := range hoarders() {
			if m.Steps != nil {
				delaytest.Run(t, m.NewDelay, suite.WithEffort(brief))
			}
		}
		delaytest.Run(t, func() contract.DelayHeap[string] {
			return removable{pointerheap.New(), (*pointerheap.Heap).TakeOut}
		}, suite.WithEffort(brief))
	})
}

func TestLimitersStandOnSoundGround(t *testing.T) {
	limittest.Run(t, func() contract.RateLimiter[string] {
		return newCounter()
	}, suite.WithEffort(brief))
}

func TestKeepersStandOnSoundGround(t *testing.T) {
	keepertest.Run(t, func() contract.ObjectKeeper { return &boxes{} }, suite.WithEffort(brief))
}

func TestInformersStandOnSoundGround(t *testing.T) {
	opts := []suite.Option{suite.WithEffort(brief)}
	for _, clause := range brokenByClientGo {
		opts = append(opts, suite.Waive(clause, why))
	}
	for name, unbroken := range map[string]contract.NewInformer{
		"answers": construct(func(*informer) {}),
		"handlers": wrapped(func(h cache.ResourceEventHandler) cache.ResourceEventHandler {
			return around(h, func(f func()) { f() })
		}),
		"source": constructOver(func(s *source) { s.pass = func(int, watch.Event) bool { return true } }),
	} {
		t.Run(name, func(t *testing.T) {
			informertest.Run(t, unbroken, opts...)
		})
	}
}
