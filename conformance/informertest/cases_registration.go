package informertest

// Handlers that are added and removed while the informer runs.

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/informerbench/informerbench/conformance/suite"
)

const (
	whyLate    = "a controller that starts late would never hear of what is there already"
	whyRemoved = "the controller that removed it is gone, and so is what its handler writes to"
)

var registrationCases = []suite.Case[env]{
	play("INFORMER-13", "later", whyLate, setup{objects: 10}, func(b *fixture) {
		b.startUp()
		churn(b)
		b.settle()
		late := b.handler("late", nil)
		b.settle()
		if adds, all := len(late.calls(added)), len(late.calls()); adds != len(b.source.Snapshot()) ||
			all != adds {
			b.errorf("a late handler was told %s, want an add of each of %d objects", summary(late.calls()),
				len(b.source.Snapshot()))
		}
		churnBack(b)
		b.settle()
		got := late.calls(updated, deleted)
		if len(got) != 1 {
			b.errorf("after that it was told %s, want one deletion", summary(got))
		}
		b.compare()
		b.mustShow("INFORMER-13")
	}),
	play("INFORMER-13", "in-the-middle-of-writes", whyLate, setup{objects: 10}, func(b *fixture) {
		b.startUp()
		var writing sync.WaitGroup
		var enough atomic.Bool
		for g := range 2 {
			writing.Go(func() {
				// fewer writes than the source remembers
				for i := 0; i < 60 || i < 2000 && !enough.Load(); i++ {
					key := fmt.Sprintf("ns0/w%d-%d", g, i%10)
					if i/10%2 == 0 {
						b.create(key, i)
					} else {
						b.delete(key)
					}
				}
			})
		}
		for i := range 8 {
			b.handler(fmt.Sprint("late ", i), nil)
			runtime.Gosched()
		}
		enough.Store(true)
		writing.Wait()
		b.settle()
		b.compare()
		b.mustShow("INFORMER-13")
	}),
	play("INFORMER-13", "beside-a-handler-that-waits", whyLate, setup{objects: 5}, func(b *fixture) {
		release := make(chan struct{})
		b.handler("stuck", func(call) { <-release })
		b.startUp()
		late := b.handler("late", nil)
		b.settle()
		if n := len(late.calls()); n != 5 {
			b.errorf("beside a handler that does not return a late one was called %d times, want 5", n)
		}
		close(release)
	}),
	play("INFORMER-13", "same-handler-twice", whyLate, setup{objects: 5}, func(b *fixture) {
		calls := make(chan string, 100)
		h := cache.ResourceEventHandlerFuncs{AddFunc: func(any) { calls <- "add" }}
		for range 2 {
			_, err := b.informer.AddEventHandler(h)
			if err != nil {
				b.errorf("AddEventHandler: %v", err)
			}
		}
		b.startUp()
		if len(calls) != 10 {
			b.errorf("a handler that was added twice was called %d times for 5 objects, want 10", len(calls))
		}
	}),

	play("INFORMER-14", "while-it-runs", whyRemoved, setup{objects: 5}, func(b *fixture) {
		gone, stays := b.handler("removed", nil), b.handler("other", nil)
		b.startUp()
		b.remove(gone)
		b.settle()
		gone.silence("INFORMER-14")
		churn(b)
		b.settle()
		n := len(stays.calls())
		if n < 10 {
			b.errorf("the other handler was called %d times only", n)
		}
		b.remove(gone)
		b.settle()
		b.compare()
		b.mustShow("INFORMER-14")
	}),
	play("INFORMER-14", "before-the-start", whyRemoved, setup{objects: 5}, func(b *fixture) {
		gone := b.handler("removed", nil)
		b.handler("other", nil)
		b.remove(gone)
		b.remove(gone)
		gone.silence("INFORMER-14")
		b.startUp()
		churn(b)
	}),
	play("INFORMER-14", "while-it-is-called", whyRemoved, setup{objects: 5}, func(b *fixture) {
		release := make(chan struct{})
		gone := b.handler("removed", func(call) { <-release })
		b.handler("other", nil)
		b.startUp()
		b.remove(gone)
		writer(b, keyOf(0), 5)
		b.settle()
		close(release)
		b.settle()
		for _, c := range gone.calls() {
			if c.kind == updated {
				b.errorf("the removed handler is told %s, which happened after its removal",
					c)
			}
		}
		gone.silence("INFORMER-14")
		writer(b, keyOf(0), 5)
	}),
	play("INFORMER-14", "shut-down",
		"what the handler uses is closed when ShutDownEventHandler returns", setup{objects: 5},
		func(b *fixture) {
			release := make(chan struct{})
			gone := b.handler("removed", func(call) { <-release })
			b.startUp()
			ended := make(chan error, 1)
			b.begin("INFORMER-14", "cache.ShutDownEventHandler", func() {
				ended <- cache.ShutDownEventHandler(b.informer, gone.registration())
			})
			b.settle()
			select {
			case err := <-ended:
				b.errorf("cache.ShutDownEventHandler returns %v while the handler runs", err)
				close(release)
				return
			default:
			}
			close(release)
			b.settle()
			select {
			case err := <-ended:
				if err != nil {
					b.errorf("cache.ShutDownEventHandler: %v", err)
				}
			default:
				b.errorf("cache.ShutDownEventHandler does not return though the handler has")
			}
			gone.silence("INFORMER-14")
			churn(b)
		}),
	play("INFORMER-14", "by-itself", "a handler that has seen what it waited for removes itself",
		setup{objects: 5}, func(b *fixture) {
			var gone *witness
			gone = b.handler("removed", func(call) {
				if r := gone.registration(); r != nil {
					_ = b.informer.RemoveEventHandler(r)
				}
			})
			b.startUp()
			gone.silence("INFORMER-14")
			churn(b)
		}),
	play("INFORMER-14", "resyncs-end-too", whyRemoved, setup{objects: 5, resync: time.Minute},
		func(b *fixture) {
			gone := b.handler("removed", nil)
			b.handler("other", nil)
			b.start()
			b.advance(90 * time.Second)
			b.remove(gone)
			b.settle()
			gone.silence("INFORMER-14")
			b.advance(5 * time.Minute)
		}),
	play("INFORMER-14", "many-come-and-go", whyRemoved, setup{objects: 5}, func(b *fixture) {
		b.handler("stays", nil)
		b.start()
		for i := range 20 {
			h := b.handler(fmt.Sprint("passing ", i), nil)
			b.update(keyOf(i%5), i)
			if i%2 == 0 {
				b.settle()
			}
			b.remove(h)
			b.settle()
			h.silence("INFORMER-14")
		}
		b.compare()
		b.mustShow("INFORMER-14")
	}),
}

// Resyncs: every handler at its own period.

const whyResync = "what a controller could not do, it tries again at the next resync; too many " +
	"of them are a storm"

// resyncs returns, by object, the number of updates that changed nothing.
func resyncs(h *witness) map[string]int {
	n := map[string]int{}
	for _, c := range h.calls(updated) {
		if c.old == c.new {
			n[c.key]++
		}
	}
	return n
}

// wantResyncs asserts that each of the objects was resynced want times.
func (b *fixture) wantResyncs(h *witness, want int) {
	got := resyncs(h)
	for i := range b.objects {
		if got[keyOf(i)] != want {
			b.errorf("%s was given %d resyncs of %s, want %d", h.name, got[keyOf(i)], keyOf(i), want)
			return
		}
	}
}

var resyncCases = []suite.Case[env]{
	play("INFORMER-11", "own-periods", whyResync, setup{objects: 4, resync: time.Minute},
		func(b *fixture) {
			one := b.add(&witness{name: "every minute"}, ptr.To(time.Minute))
			three := b.add(&witness{name: "every three minutes"}, ptr.To(3*time.Minute))
			inherited := b.handler("as the informer", nil)
			two := b.add(&witness{name: "every two minutes, without options", short: true},
				ptr.To(2*time.Minute))
			plain := b.add(&witness{name: "as the informer, without options", short: true}, nil)
			b.start()
			b.advance(12*time.Minute + 30*time.Second)
			b.wantResyncs(two, 6)
			b.wantResyncs(plain, 12)
			b.wantResyncs(one, 12)
			b.wantResyncs(three, 4)
			b.wantResyncs(inherited, 12)
		}),
	play("INFORMER-11", "shorter-than-the-informer", whyResync, setup{objects: 4, resync: time.Hour},
		func(b *fixture) {
			h := b.add(&witness{name: "every minute"}, ptr.To(time.Minute))
			b.start()
			b.advance(5*time.Minute + 30*time.Second)
			b.wantResyncs(h, 5)
		}),
	play("INFORMER-11", "added-while-it-runs", whyResync, setup{objects: 4, resync: time.Minute},
		func(b *fixture) {
			b.start()
			b.advance(30 * time.Second)
			h := b.add(&witness{name: "late"}, ptr.To(2*time.Minute))
			b.advance(10 * time.Minute)
			if got := resyncs(h)[keyOf(0)]; got < 3 || got > 5 {
				b.errorf("%s was given %d resyncs in ten minutes, want one every two minutes, rounded up to "+
					"the informer's", h.name, got)
			}
		}),
	play("INFORMER-11", "broken-watches", "an informer whose watches break often would never resync",
		setup{objects: 4, resync: time.Minute}, func(b *fixture) {
			h := b.handler("handler", nil)
			b.start()
			for range 10 {
				b.advance(50 * time.Second)
				b.gate.cut(errCut)
				b.advance(5 * time.Second)
				b.gate.mend()
				b.advance(65 * time.Second)
			}
			if got := resyncs(h)[keyOf(0)]; got < 5 {
				b.errorf("%s was given %d resyncs in twenty minutes of which the longest stretch without a "+
					"break is a minute and more", h.name, got)
			}
		}),
	play("INFORMER-12", "nobody-else", whyResync, setup{objects: 4, resync: time.Minute},
		func(b *fixture) {
			b.add(&witness{name: "every minute"}, ptr.To(time.Minute))
			five := b.add(&witness{name: "every five minutes"}, ptr.To(5*time.Minute))
			none := b.add(&witness{name: "never"}, ptr.To(time.Duration(0)))
			b.start()
			b.advance(4*time.Minute + 30*time.Second)
			late := b.add(&witness{name: "late and never"}, ptr.To(time.Duration(0)))
			b.wantResyncs(five, 0)
			b.advance(4 * time.Minute)
			b.wantResyncs(five, 1)
			b.wantResyncs(none, 0)
			b.advance(time.Minute)
			b.wantResyncs(late, 0)
		}),
	play("INFORMER-12", "no-period-at-all", whyResync, setup{objects: 4}, func(b *fixture) {
		h := b.handler("handler", nil)
		b.start()
		b.advance(24 * time.Hour)
		b.wantResyncs(h, 0)
		n := len(h.calls())
		if n != 4 {
			b.errorf("in a quiet day the handler was called %d times, want 4", n)
		}
	}),
}
