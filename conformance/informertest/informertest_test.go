package informertest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/synthetic"
)

// goleak must ignore the goroutines that these tests leave behind on purpose.
func TestMain(m *testing.M) {
	const here = "github.com/informerbench/informerbench/conformance/informertest."
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction(here+"leftForGood"),
		goleak.IgnoreAnyFunction(here+"leftTicking"),
		goleak.IgnoreAnyFunction("github.com/informerbench/informerbench/conformance/suite.Bubble.func2"),
		goleak.IgnoreTopFunction("testing/synctest.testingSynctestTest"))
}

// clientGoWaivers are the clauses that client-go does not keep, as in the catalog, whose tests show
// that each is needed.
func clientGoWaivers(c *suite.Config) {
	Waive("INFORMER-31", "client-go transforms what a streaming list brings in the store that "+
		"collects it, and again on the way into the FIFO (tools/cache/reflector.go, watchList)")(c)
	Waive(restartClause, "client-go's relist in pages asks for exactly the version that the watch "+
		"refused (tools/cache/reflector.go, list)")(c)
	Waive(tellsClause, "client-go counts the objects that a handler has returned from, and reads "+
		"afterwards whether the informer has synced: objects that come in between are overlooked "+
		"(tools/cache/synctrack/synctrack.go, SingleFileTracker.Finished)")(c)
}

func TestClientGoPasses(t *testing.T) {
	Run(t, cache.NewSharedIndexInformer, clientGoWaivers, suite.WithEffort(0.1))
}

func TestCheckPasses(t *testing.T) {
	begin, slowest := time.Now(), suite.Result{}
	err := Check(cache.NewSharedIndexInformer, clientGoWaivers, Histories(20),
		suite.WithObserver(func(r suite.Result) {
			if r.Elapsed > slowest.Elapsed {
				slowest = r
			}
		}))
	if err != nil {
		t.Error(err)
	}
	t.Logf("%s in all, the slowest case is %s of %s", time.Since(begin), slowest.Elapsed,
		slowest.Clause.ID)
}

// wantFailure asserts that the clause's cases find a mistake, and not a bound on time.
func wantFailure(t *testing.T, clause string, newInformer contract.NewInformer,
	opts ...Option) string {
	t.Helper()
	err := suite.UntilCaught(0, func(attempt Option) error {
		return Check(newInformer, append(opts, attempt, suite.Only(clause))...)
	})
	var failure *suite.Failure
	if !errors.As(err, &failure) || failure.Clause.ID != clause ||
		strings.Contains(failure.Reason, "still running after 1m") {
		t.Errorf("want a failure of %s that says what was seen, got %v", clause, err)
	}
	return fmt.Sprint(err)
}

func TestEveryClauseHasACase(t *testing.T) {
	t.Parallel()
	for _, clause := range contract.ClausesOf(contract.ComponentInformer) {
		if !slices.ContainsFunc(cases, func(c suite.Case[env]) bool { return c.Clause == clause.ID }) {
			t.Errorf("%s has no case", clause)
		}
	}
	seen := map[string]bool{}
	for _, c := range cases {
		if seen[c.Clause+"/"+c.Name] || c.Why == "" {
			t.Errorf("%s/%s stands there twice, or lacks its why", c.Clause, c.Name)
		}
		seen[c.Clause+"/"+c.Name] = true
	}
}

func TestWrongOptionsAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		option Option
		want   string
	}{
		{Waive("INFORMER-99", "no such clause"), "INFORMER-99"},
		{Histories(-1), "Histories(-1)"},
		{Histories(0), "Histories(0)"},
	} {
		if err := Check(cache.NewSharedIndexInformer, c.option); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error about %s", err, c.want)
		}
	}
}

// filtered is client-go's informer, whose handlers get only the calls that let allows.
func filtered(let func(kind, any) bool) contract.NewInformer {
	return func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
		indexers contract.Indexers) cache.SharedIndexInformer {
		return filtering{cache.NewSharedIndexInformer(lw, example, resync, indexers), let}
	}
}

type filtering struct {
	cache.SharedIndexInformer
	let func(kind, any) bool
}

func (f filtering) AddEventHandlerWithOptions(h cache.ResourceEventHandler,
	o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return f.SharedIndexInformer.AddEventHandlerWithOptions(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			if f.let(added, obj) {
				h.OnAdd(obj, initial)
			}
		},
		UpdateFunc: func(old, obj any) {
			if f.let(updated, obj) {
				h.OnUpdate(old, obj)
			}
		},
		DeleteFunc: func(obj any) {
			if _, tomb := obj.(contract.DeletedFinalStateUnknown); tomb && f.let(buried, obj) || !tomb &&
				f.let(deleted, obj) {
				h.OnDelete(obj)
			}
		},
	}, o)
}

// A mistake that shows only with a disconnect, a deletion during it and a handler is found.
// It is reported under its clause and reduced to little more than these.
func TestHistoriesAreReduced(t *testing.T) {
	said := wantFailure(t, "INFORMER-29", filtered(func(k kind, _ any) bool {
		return k != buried
	}), clientGoWaivers)
	for _, want := range []string{"INFORMER-4", "it is the first with seed", "suite.WithSeed(",
		"what was written", string(opDelete)} {
		if !strings.Contains(said, want) {
			t.Errorf("the failure does not say %q:\n%s", want, said)
		}
	}
	// Histories without concurrent writers are reduced to almost nothing, unless the rest
	// fails only in some orders of the goroutines that run at one instant.
	defer calm()()
	j := &judge{newInformer: filtered(func(k kind, _ any) bool {
		return k != deleted && k != buried
	}), patience: 10 * time.Second, shrinking: 10 * time.Second, progress: func() {},
		waived: map[string]string{"INFORMER-31": "client-go", tellsClause: "client-go"}}
	const reductions = 9
	var tried int
	var long []string
	for seed := uint64(1); tried < reductions; seed++ {
		// client-go does not recover from this fault
		h := generate(seed).without(synthetic.FaultCacheRestart)
		h.steps = slices.DeleteFunc(h.steps, func(s step) bool {
			return s.op == opBurst || s.op == opBeside
		})
		if len(h.handlers) == 0 {
			continue // handlers that are added later join at a moment that is left to chance
		}
		wrong := j.play(h)
		if len(wrong.problems) == 0 {
			continue
		}
		tried++
		short, again := j.reduce(h, wrong)
		if len(again.problems) == 0 || len(short.steps) > 3 || len(short.handlers) > 1 ||
			len(short.setup.faults) > 0 {
			long = append(long, fmt.Sprintf("from %d steps and %d handlers to %d and %d:\n%s%v\nat first %v",
				len(h.steps), len(h.handlers), len(short.steps), len(short.handlers), short, again.problems,
				wrong.problems))
		}
	}
	if len(long) > reductions*2/3 { // by chance a quarter are long; if nothing is reduced, all are
		t.Errorf("of %d histories %d are not reduced to almost nothing:\n%s", tried, len(long),
			strings.Join(long, "\n"))
	}
}

func TestWaivedClausesAreNotLookedAt(t *testing.T) {
	newInformer := filtered(func(k kind, _ any) bool { return k != buried })
	waivers := []Option{clientGoWaivers}
	for _, clause := range []string{"INFORMER-3", "INFORMER-4", "INFORMER-5", "INFORMER-7"} {
		waivers = append(waivers, Waive(clause, "the test asks for it"))
	}
	if err := Check(newInformer, append(waivers, suite.Only("INFORMER-29"))...); err != nil {
		t.Error(err)
	}
}

func TestSeedsRepeat(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		if a, b := generate(seed), generate(seed); !reflect.DeepEqual(a, b) || a.String() != b.String() {
			t.Fatalf("seed %d gives two histories:\n%s\n%s", seed, a, b)
		}
	}
	ops := map[op]int{}
	for seed := range uint64(200) {
		for _, s := range generate(seed).steps {
			ops[s.op]++
		}
		for _, f := range generate(seed).setup.faults {
			if err := f.Validate(); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
	}
	for _, o := range []op{opWrite, opDelete, opBurst, opBeside, opSleep, opCut, opMend, opHold,
		opRelease, opLag, opTear, opAdd, opRemove, opCompare} {
		if ops[o] < 50 {
			t.Errorf("200 histories have %d steps of %s", ops[o], o)
		}
	}
}

// A fault that never strikes tests nothing: lists of ten objects have no second page unless
// pages are short.
func TestEveryFaultStrikes(t *testing.T) {
	defer calm()()
	struck := map[synthetic.FaultKind]int{}
	var abrupt, transforming int
	for seed := range uint64(200) {
		h := generate(seed)
		for kind, n := range playHistory(cache.NewSharedIndexInformer, h).faults {
			struck[kind] += n
		}
		if h.abrupt {
			abrupt++
		}
		if h.setup.transform {
			transforming++
		}
	}
	for _, kind := range synthetic.FaultKinds() {
		if struck[kind] == 0 {
			t.Errorf("in 200 histories %s never strikes", kind)
		}
	}
	if abrupt < 20 || transforming < 20 {
		t.Errorf("of 200 histories %d end abruptly and %d transform", abrupt, transforming)
	}
	t.Log(struck)
}

// twice is client-go's informer. It tells handlers twice of the add of object 999, which
// only a case of many objects has.
type twice struct{ cache.SharedIndexInformer }

func (i twice) AddEventHandlerWithOptions(h cache.ResourceEventHandler,
	o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithOptions(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			h.OnAdd(obj, initial)
			if key, _ := cache.MetaNamespaceKeyFunc(obj); key == keyOf(999) {
				h.OnAdd(obj, initial)
			}
		},
		UpdateFunc: h.OnUpdate,
		DeleteFunc: h.OnDelete,
	}, o)
}

// A problem that a case sees of another clause is reported in the end, unless it is waived.
func TestNothingSeenIsForgotten(t *testing.T) {
	newInformer := func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
		indexers contract.Indexers) cache.SharedIndexInformer {
		return twice{cache.NewSharedIndexInformer(lw, example, resync, indexers)}
	}
	err := Check(newInformer, clientGoWaivers, Histories(1))
	for _, want := range []string{"INFORMER-3, seen in INFORMER-9/many-objects",
		"seen-in-other-cases"} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("the failure does not say %q:\n%v", want, err)
		}
	}
	if err := Check(newInformer, clientGoWaivers, Waive("INFORMER-3", "for the test"),
		Histories(1)); err != nil {
		t.Error(err)
	}
}

// locking is client-go's informer with a lock that HasSynced leaves held while broken is
// set.
type locking struct {
	cache.SharedIndexInformer
	mu     *sync.Mutex
	broken *atomic.Bool
}

func (l locking) HasSynced() bool {
	if l.broken.Load() {
		l.mu.Lock()
		if !l.broken.Load() {
			l.mu.Unlock() // for the next caller that has waited
		}
	}
	return l.SharedIndexInformer.HasSynced()
}

func TestHistoryThatHangsIsTold(t *testing.T) {
	var mu sync.Mutex
	var broken atomic.Bool
	broken.Store(true)
	said := wantFailure(t, "INFORMER-29",
		func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
			indexers contract.Indexers) cache.SharedIndexInformer {
			return locking{cache.NewSharedIndexInformer(lw, example, resync, indexers), &mu, &broken}
		}, Histories(1), suite.WithCaseTimeout(4*time.Second))
	for _, want := range []string{"a lock left held", "locking.HasSynced"} {
		if !strings.Contains(said, want) {
			t.Errorf("the failure does not say %q:\n%s", want, said)
		}
	}
	broken.Store(false)
	mu.Unlock() // the history goes on to its end
}

func leftForGood(c chan struct{}) { <-c }

func leftTicking() {
	for range time.Tick(time.Second) {
	}
}

func TestBubbles(t *testing.T) {
	for _, c := range []struct {
		name         string
		f            func()
		failed, left string
	}{
		{"sound", func() { time.Sleep(time.Hour) }, "", ""},
		{"panics", func() { panic("oh") }, "panic: oh", ""},
		{"ends itself", func() { new(suite.T).FailNow() }, "", ""},
		{"waits for ever", func() { leftForGood(make(chan struct{})) }, "deadlock", "leftForGood"},
		{"leaves a goroutine", func() { go leftForGood(make(chan struct{})) }, "", "leftForGood"},
		{"leaves a goroutine that a timer wakes", func() { go leftTicking() }, "", "leftTicking"},
	} {
		failed, left := inBubble(c.f)
		if !strings.Contains(failed, c.failed) || (failed != "") != (c.failed != "") ||
			!strings.Contains(left, c.left) || (left != "") != (c.left != "") {
			t.Errorf("%s: failed %q, left %q; want %q and %q", c.name, failed, left, c.failed, c.left)
		}
	}
}

// A detector that works passes, and one that reports nothing fails.
func TestMutationsAreLookedFor(t *testing.T) {
	detecting := func(works bool) Option {
		return MutationDetecting(func(found func(string)) contract.NewInformer {
			return func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
				indexers contract.Indexers) cache.SharedIndexInformer {
				i := cache.NewSharedIndexInformer(lw, example, resync, indexers)
				if works {
					watchOver(i, found)
				}
				return i
			}
		})
	}
	if err := Check(cache.NewSharedIndexInformer, detecting(true),
		suite.Only("INFORMER-30")); err != nil {
		t.Error(err)
	}
	wantFailure(t, "INFORMER-30", cache.NewSharedIndexInformer, detecting(false))
}

// watchOver compares each object that an add brings with a copy, a minute later.
func watchOver(i cache.SharedIndexInformer, found func(string)) {
	var mu sync.Mutex // a detector has one too, so it sees all that it was given before
	_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			mu.Lock()
			defer mu.Unlock()
			o := obj.(runtime.Object)
			before := o.DeepCopyObject()
			time.AfterFunc(time.Minute, func() {
				mu.Lock()
				defer mu.Unlock()
				if !reflect.DeepEqual(before, o) {
					found("changed")
				}
			})
		},
		UpdateFunc: func(any, any) {
			mu.Lock()
			defer mu.Unlock()
		},
	})
	if err != nil {
		panic(err)
	}
}

// hasty is client-go's informer, whose registrations have synced from the start.
type hasty struct{ cache.SharedIndexInformer }

func newHasty(lw cache.ListerWatcher, example runtime.Object, resync time.Duration,
	indexers contract.Indexers) cache.SharedIndexInformer {
	return hasty{cache.NewSharedIndexInformer(lw, example, resync, indexers)}
}

// AddEventHandlerWithOptions is part of cache.SharedInformer.
func (i hasty) AddEventHandlerWithOptions(h cache.ResourceEventHandler,
	o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	r, err := i.SharedIndexInformer.AddEventHandlerWithOptions(h, o)
	return syncedAlready{r}, err
}

// RemoveEventHandler is part of cache.SharedInformer.
func (i hasty) RemoveEventHandler(r cache.ResourceEventHandlerRegistration) error {
	if hasty, ok := r.(syncedAlready); ok {
		r = hasty.ResourceEventHandlerRegistration
	}
	return i.SharedIndexInformer.RemoveEventHandler(r)
}

type syncedAlready struct {
	cache.ResourceEventHandlerRegistration
}

// HasSynced is part of cache.ResourceEventHandlerRegistration.
func (syncedAlready) HasSynced() bool { return true }

// ShutdownChan is what cache.ShutDownEventHandler asks for.
func (r syncedAlready) ShutdownChan() <-chan struct{} {
	return r.ResourceEventHandlerRegistration.(interface {
		ShutdownChan() <-chan struct{}
	}).ShutdownChan()
}

// A waived clause that an informer breaks in the cases of other clauses accuses it of none of
// them. client-go's informer breaks INFORMER-36 once in thousands of initial lists.
func TestAWaivedClauseAccusesOfNoOther(t *testing.T) {
	t.Parallel()
	waived := []suite.Option{
		Waive("INFORMER-10", "the test's"), Waive(tellsClause, "the test's"),
		Waive("INFORMER-31", "client-go's"), Waive("INFORMER-33", "client-go's"),
		Histories(20),
	}
	if err := Check(newHasty, waived...); err != nil {
		t.Error(err)
	}
	if err := Check(newHasty, suite.Only(tellsClause)); err == nil {
		t.Error("the informer keeps the waived clause, and there is nothing to test")
	}
}
