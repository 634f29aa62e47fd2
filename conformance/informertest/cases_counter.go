package informertest

// The race between a handler that keeps pace with its initial list, and the list.

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/suite"
)

// tellsClause is about registrations that sync between two objects of their initial list.
// It is apart from INFORMER-10 because client-go's registrations do so, but so rarely (in one
// of thousands of lists, on a busy machine) that no case of informers shows it each time.
const tellsClause = "INFORMER-36"

// counter is what a registration of client-go counts its initial list with: the
// synctrack.SingleFileTracker that its HasSyncedChecker returns.
type counter interface {
	Start()
	Finished()
	UpstreamHasSynced()
	HasSynced() bool
}

// clientGos is the type of client-go's registrations.
const clientGos = "*cache.processorListener"

// spinning is how often a goroutine of quickerThanTheList looks for the other before it lets
// others run. They meet only while both have a processor.
const spinning = 3000

// quickerThanTheList makes the calls of an informer and of its handler's goroutine on the
// counter of a registration: the handler returns from the only object so far, while another
// object comes and the informer syncs. No code of a user runs between the two steps of
// client-go's Finished, so a case cannot hold it there, and this one tries often.
// Registrations that are not client-go's are left to the witness, which looks in each call: their
// calls on a counter may come in another order, or one at a time.
func quickerThanTheList(t *suite.T, e env) {
	if runtime.GOMAXPROCS(0) == 1 {
		t.Skipf("the handler and the list meet only if each has a processor")
	}
	w := open(e.newInformer, setup{})
	defer w.source.Stop()
	defer w.cancel()
	quiet := logr.Discard()
	type round struct {
		counter
		returned atomic.Bool
	}
	next := func() *round {
		r, err := w.informer.AddEventHandlerWithOptions(cache.ResourceEventHandlerFuncs{},
			cache.HandlerOptions{Logger: &quiet})
		t.FatalIf(err != nil, "a handler cannot be added: %v", err)
		if err := w.informer.RemoveEventHandler(r); err != nil {
			t.Fatalf("a handler cannot be removed: %v", err)
		}
		c, ok := r.HasSyncedChecker().(counter)
		if !ok || fmt.Sprintf("%T", r) != clientGos {
			t.Skipf("its registrations are not client-go's, whose calls on their counter this case makes")
		}
		return &round{counter: c}
	}

	var current atomic.Pointer[round]
	var over atomic.Bool
	var handler sync.WaitGroup
	handler.Go(func() {
		last := (*round)(nil)
		for spins := 1; !over.Load(); spins++ {
			r := current.Load()
			if r == last {
				if spins%spinning == 0 {
					runtime.Gosched()
				}
				continue
			}
			r.Finished()
			r.returned.Store(true)
			last = r
		}
	})
	defer handler.Wait()
	defer over.Store(true)
	for i := 0; i < 5_000; t.Progress() {
		// made beforehand, because the two goroutines must not get out of step
		rounds := make([]*round, 200)
		for j := range rounds {
			rounds[j] = next()
			rounds[j].Start()
		}
		for j, r := range rounds {
			current.Store(r)
			for range 3 * j { // about a nanosecond each: the two meet at another step in each round
			}
			r.Start()
			r.UpstreamHasSynced()
			for spins := 1; !r.returned.Load(); spins++ {
				if spins%spinning == 0 {
					runtime.Gosched()
				}
			}
			if i++; r.HasSynced() {
				t.Fatalf("a registration has synced, and its handler was not told of the second of two "+
					"objects: the handler returned from the first just before the second came and the informer "+
					"synced (round %d)", i)
			}
		}
	}
}
