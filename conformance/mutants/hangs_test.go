package mutants

// Each suite accuses an implementation that stops in a call, whatever the call, and
// goes on with its next case.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/conformance/internal/pointerheap"
	"github.com/informerbench/informerbench/conformance/linear"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// trap stops one goroutine: the one that makes the nth call of a method.
type trap struct {
	method string
	nth    int64
	how    string // one of hows
	calls  atomic.Int64
	sprung atomic.Bool
	free   chan struct{} // closed at the end of the test
	lock   sync.Mutex    // held until then
}

var hows = []string{"on a channel", "on a lock", "in a loop"}

func newTrap(t *testing.T, method string, nth int64, how string) *trap {
	p := &trap{method: method, nth: nth, how: how, free: make(chan struct{})}
	p.lock.Lock()
	t.Cleanup(func() { close(p.free); p.lock.Unlock() })
	return p
}

// at is called by every method before it does its work.
func (p *trap) at(method string) {
	if method == p.method && p.calls.Add(1) == p.nth {
		p.sprung.Store(true)
		p.stopHere()
	}
}

// stopHere is what a test looks for in the stacks.
func (p *trap) stopHere() {
	switch p.how {
	case "on a channel":
		<-p.free
	case "on a lock":
		p.lock.Lock()
		defer p.lock.Unlock() // for the next who waits
	default:
		for {
			select {
			case <-p.free:
				return
			default:
				goruntime.Gosched()
			}
		}
	}
}

// trapped are the methods of a component, and a mutant that has the trap in them.
type trapped struct {
	component contract.Component
	methods   []string
	mutant    func(p *trap) Mutant
}

func trappedComponents() []trapped {
	of := func(c contract.Component) Mutant {
		return mutant(c, "trapped", "one call does not return", "")
	}
	return []trapped{
		{contract.ComponentStore, strings.Fields(
			"Add Update Delete Get List ListKeys Replace Index IndexKeys ListIndexFuncValues ByIndex " +
				"GetIndexers AddIndexers Resync Transaction"),
			func(p *trap) Mutant {
				m := of(contract.ComponentStore)
				m.NewStore = func(ix contract.Indexers) contract.Store { return trappedStore{newBase(ix), p} }
				return m
			}},
		{contract.ComponentFIFO, strings.Fields("Add Update Delete Replace Resync Pop HasSynced Close"),
			func(p *trap) Mutant {
				m := of(contract.ComponentFIFO)
				m.FIFOClass = contract.Coalescing
				m.NewFIFO = func(cfg contract.FIFOConfig) contract.FIFO {
					return trappedFIFO{newFIFO(cfg, contract.Coalescing), p}
				}
				return m
			}},
		{contract.ComponentDelay, strings.Fields("Add Next PopReady Len"),
			func(p *trap) Mutant {
				m := of(contract.ComponentDelay)
				m.NewDelay = func() contract.DelayHeap[string] { return trappedHeap{pointerheap.New(), p} }
				return m
			}},
		{contract.ComponentQueue, strings.Fields(
			"Add Len Get Done ShutDown ShutDownWithDrain ShuttingDown AddAfter"),
			func(p *trap) Mutant {
				m := of(contract.ComponentQueue)
				unbroken := queueOf("unbroken", "none", "QUEUE-1", func(*brokenQueue, okQueue) {})
				m.NewQueue = func(c clock.WithTicker) contract.DelayingQueue[string] {
					return trappedQueue{unbroken.NewQueue(c), p}
				}
				return m
			}},
		{contract.ComponentLimiter, strings.Fields("When Forget NumRequeues"),
			func(p *trap) Mutant {
				m := of(contract.ComponentLimiter)
				m.NewLimiter = func() contract.RateLimiter[string] { return trappedLimiter{newCounter(), p} }
				return m
			}},
		{contract.ComponentObjects, strings.Fields("Keep Object"),
			func(p *trap) Mutant {
				m := of(contract.ComponentObjects)
				m.NewKeeper = func() contract.ObjectKeeper { return trappedKeeper{&boxes{}, p} }
				return m
			}},
		{contract.ComponentInformer,
			strings.Fields("AddEventHandlerWithOptions RemoveEventHandler GetStore HasSyncedChecker " +
				"RunWithContext IsStopped SetTransform"),
			func(p *trap) Mutant {
				m := of(contract.ComponentInformer)
				sound := construct(func(*informer) {})
				m.NewInformer = func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
					ix contract.Indexers) cache.SharedIndexInformer {
					return trappedInformer{sound(lw, example, resync, ix), p}
				}
				return m
			}},
	}
}

// hangRounds counts the runs of TestNoSuiteHangs in this process: each has its own traps,
// so -count tries more of them, and the first run of every process tries the same.
var hangRounds atomic.Uint64

// TestNoSuiteHangs plants a call that never returns into a sixth of the methods, each in turn:
// -count=6 plants one into all, as make proofs does.
func TestNoSuiteHangs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, hangRounds.Add(1)))
	for _, c := range trappedComponents() {
		// The default bound: on a busy machine a sound case may rest for longer than the short one.
		healthy := runTrapped(t, c, newTrap(t, "no method", 0, hows[0]), 0)
		for _, f := range healthy.failed {
			t.Fatalf("%s: without a trap it fails already: %s", c.component, f)
		}
		for i, method := range c.methods {
			if uint64(i)%6 != hangRounds.Load()%6 {
				continue
			}
			nth, how := 1+r.Int64N(40), hows[i%len(hows)]
			t.Run(fmt.Sprintf("%s/%s/call-%d-%s", c.component, method, nth, how), func(t *testing.T) {
				t.Parallel()
				// On a busy machine the short bounds end cases that are only slow.
				wrong := ""
				for bound := 2 * time.Second; bound < 2*time.Minute; bound *= 5 {
					if wrong = trappedWell(t, c, healthy, method, nth, how, bound); wrong == "" {
						return
					}
				}
				t.Error(wrong)
			})
		}
	}
}

// trappedWell says what is wrong with a suite's results when the nth call of a method does not
// return.
func trappedWell(t *testing.T, c trapped, healthy trappedRun, method string, nth int64, how string,
	bound time.Duration) (wrong string) {
	p := newTrap(t, method, nth, how)
	got := runTrapped(t, c, p, bound)
	if !p.sprung.Load() {
		p.nth = 1 // a method that is called less often
		if got = runTrapped(t, c, p, bound); !p.sprung.Load() {
			return "the suite never calls the method"
		}
	}
	if got.cases != healthy.cases {
		return fmt.Sprintf("%d cases were run, %d without the trap: the suite does not go on", got.cases,
			healthy.cases)
	}
	if !slices.ContainsFunc(got.failed, func(said string) bool {
		return strings.Contains(said, "stopHere")
	}) {
		return "no failure shows where the call is:\n" + strings.Join(got.failed, "\n")
	}
	return ""
}

type trappedRun struct {
	cases  int
	failed []string
}

// runTrapped runs the component's Check with a bound of each case; 0 is the default.
func runTrapped(t *testing.T, c trapped, p *trap, bound time.Duration) (run trappedRun) {
	p.calls.Store(0)
	opts := append(waivers(c.component), suite.WithEffort(0.001), suite.WithCaseTimeout(bound),
		linear.WithDrawings(t.TempDir()),
		suite.WithObserver(func(r suite.Result) {
			run.cases++
			if r.Outcome == suite.Fail {
				run.failed = append(run.failed, r.Clause.ID+" "+r.Case+": "+r.Reason)
			}
		}))
	err := c.mutant(p).Check(opts...)
	if _, failed := errors.AsType[*suite.Failure](err); err != nil && !failed {
		t.Fatal(err)
	}
	return run
}

// waivers leave out what client-go's own implementations, on which some traps stand, do not
// keep. Mutant.Check does so for informers.
func waivers(c contract.Component) (opts []suite.Option) {
	var known []Mutant
	switch c {
	case contract.ComponentStore:
		known = clientGoStores()
	case contract.ComponentQueue:
		known = clientGoQueues()
	}
	for _, m := range known {
		for _, clause := range m.Clauses {
			opts = append(opts, suite.Waive(clause, why))
		}
	}
	return opts
}

type trappedStore struct {
	base
	p *trap
}

func (s trappedStore) Add(key string, obj any)    { s.p.at("Add"); s.base.Add(key, obj) }
func (s trappedStore) Update(key string, obj any) { s.p.at("Update"); s.base.Update(key, obj) }
func (s trappedStore) Delete(key string)          { s.p.at("Delete"); s.base.Delete(key) }
func (s trappedStore) Get(key string) (any, bool) { s.p.at("Get"); return s.base.Get(key) }
func (s trappedStore) List() []any                { s.p.at("List"); return s.base.List() }
func (s trappedStore) ListKeys() []string         { s.p.at("ListKeys"); return s.base.ListKeys() }
func (s trappedStore) Resync() error              { s.p.at("Resync"); return s.base.Resync() }
func (s trappedStore) Replace(items map[string]any, v string) {
	s.p.at("Replace")
	s.base.Replace(items, v)
}
func (s trappedStore) Index(n string, obj any) ([]any, error) {
	s.p.at("Index")
	return s.base.Index(n, obj)
}
func (s trappedStore) IndexKeys(n, v string) ([]string, error) {
	s.p.at("IndexKeys")
	return s.base.IndexKeys(n, v)
}
func (s trappedStore) ListIndexFuncValues(n string) []string {
	s.p.at("ListIndexFuncValues")
	return s.base.ListIndexFuncValues(n)
}
func (s trappedStore) ByIndex(n, v string) ([]any, error) {
	s.p.at("ByIndex")
	return s.base.ByIndex(n, v)
}
func (s trappedStore) GetIndexers() contract.Indexers {
	s.p.at("GetIndexers")
	return s.base.GetIndexers()
}
func (s trappedStore) AddIndexers(ix contract.Indexers) error {
	s.p.at("AddIndexers")
	return s.base.AddIndexers(ix)
}
func (s trappedStore) Transaction(txns ...contract.StoreTransaction) {
	s.p.at("Transaction")
	s.base.Transaction(txns...)
}

type trappedFIFO struct {
	*fifo
	p *trap
}

func (f trappedFIFO) Add(obj any) error    { f.p.at("Add"); return f.fifo.Add(obj) }
func (f trappedFIFO) Update(obj any) error { f.p.at("Update"); return f.fifo.Update(obj) }
func (f trappedFIFO) Delete(obj any) error { f.p.at("Delete"); return f.fifo.Delete(obj) }
func (f trappedFIFO) Resync() error        { f.p.at("Resync"); return f.fifo.Resync() }
func (f trappedFIFO) HasSynced() bool      { f.p.at("HasSynced"); return f.fifo.HasSynced() }
func (f trappedFIFO) Close()               { f.p.at("Close"); f.fifo.Close() }
func (f trappedFIFO) Replace(list []any, v string) error {
	f.p.at("Replace")
	return f.fifo.Replace(list, v)
}
func (f trappedFIFO) Pop(process contract.PopProcessFunc) (any, error) {
	f.p.at("Pop")
	return f.fifo.Pop(process)
}

type trappedHeap struct {
	contract.DelayHeap[string]
	p *trap
}

func (h trappedHeap) Add(item string, at time.Time) { h.p.at("Add"); h.DelayHeap.Add(item, at) }
func (h trappedHeap) Next() (time.Time, bool)       { h.p.at("Next"); return h.DelayHeap.Next() }
func (h trappedHeap) Len() int                      { h.p.at("Len"); return h.DelayHeap.Len() }
func (h trappedHeap) PopReady(now time.Time) (string, bool) {
	h.p.at("PopReady")
	return h.DelayHeap.PopReady(now)
}

type trappedQueue struct {
	contract.DelayingQueue[string]
	p *trap
}

func (q trappedQueue) Add(item string)  { q.p.at("Add"); q.DelayingQueue.Add(item) }
func (q trappedQueue) Len() int         { q.p.at("Len"); return q.DelayingQueue.Len() }
func (q trappedQueue) Done(item string) { q.p.at("Done"); q.DelayingQueue.Done(item) }
func (q trappedQueue) ShutDown()        { q.p.at("ShutDown"); q.DelayingQueue.ShutDown() }
func (q trappedQueue) ShuttingDown() bool {
	q.p.at("ShuttingDown")
	return q.DelayingQueue.ShuttingDown()
}
func (q trappedQueue) Get() (string, bool) {
	q.p.at("Get")
	return q.DelayingQueue.Get()
}
func (q trappedQueue) ShutDownWithDrain() {
	q.p.at("ShutDownWithDrain")
	q.DelayingQueue.ShutDownWithDrain()
}
func (q trappedQueue) AddAfter(item string, d time.Duration) {
	q.p.at("AddAfter")
	q.DelayingQueue.AddAfter(item, d)
}

type trappedLimiter struct {
	contract.RateLimiter[string]
	p *trap
}

func (l trappedLimiter) When(item string) time.Duration {
	l.p.at("When")
	return l.RateLimiter.When(item)
}
func (l trappedLimiter) Forget(item string) { l.p.at("Forget"); l.RateLimiter.Forget(item) }
func (l trappedLimiter) NumRequeues(item string) int {
	l.p.at("NumRequeues")
	return l.RateLimiter.NumRequeues(item)
}

type trappedKeeper struct {
	contract.ObjectKeeper
	p *trap
}

func (k trappedKeeper) Keep(obj any) any    { k.p.at("Keep"); return k.ObjectKeeper.Keep(obj) }
func (k trappedKeeper) Object(kept any) any { k.p.at("Object"); return k.ObjectKeeper.Object(kept) }

type trappedInformer struct {
	cache.SharedIndexInformer
	p *trap
}

func (i trappedInformer) AddEventHandlerWithOptions(h cache.ResourceEventHandler,
	o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	i.p.at("AddEventHandlerWithOptions")
	return i.SharedIndexInformer.AddEventHandlerWithOptions(h, o)
}
func (i trappedInformer) RemoveEventHandler(h cache.ResourceEventHandlerRegistration) error {
	i.p.at("RemoveEventHandler")
	return i.SharedIndexInformer.RemoveEventHandler(h)
}
func (i trappedInformer) GetStore() cache.Store {
	i.p.at("GetStore")
	return i.SharedIndexInformer.GetStore()
}
func (i trappedInformer) HasSyncedChecker() cache.DoneChecker {
	i.p.at("HasSyncedChecker")
	return i.SharedIndexInformer.HasSyncedChecker()
}
func (i trappedInformer) RunWithContext(ctx context.Context) {
	i.p.at("RunWithContext")
	i.SharedIndexInformer.RunWithContext(ctx)
}
func (i trappedInformer) IsStopped() bool {
	i.p.at("IsStopped")
	return i.SharedIndexInformer.IsStopped()
}
func (i trappedInformer) SetTransform(f cache.TransformFunc) error {
	i.p.at("SetTransform")
	return i.SharedIndexInformer.SetTransform(f)
}
