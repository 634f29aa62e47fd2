package catalog

import (
	"cmp"
	"path"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/lockfree"
)

// Option sets fields of an Entry that a constructor below makes. For a field that has no
// option of its own, write one:
//
//	func(e *catalog.Entry) { e.OwnClock = true }
type Option = func(*Entry)

// Description is one line: how the implementation works, what it is good at, what it costs.
// Extend refuses an entry without one.
func Description(text string) Option { return func(e *Entry) { e.Description = text } }

// Guarantees is one line: what the implementation promises beyond the contract, or less than
// it. The default is the whole contract, or the contract but for the waived clauses.
func Guarantees(text string) Option { return func(e *Entry) { e.Guarantees = text } }

// Waive names a clause that the implementation does not keep, such as STORE-7, and why. The
// suite leaves the clause out. Every list, verification and report prints it.
func Waive(clause, reason string) Option {
	return func(e *Entry) { e.Waivers = append(e.Waivers, Waiver{clause, reason}) }
}

// Class is the class of a FIFO. The default is contract.Coalescing.
func Class(class contract.FIFOClass) Option { return func(e *Entry) { e.FIFOClass = class } }

// Store makes the entry of a store, for Extend. It checks nothing: Extend does, and Entry.Try
// calls the constructor. newStore may return any type that implements the contract, so that
// mystore.New of a *mystore.Store fits as it is. Many goroutines may call it at once, and each
// call must return a new, empty store. The name "" stands for that of the constructor's
// package. All this holds for FIFO, DelayHeap, Queue, Limiter and Informer too.
func Store[S contract.Store](name string, newStore func(contract.Indexers) S,
	opts ...Option) Entry {
	e := Entry{Component: contract.ComponentStore, Name: name}
	if newStore != nil {
		e.NewStore = func(ix contract.Indexers) contract.Store { return newStore(ix) }
	}
	return e.with(newStore, opts)
}

// FIFO makes the entry of a FIFO.
func FIFO[F contract.FIFO](name string, newFIFO func(contract.FIFOConfig) F, opts ...Option) Entry {
	e := Entry{Component: contract.ComponentFIFO, Name: name, FIFOClass: contract.Coalescing}
	if newFIFO != nil {
		e.NewFIFO = func(cfg contract.FIFOConfig) contract.FIFO { return newFIFO(cfg) }
	}
	return e.with(newFIFO, opts)
}

// DelayHeap makes the entry of a delay heap. One that rounds times sets Entry.Granularity.
func DelayHeap[H contract.DelayHeap[string]](name string, newHeap func() H, opts ...Option) Entry {
	e := Entry{Component: contract.ComponentDelay, Name: name}
	if newHeap != nil {
		e.NewDelay = func() contract.DelayHeap[string] { return newHeap() }
	}
	return e.with(newHeap, opts)
}

// Queue makes the entry of a workqueue. One that ignores the clock it is given sets
// Entry.OwnClock.
func Queue[Q contract.DelayingQueue[string]](name string, newQueue func(clock.WithTicker) Q,
	opts ...Option) Entry {
	e := Entry{Component: contract.ComponentQueue, Name: name}
	if newQueue != nil {
		e.NewQueue = func(c clock.WithTicker) contract.DelayingQueue[string] { return newQueue(c) }
	}
	return e.with(newQueue, opts)
}

// Limiter makes the entry of a rate limiter. Limiters are verified and not measured.
func Limiter[L contract.RateLimiter[string]](name string, newLimiter func() L,
	opts ...Option) Entry {
	e := Entry{Component: contract.ComponentLimiter, Name: name}
	if newLimiter != nil {
		e.NewLimiter = func() contract.RateLimiter[string] { return newLimiter() }
	}
	return e.with(newLimiter, opts)
}

// Keeper makes the entry of an object keeper. Keepers are verified, and measured under a store or
// an informer.
func Keeper[K contract.ObjectKeeper](name string, newKeeper func() K, opts ...Option) Entry {
	e := Entry{Component: contract.ComponentObjects, Name: name,
		Under: func(ix contract.Indexers) contract.Store { return lockfree.New(ix) }}
	if newKeeper != nil {
		e.NewKeeper = func() contract.ObjectKeeper { return newKeeper() }
	}
	return e.with(newKeeper, opts)
}

// Informer makes the entry of an informer. informer.Func returns such a constructor for this
// project's informer over other stores and FIFOs.
func Informer[I cache.SharedIndexInformer](name string,
	newInformer func(cache.ListerWatcher, apiruntime.Object, time.Duration, contract.Indexers) I,
	opts ...Option) Entry {
	e := Entry{Component: contract.ComponentInformer, Name: name}
	if newInformer != nil {
		e.NewInformer = func(lw cache.ListerWatcher, example apiruntime.Object, resync time.Duration,
			ix contract.Indexers) cache.SharedIndexInformer {
			return newInformer(lw, example, resync, ix)
		}
	}
	return e.with(newInformer, opts)
}

// with completes an entry. construct is the function that was given.
func (e Entry) with(construct any, opts []Option) Entry {
	for _, o := range opts {
		o(&e)
	}
	pkg := packageOf(construct)
	e.Name = cmp.Or(e.Name, nameOf(pkg))
	e.Module = cmp.Or(e.Module, moduleOf(pkg))
	if e.Guarantees == "" {
		e.Guarantees = "the whole contract"
		if len(e.Waivers) > 0 {
			e.Guarantees = "the contract but for the waived clauses"
		}
	}
	return e
}

// packageOf returns the import path of a function's package; "" for nil.
func packageOf(f any) string {
	v := reflect.ValueOf(f)
	if v.IsNil() {
		return ""
	}
	// path/to/pkg.New, path/to/pkg.(*T).New, path/to/pkg.init.func1, path/to/pkg.New[...]
	name, _, _ := strings.Cut(runtime.FuncForPC(v.Pointer()).Name(), "[")
	slash := strings.LastIndex(name, "/") + 1
	last, _, _ := strings.Cut(name[slash:], ".")
	return name[:slash] + last
}

var majorVersion = regexp.MustCompile(`/v[0-9]+$`)

// nameOf returns the usual name of the package with an import path. A test outside of the
// package has the package's.
func nameOf(pkg string) string {
	return strings.TrimSuffix(path.Base(majorVersion.ReplaceAllString(pkg, "")), "_test")
}

// moduleOf returns the module of a package, as far as this program knows its modules, and
// otherwise the package.
func moduleOf(pkg string) string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return pkg
	}
	if pkg == "main" {
		return cmp.Or(build.Main.Path, pkg)
	}
	longest := ""
	for _, m := range append(build.Deps, &build.Main) {
		if len(m.Path) > len(longest) && strings.HasPrefix(pkg+"/", m.Path+"/") {
			longest = m.Path
		}
	}
	return cmp.Or(longest, pkg)
}
