package informertest

// The first list: the calls of handlers during it, and its end.

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/suite"
)

const (
	whyInitial = "a controller tells by it what was there when it started from what is new"
	whySynced  = "controllers start their workers when it says so, and would find half of the " +
		"objects missing"
)

// initials counts the adds of h: those flagged as of the initial list, and the others.
func initials(h *witness) (initial, later int) {
	for _, c := range h.calls(added) {
		if c.initial {
			initial++
		} else {
			later++
		}
	}
	return initial, later
}

func (b *fixture) wantInitials(h *witness, initial, later int) {
	if i, l := initials(h); i != initial || l != later {
		b.errorf("%s was told %d adds of the initial list and %d others, want %d and %d", h.name, i, l,
			initial, later)
	}
}

var initialCases = []suite.Case[env]{
	play("INFORMER-8", "first-list-and-later", whyInitial, setup{objects: 10, window: 3},
		func(b *fixture) {
			h := b.handler("handler", nil)
			b.startUp()
			b.wantInitials(h, 10, 0)
			b.create("ns0/watched", 0)
			b.settle()
			b.wantInitials(h, 10, 1)
			b.miss(func() { b.create("ns0/listed", 0) })
			b.advance(time.Minute)
			if got := h.of("ns0/listed"); len(got) != 1 || got[0].initial {
				b.errorf("of an object that a later list brought the handler was told %s", summary(got))
			}
		}),
	play("INFORMER-8", "empty-first-list", whyInitial, setup{}, func(b *fixture) {
		h := b.handler("handler", nil)
		b.startUp()
		b.create("ns0/first", 0)
		b.settle()
		b.wantInitials(h, 0, 1)
	}),
	play("INFORMER-8", "handler-that-comes-later", whyInitial, setup{objects: 10}, func(b *fixture) {
		b.startUp()
		b.create("ns0/watched", 0)
		b.settle()
		h := b.handler("late", nil)
		b.settle()
		b.wantInitials(h, 11, 0)
		b.create("ns0/after", 0)
		b.settle()
		b.wantInitials(h, 11, 1)
	}),
	play("INFORMER-8", "first-list-that-fails-at-first", whyInitial, setup{objects: 10},
		func(b *fixture) {
			h := b.handler("handler", nil)
			b.gate.cut(errBroken)
			b.start()
			b.advance(time.Minute)
			b.gate.mend()
			b.advance(3 * time.Minute)
			b.wantInitials(h, 10, 0)
		}),

	play("INFORMER-8", "beside-a-handler-that-is-slow", whyInitial, setup{objects: 10},
		func(b *fixture) {
			slow := func(call) { time.Sleep(time.Second) }
			early := b.handler("early", slow)
			b.startUp()
			b.create("ns0/beside", 0)
			b.settle()
			late := b.handler("late", slow)
			b.settle()
			b.create("ns0/after", 0)
			b.advance(time.Minute)
			b.wantInitials(early, 10, 2)
			b.wantInitials(late, 11, 1)
		}),

	play("INFORMER-9", "not-before-the-list", whySynced, setup{objects: 50}, func(b *fixture) {
		release := b.gate.hold()
		defer release()
		h := b.handler("handler", nil)
		b.wantSynced("before the start", false)
		b.start()
		b.advance(time.Second)
		b.wantSynced("while the list is under way", false)
		if len(h.calls()) > 0 {
			b.errorf("the handler is told %s before there was a list", summary(h.calls()))
		}
		release()
		b.advance(time.Minute)
		b.wantSynced("after the list", true)
	}),
	play("INFORMER-9", "not-while-lists-fail", whySynced, setup{objects: 5}, func(b *fixture) {
		b.gate.cut(errBroken)
		b.start()
		b.advance(5 * time.Minute)
		b.wantSynced("while every list fails", false)
		b.gate.mend()
		b.advance(3 * time.Minute)
		b.wantSynced("after the list", true)
	}),
	play("INFORMER-9", "stays", whySynced, setup{objects: 5, window: 3}, func(b *fixture) {
		b.startUp()
		b.wantSynced("after the list", true)
		b.gate.cut(errCut)
		b.advance(5 * time.Minute)
		b.wantSynced("while the line is cut", true)
		b.gate.mend()
		b.miss(func() { oneByOne(b) })
		b.wantSynced("after another list", true)
		b.stop()
		b.wantSynced("after the end", true)
	}),
	play("INFORMER-9", "never", whySynced, setup{objects: 5}, func(b *fixture) {
		b.gate.cut(errBroken)
		b.start()
		b.advance(time.Minute)
		b.stop()
		b.wantSynced("after an end without a list", false)
	}),
	play("INFORMER-9", "empty-source",
		"a controller of a resource that nobody uses yet would never start", setup{}, func(b *fixture) {
			b.startUp()
			b.wantSynced("after an empty list", true)
		}),
	play("INFORMER-9", "many-objects", whySynced, setup{objects: 1000}, func(b *fixture) {
		b.handler("handler", nil)
		b.start()
	}),
	play("INFORMER-9", "asked-again-and-again", whySynced, setup{objects: 3000}, func(b *fixture) {
		b.start()
		for i := 0; !b.informer.HasSynced(); i++ {
			if i < 100_000 {
				runtime.Gosched()
			} else {
				b.advance(time.Second) // the informer may need virtual time
			}
			if i > 100_600 {
				b.errorf("HasSynced is false after ten minutes")
				return
			}
		}
		b.checkSynced()
	}),

	play("INFORMER-10", "not-while-the-handler-runs", whySynced, setup{objects: 5}, func(b *fixture) {
		for _, h := range []*witness{{name: "early"}, {name: "late"}} {
			proceed := make(chan struct{})
			h.act = func(call) { <-proceed }
			b.add(h, nil)
			b.wantHandlerSynced(h, "before it was told anything", false)
			if b.returned == nil {
				b.start()
			}
			for n := range 5 {
				b.settle()
				if len(h.calls()) != n+1 {
					b.errorf("%s was called %d times, want %d", h.name, len(h.calls()), n+1)
				}
				b.wantHandlerSynced(h, "while it is told of the first objects", false)
				b.wantSynced("while a handler runs", true)
				proceed <- struct{}{}
			}
			b.settle()
			b.wantHandlerSynced(h, "after it was told of all", true)
			close(proceed)
		}
	}),
	play("INFORMER-10", "not-before-the-list", whySynced, setup{objects: 5}, func(b *fixture) {
		early := b.handler("early", nil)
		release := b.gate.hold()
		defer release()
		b.start()
		b.advance(time.Second)
		late := b.handler("late", nil)
		b.settle()
		b.wantHandlerSynced(early, "before there was a list", false)
		b.wantHandlerSynced(late, "before there was a list", false)
		release()
		b.advance(time.Minute)
		b.wantHandlerSynced(early, "after the list", true)
		b.wantHandlerSynced(late, "after the list", true)
	}),
	play("INFORMER-10", "nothing-to-be-told", whySynced, setup{}, func(b *fixture) {
		early := b.handler("early", nil)
		b.startUp()
		b.wantHandlerSynced(early, "after an empty list", true)
		late := b.handler("late", nil)
		b.settle()
		b.wantHandlerSynced(late, "after an empty list", true)
	}),
	play("INFORMER-10", "stays", whySynced, setup{objects: 5, window: 3}, func(b *fixture) {
		h := b.handler("handler", nil)
		b.startUp()
		b.miss(func() { oneByOne(b) })
		b.wantHandlerSynced(h, "after another list", true)
		b.gate.cut(errCut)
		b.advance(time.Minute)
		b.wantHandlerSynced(h, "while the line is cut", true)
		b.stop()
		b.wantHandlerSynced(h, "after the end", true)
	}),

	play(tellsClause, "while-it-is-told", whySynced, setup{objects: 10}, func(b *fixture) {
		slow := func(call) { time.Sleep(time.Second) } // witness.note looks at each call's beginning
		early := b.handler("early", slow)
		b.startUp()
		late := b.handler("late", slow)
		b.advance(time.Minute)
		b.wantInitials(early, 10, 0)
		b.wantInitials(late, 10, 0)
	}),
	{Clause: tellsClause, Name: "quicker-than-the-list", Why: whySynced, Run: quickerThanTheList},
}

func (b *fixture) wantSynced(when string, want bool) {
	got, checker := b.informer.HasSynced(), cache.IsDone(b.informer.HasSyncedChecker())
	if got != want || checker != want {
		b.errorf("%s, HasSynced is %v and its checker's %v, want %v",
			when, got, checker, want)
	}
}

func (b *fixture) wantHandlerSynced(h *witness, when string, want bool) {
	r := h.registration()
	got, checker := r.HasSynced(), cache.IsDone(r.HasSyncedChecker())
	if got != want || checker != want {
		b.errorf("%s, HasSynced of %s is %v and its checker's %v, want %v", when, h.name, got, checker, want)
	}
}

// The race between a handler that keeps pace with its initial list, and the list.

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

// standsStill is how often quickerThanTheList finds the handler's goroutine at the same object
// before it takes it for interrupted: about a microsecond.
const standsStill = 500

// quickerThanTheList makes the calls of an informer and of its handler's goroutine on the
// counter of a registration: objects come one after the other, each after the handler returned from
// the one before; then one more comes, and the informer syncs. The mistake shows if the last two
// calls fall between the two steps of client-go's Finished, where no code of a user runs. So the
// case waits until the operating system interrupts the handler's goroutine, which it does most
// often after the first step, an atomic instruction: one interrupt in two shows it.
// Registrations that are not client-go's are left to the witness, which looks in each call: their
// calls on a counter may come in another order, or one at a time.
func quickerThanTheList(t *suite.T, e env) {
	if runtime.GOMAXPROCS(0) == 1 {
		t.Skipf("one processor of Go switches goroutines elsewhere than between the two steps")
	}
	w := open(e.newInformer, setup{})
	defer w.source.Stop()
	defer w.cancel()
	quiet := logr.Discard()
	next := func() counter {
		r, err := w.informer.AddEventHandlerWithOptions(cache.ResourceEventHandlerFuncs{},
			cache.HandlerOptions{Logger: &quiet})
		if err != nil {
			t.Fatalf("a handler cannot be added: %v", err)
		}
		if err := w.informer.RemoveEventHandler(r); err != nil {
			t.Fatalf("a handler cannot be removed: %v", err)
		}
		c, ok := r.HasSyncedChecker().(counter)
		if !ok || fmt.Sprintf("%T", r) != clientGos {
			t.Skipf("its registrations are not client-go's, whose calls on their counter this case makes")
		}
		return c
	}

	c := next()
	var current atomic.Pointer[counter]
	current.Store(new(c))
	var told atomic.Int64
	var handler sync.WaitGroup
	handler.Go(func() {
		for now := current.Load(); now != nil; now = current.Load() {
			(*now).Start()
			(*now).Finished()
			told.Add(1)
		}
	})
	defer handler.Wait()
	defer current.Store(nil)
	for told.Load() < 5_000_000 {
		at, looks := told.Load(), 0
		for looks < standsStill && told.Load() == at {
			looks++
		}
		if looks < standsStill {
			continue
		}
		c.Start()
		c.UpstreamHasSynced()
		last := c
		c = next()
		current.Store(new(c))
		for at := told.Load(); told.Load() == at; { // until the handler has left last
			runtime.Gosched()
		}
		if last.HasSynced() {
			t.Fatalf("a registration has synced, and its handler was not told of the last object: it "+
				"returned from the one before just as the last came and the informer synced (object %d)", at)
		}
		t.Progress()
	}
}
