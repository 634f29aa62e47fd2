package subject

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/contract"
)

// Plant slows a store down on purpose, by a share of the cost of each operation, to test
// whether gates find the slowdown. It samples the store's own cost at work and spends the
// share of it in a loop after each operation. A share of 0 has the same costs of sampling
// and counting: compare a planted store with that.
//
// The share is met to within about a tenth of itself for operations of some hundred ns or
// more; for shorter ones the clock is too coarse. Safe for concurrent use if the store is.
// Of the optional interfaces it implements Transaction where the store does.
func Plant(newStore func(contract.Indexers) contract.Store, share float64) func(contract.Indexers) contract.Store {
	return func(ix contract.Indexers) contract.Store {
		p := &planted{Store: newStore(ix), share: share, clock: clockCost(), perNs: turnsPerNs(), idle: idle}
		if t, ok := p.Store.(contract.Transactor); ok {
			return &plantedTransactor{p, t}
		}
		return p
	}
}

type planted struct {
	contract.Store
	share float64
	clock float64 // ns that a pair of clock readings adds
	perNs float64 // turns of the idle loop per ns
	idle  func(turns int) uint64
	cost  [plantedOps]atomic.Uint64
}

type plantedTransactor struct {
	*planted
	inner contract.Transactor
}

// The operations, each with a cost of its own.
const (
	plantedGet = iota
	plantedList
	plantedListKeys
	plantedByIndex
	plantedIndex
	plantedIndexKeys
	plantedAdd
	plantedUpdate
	plantedDelete
	plantedReplace
	plantedTransaction
	plantedOps
)

// One operation in plantedStride is timed. Each timing moves the estimate by a
// plantedMemory-th of the difference.
const (
	plantedStride = 32
	plantedMemory = 16
)

// begin returns the time if this operation is one of those timed, else the zero time.
func (p *planted) begin(op int) (start time.Time) {
	if p.cost[op].Load() == 0 || rand.Uint32()%plantedStride == 0 {
		return time.Now()
	}
	return time.Time{}
}

// end updates the operation's cost if it was timed, and idles for the share.
func (p *planted) end(op int, start time.Time) {
	cost := math.Float64frombits(p.cost[op].Load())
	if !start.IsZero() {
		took := max(0.1, float64(time.Since(start))-p.clock)
		if cost == 0 {
			cost = took
		}
		cost += (took - cost) / plantedMemory
		p.cost[op].Store(math.Float64bits(cost))
	}
	p.idle(int(p.share * cost * p.perNs))
}

func (p *planted) Get(key string) (any, bool) {
	start := p.begin(plantedGet)
	v, ok := p.Store.Get(key)
	p.end(plantedGet, start)
	return v, ok
}

func (p *planted) List() []any {
	start := p.begin(plantedList)
	v := p.Store.List()
	p.end(plantedList, start)
	return v
}

func (p *planted) ListKeys() []string {
	start := p.begin(plantedListKeys)
	v := p.Store.ListKeys()
	p.end(plantedListKeys, start)
	return v
}

func (p *planted) ByIndex(name, value string) ([]any, error) {
	start := p.begin(plantedByIndex)
	v, err := p.Store.ByIndex(name, value)
	p.end(plantedByIndex, start)
	return v, err
}

func (p *planted) Index(name string, obj any) ([]any, error) {
	start := p.begin(plantedIndex)
	v, err := p.Store.Index(name, obj)
	p.end(plantedIndex, start)
	return v, err
}

func (p *planted) IndexKeys(name, value string) ([]string, error) {
	start := p.begin(plantedIndexKeys)
	v, err := p.Store.IndexKeys(name, value)
	p.end(plantedIndexKeys, start)
	return v, err
}

func (p *planted) Add(key string, obj any) {
	start := p.begin(plantedAdd)
	p.Store.Add(key, obj)
	p.end(plantedAdd, start)
}

func (p *planted) Update(key string, obj any) {
	start := p.begin(plantedUpdate)
	p.Store.Update(key, obj)
	p.end(plantedUpdate, start)
}

func (p *planted) Delete(key string) {
	start := p.begin(plantedDelete)
	p.Store.Delete(key)
	p.end(plantedDelete, start)
}

func (p *planted) Replace(items map[string]any, version string) {
	start := p.begin(plantedReplace)
	p.Store.Replace(items, version)
	p.end(plantedReplace, start)
}

func (p *plantedTransactor) Transaction(txns ...contract.StoreTransaction) {
	start := p.begin(plantedTransaction)
	p.inner.Transaction(txns...)
	p.end(plantedTransaction, start)
}

// idle spends time without touching memory that another core uses.
//
//go:noinline
func idle(turns int) uint64 {
	x := uint64(turns)
	for range turns {
		x ^= x << 13
		x ^= x >> 7
	}
	return x
}

// turnsPerNs measures idle: the fastest of several tries, which nothing disturbed.
func turnsPerNs() float64 {
	const turns = 200_000
	best := math.Inf(1)
	for range 10 {
		start := time.Now()
		runtime.KeepAlive(idle(turns))
		best = min(best, float64(time.Since(start)))
	}
	return turns / best
}

// clockCost is the time between two successive clock readings, in ns: the least of several
// tries.
func clockCost() float64 {
	const readings = 1000
	best := math.Inf(1)
	for range 10 {
		start := time.Now()
		for range readings {
			_ = time.Since(start)
		}
		best = min(best, float64(time.Since(start))/readings)
	}
	return best
}
