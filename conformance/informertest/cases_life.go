package informertest

// From the start to the end.

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

const (
	whyVersion = "who writes waits until the cache has come so far"
	whyWords   = "client-go's errors are of no type: who must tell them from others can match " +
		"their words only"
	whyStop = "tests and managers that start and stop informers would leak, or write to what is " +
		"closed"
)

// wantWords asserts that the error of call contains words.
func (b *fixture) wantWords(call string, err error, words string) {
	if err == nil || !strings.Contains(err.Error(), words) {
		b.errorf("%s: the error is %q, want one with %q", call, fmt.Sprint(err), words)
	}
}

var lifeCases = []suite.Case[env]{
	play("INFORMER-19", "lists-events-bookmarks", whyVersion, setup{objects: 5, window: 3},
		func(b *fixture) {
			if v := b.informer.LastSyncResourceVersion(); v != "" {
				b.errorf("before the start LastSyncResourceVersion is %q", v)
			}
			release := b.gate.hold()
			defer release()
			b.startUp()
			if v := b.informer.LastSyncResourceVersion(); v != "" {
				b.errorf("before the first list LastSyncResourceVersion is %q", v)
			}
			release()
			b.advance(time.Minute)
			b.compare()
			b.update(keyOf(0), 1)
			b.settle()
			b.compare()
			b.delete(keyOf(0))
			b.settle()
			b.compare()
			b.advance(5 * time.Minute) // bookmarks
			b.compare()
			b.miss(func() { b.update(keyOf(1), 2) })
		}),

	play("INFORMER-20", "until-and-from", whyStop, setup{objects: 3}, func(b *fixture) {
		if b.informer.IsStopped() {
			b.errorf("IsStopped before the start")
		}
		b.startUp()
		if b.informer.IsStopped() {
			b.errorf("IsStopped while it runs")
		}
		b.stop()
		if !b.informer.IsStopped() {
			b.errorf("IsStopped is false when Run has returned")
		}
		h := &witness{name: "too late", world: b.world}
		if _, err := b.informer.AddEventHandler(h); err == nil {
			b.errorf("AddEventHandler is not refused when Run has returned")
		}
		if err := b.informer.AddIndexers(contract.Indexers{"too late": byNode}); err == nil {
			b.errorf("AddIndexers is not refused when Run has returned")
		}
		n := len(b.informer.GetStore().List())
		if n != 3 {
			b.errorf("the store has %d objects when Run has returned, want 3 as before", n)
		}
	}),
	play("INFORMER-34", "handlers-and-indexers", whyWords, setup{objects: 1}, func(b *fixture) {
		b.startUp()
		b.stop()
		_, err := b.informer.AddEventHandler(&witness{name: "too late", world: b.world})
		b.wantWords("AddEventHandler", err, "has stopped already")
		_, err = b.informer.AddEventHandlerWithResyncPeriod(&witness{name: "too late", world: b.world},
			time.Minute)
		b.wantWords("AddEventHandlerWithResyncPeriod", err, "has stopped already")
		b.wantWords("AddIndexers", b.informer.AddIndexers(contract.Indexers{"too late": byNode}),
			"has stopped already")
	}),
	play("INFORMER-35", "transform-and-error-handler", whyWords, setup{objects: 1}, func(b *fixture) {
		b.startUp()
		for _, when := range []string{"", " after the stop"} {
			const started = "informer has already started"
			b.wantWords("SetTransform"+when, b.informer.SetTransform(func(obj any) (any, error) {
				return obj, nil
			}), started)
			b.wantWords("SetWatchErrorHandler"+when,
				b.informer.SetWatchErrorHandler(func(*cache.Reflector, error) {}), started)
			b.wantWords("SetWatchErrorHandlerWithContext"+when,
				b.informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {}),
				started)
			b.stop()
		}
	}),

	play("INFORMER-23", "never-started", whyStop, setup{objects: 3}, func(b *fixture) {
		b.handler("handler", nil)
	}),
	play("INFORMER-23", "quiet", whyStop, setup{objects: 3, resync: time.Minute}, func(b *fixture) {
		b.handler("handler", nil)
		b.start()
		b.advance(90 * time.Second)
		b.stop()
	}),
	play("INFORMER-23", "at-once", whyStop, setup{objects: 3}, func(b *fixture) {
		b.handler("handler", nil)
		b.cancel()
		b.start()
		b.stop()
	}),
	play("INFORMER-23", "before-the-first-list", whyStop, setup{objects: 3}, func(b *fixture) {
		release := b.gate.hold()
		defer release()
		b.handler("handler", nil)
		b.startUp()
		b.stop()
	}),
	play("INFORMER-23", "while-lists-fail", whyStop, setup{objects: 3}, func(b *fixture) {
		b.gate.cut(errBroken)
		b.handler("handler", nil)
		b.start()
		b.advance(5 * time.Minute)
		b.stop()
	}),
	play("INFORMER-23", "while-watches-fail", whyStop, setup{objects: 3}, func(b *fixture) {
		b.handler("handler", nil)
		b.start()
		b.advance(time.Minute) // after a very short watch the informer would list next
		b.gate.cut(errCut)
		b.advance(5 * time.Minute)
		b.stop()
	}),
	play("INFORMER-23", "handlers-come-and-gone", whyStop, setup{objects: 3}, func(b *fixture) {
		b.start()
		for i := range 5 {
			h := b.handler(fmt.Sprint("handler ", i), nil)
			if i%2 == 0 {
				b.settle()
				b.remove(h)
			}
		}
		b.stop()
	}),
	play("INFORMER-23", "much-is-queued", whyStop, setup{objects: 30}, func(b *fixture) {
		b.handler("slow", func(call) { time.Sleep(time.Second) })
		b.start()
		writer(b, keyOf(0), 20)
		b.advance(5 * time.Second)
		b.stop()
	}),
	play("INFORMER-23", "a-handler-runs", whyStop, setup{objects: 3}, func(b *fixture) {
		release := make(chan struct{})
		b.handler("stuck", func(call) { <-release })
		b.startUp()
		b.cancel()
		b.advance(time.Second)
		close(release)
		b.stop()
	}),
	play("INFORMER-23", "by-channel", "most programs stop informers by a channel", setup{objects: 3},
		func(b *fixture) {
			b.handler("handler", nil)
			stop := make(chan struct{})
			returned := b.begin("INFORMER-23", "Run", func() { b.informer.Run(stop) })
			b.settle()
			if !b.informer.HasSynced() {
				b.errorf("Run lists nothing")
			}
			close(stop)
			select {
			case <-returned:
			case <-time.After(time.Hour):
				b.errorf("Run has not returned an hour after its channel was closed")
			}
		}),

	play("INFORMER-24", "much-is-queued", whyStop, setup{objects: 30}, func(b *fixture) {
		b.handler("slow", func(call) { time.Sleep(time.Second) })
		b.handler("fast", nil)
		b.start()
		writer(b, keyOf(0), 20)
		b.advance(5 * time.Second)
		writer(b, keyOf(1), 20)
		b.stop()
	}),
	play("INFORMER-24", "a-handler-runs", whyStop, setup{objects: 30}, func(b *fixture) {
		release := make(chan struct{})
		b.handler("stuck", func(call) { <-release })
		b.startUp()
		b.cancel()
		b.advance(time.Second)
		select {
		case <-b.returned:
			b.errorf("Run has returned while a handler runs")
		default:
		}
		close(release)
		b.stop()
	}),
	play("INFORMER-24", "writes-go-on", whyStop, setup{objects: 5}, func(b *fixture) {
		b.handler("handler", nil)
		b.startUp()
		b.cancel()
		churn(b)
		b.stop()
	}),

	play("INFORMER-25", "while-it-runs", "two parts of a program start the informer that they share",
		setup{objects: 5}, func(b *fixture) {
			h := b.handler("handler", nil)
			b.startUp()
			requests := len(b.gate.requests())
			second := b.begin("INFORMER-25", "a second Run", func() {
				ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
				defer cancel()
				b.informer.RunWithContext(ctx)
			})
			b.settle()
			select {
			case <-second:
			default:
				b.errorf("the second Run has not returned")
			}
			if n := len(b.gate.requests()); n != requests {
				b.errorf("the second Run has asked the source %d times", n-requests)
			}
			if b.informer.IsStopped() || !b.informer.HasSynced() {
				b.errorf("after the second Run IsStopped is %v and HasSynced %v", b.informer.IsStopped(),
					b.informer.HasSynced())
			}
			churn(b)
			b.settle()
			if n := len(h.calls()); n < 10 {
				b.errorf("after the second Run the handler was called %d times only", n)
			}
			b.compare()
			b.mustShow("INFORMER-25")
		}),
	play("INFORMER-25", "after-the-end",
		"who starts an informer once more would wait for ever for what it does no more",
		setup{objects: 5}, func(b *fixture) {
			h := b.handler("handler", nil)
			b.startUp()
			b.stop()
			calls, requests := len(h.calls()), len(b.gate.requests())
			ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
			second := b.begin("INFORMER-25", "a second Run", func() { b.informer.RunWithContext(ctx) })
			b.settle()
			select {
			case <-second:
			default:
				b.errorf("the second Run has not returned")
			}
			if n := len(b.gate.requests()); n != requests || len(h.calls()) != calls {
				b.errorf("the second Run has asked the source %d times, and called the handler %d times",
					n-requests, len(h.calls())-calls)
			}
			if !b.informer.IsStopped() {
				b.errorf("after the second Run IsStopped is false")
			}
			cancel()
			<-second
		}),
	mutationCase,
}
