package informertest

// A source that fails, the errors that the informer reports of it, and the transform of
// objects on their way in.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/suite"
)

const (
	whyTransform = "transforms drop what takes memory, and some cannot be applied twice"
	whyErrors    = "nobody would learn that the cache stands still"
	whyBackoff   = "an apiserver that is down would be kept down by its clients"
)

// The scenes of both clauses on transforms.

func transformListedAndWatched(b *fixture) {
	b.handler("handler", nil)
	b.startUp()
	b.compare()
	churn(b)
}

func transformListedAgain(b *fixture) {
	b.handler("handler", nil)
	b.start()
	b.advance(3*time.Minute + 30*time.Second)
	b.miss(func() { churn(b) })
	b.compare()
	b.advance(5 * time.Minute)
}

var troubleCases = []suite.Case[env]{
	play("INFORMER-16", "listed-and-watched", whyTransform, setup{objects: 6, transform: true},
		transformListedAndWatched),
	play("INFORMER-16", "listed-again-and-resynced", whyTransform,
		setup{objects: 6, window: 3, resync: time.Minute, transform: true}, transformListedAgain),
	play("INFORMER-31", "listed-and-watched", whyTransform, setup{objects: 6, transform: true},
		transformListedAndWatched),
	play("INFORMER-31", "listed-again-and-resynced", whyTransform,
		setup{objects: 6, window: 3, resync: time.Minute, transform: true}, transformListedAgain),
	play("INFORMER-16", "not-while-it-runs", whyTransform, setup{objects: 6, transform: true},
		func(b *fixture) {
			b.handler("handler", nil)
			b.startUp()
			if err := b.informer.SetTransform(func(any) (any, error) { return nil, nil }); err == nil {
				b.errorf("SetTransform is not refused while the informer runs")
			}
			churn(b)
		}),

	play("INFORMER-21", "lists-that-fail", whyErrors, setup{objects: 3}, func(b *fixture) {
		var told errorLog
		err := b.informer.SetWatchErrorHandlerWithContext(told.note)
		if err != nil {
			b.errorf("SetWatchErrorHandlerWithContext before the start: %v", err)
		}
		b.gate.cut(errBroken)
		b.start()
		b.advance(2 * time.Minute)
		// A streaming list is one request or two: an informer may tell of its watch, of the list
		// that it falls back to, or of both.
		during, failed := told.count(errBroken), b.gate.refused()
		if during == 0 || during < failed.lists || during > failed.lists+failed.watches {
			b.errorf("%d errors are told in two minutes in which %d lists and %d watches failed", during,
				failed.lists, failed.watches)
		}
		b.gate.mend()
		b.advance(3 * time.Minute)
		healthy := told.count(errBroken)
		b.advance(3 * time.Minute)
		if told.count(errBroken) != healthy {
			b.errorf("errors are told while nothing fails")
		}
		b.miss(func() { oneByOne(b) })
	}),
	play("INFORMER-21", "watches-that-are-refused",
		"nobody would learn that the program may list and not watch", setup{objects: 3},
		func(b *fixture) {
			var told errorLog
			err := b.informer.SetWatchErrorHandlerWithContext(told.note)
			if err != nil {
				b.errorf("SetWatchErrorHandlerWithContext before the start: %v", err)
			}
			b.start()
			b.advance(time.Minute)
			n := told.count(errBroken)
			if n > 0 {
				b.errorf("%d errors are told before anything fails", n)
			}
			b.gate.refuseWatches(errBroken)
			b.advance(5 * time.Minute)
			if told.count(errBroken) == 0 {
				b.errorf("nothing is told in five minutes in which each watch is refused")
			}
			b.gate.mend()
			b.advance(3 * time.Minute)
			healthy := told.count(errBroken)
			b.advance(3 * time.Minute)
			if told.count(errBroken) != healthy {
				b.errorf("errors are told while nothing fails")
			}
		}),
	play("INFORMER-21", "not-while-it-runs", whyErrors, setup{objects: 3}, func(b *fixture) {
		var first, second errorLog
		if err := b.informer.SetWatchErrorHandler(func(r *cache.Reflector, err error) {
			first.note(b.ctx, r, err)
		}); err != nil {
			b.errorf("SetWatchErrorHandler before the start: %v", err)
		}
		b.startUp()
		if err := b.informer.SetWatchErrorHandlerWithContext(second.note); err == nil {
			b.errorf("SetWatchErrorHandlerWithContext is not refused while the informer runs")
		}
		b.gate.cut(errBroken)
		b.advance(2 * time.Minute)
		b.gate.mend()
		b.advance(3 * time.Minute)
		if first.count(errBroken) == 0 || second.count(errBroken) > 0 {
			b.errorf("the handler that was set before the start was told %d errors, the one that was "+
				"refused %d", first.count(errBroken), second.count(errBroken))
		}
	}),

	play("INFORMER-27", "from-the-start", whyBackoff, setup{objects: 3}, func(b *fixture) {
		b.gate.cut(errBroken)
		b.start()
		b.advance(15 * time.Minute)
		b.wantBackoff(15 * time.Minute)
		b.gate.mend()
		b.advance(61 * time.Second)
		b.wantSynced("a minute after the source is mended", true)
	}),
	play("INFORMER-27", "in-the-middle", whyBackoff, setup{objects: 3, window: 2}, func(b *fixture) {
		b.start()
		b.advance(time.Minute)
		b.gate.forgetRequests()
		b.gate.cut(errBroken)
		writer(b, keyOf(0), 5)
		b.advance(15 * time.Minute)
		b.wantBackoff(15 * time.Minute)
		b.gate.mend()
		b.advance(61 * time.Second)
		if got := b.problemsNow(func() { b.compareStore(b.wanted()) }); got != "" {
			b.errorf("a minute after the source is mended: %s", got)
		}
	}),
}

// wantBackoff checks the times of the requests during an outage.
func (b *fixture) wantBackoff(outage time.Duration) {
	requests := b.gate.requests()
	if len(requests) == 0 {
		b.errorf("nothing was asked in %s", outage)
		return
	}
	begin := requests[0]
	late, last := 0, begin
	var first, second []time.Duration // pauses between tries, in either half
	for _, at := range requests {
		gap := at.Sub(last)
		if gap > time.Minute {
			b.errorf("nothing was asked for %s", gap)
		}
		last = at
		inSecond := at.Sub(begin) > outage/2
		if inSecond {
			late++
		}
		switch {
		case gap < oneTry:
		case inSecond:
			second = append(second, gap)
		default:
			first = append(first, gap)
		}
	}
	// Of averages, because a pause may have jitter of its own length.
	if a, z := mean(first[:min(3, len(first))]), mean(second); z < 2*a {
		b.errorf("the pauses do not grow: the first ones are %s on average, and those in the second "+
			"half of an outage of %s are %s", a, outage, z)
	}
	// A try may be a streaming list and a plain one. The upper bound is one try in five
	// seconds.
	most := int(outage / 2 / (5 * time.Second) * 2)
	if late > most {
		b.errorf("in the second half of an outage of %s %d requests came, want %d at most",
			outage, late, most)
	}
	since := time.Since(last)
	if since > time.Minute {
		b.errorf("nothing was asked for the last %s", since)
	}
}

// oneTry is the longest time between the requests of one try: a streaming list that is refused, and
// the list in its place.
const oneTry = 100 * time.Millisecond

func mean(of []time.Duration) (m time.Duration) {
	for _, d := range of {
		m += d / time.Duration(len(of))
	}
	return m
}

// errorLog is a watch error handler that records the errors.
type errorLog struct {
	sync.Mutex
	told []error
}

func (l *errorLog) note(_ context.Context, _ *cache.Reflector, err error) {
	l.Lock()
	defer l.Unlock()
	l.told = append(l.told, err)
}

// count returns how many of the errors are target or contain its text.
func (l *errorLog) count(target error) (n int) {
	l.Lock()
	defer l.Unlock()
	for _, err := range l.told {
		if errors.Is(err, target) || strings.Contains(fmt.Sprint(err), target.Error()) {
			n++
		}
	}
	return n
}

// mutationCase is INFORMER-30, which needs an informer of its own.
var mutationCase = suite.Case[env]{
	Clause: "INFORMER-30", Name: "changed-in-the-cache",
	Why: "all readers share the object, and some would see half of the change",
	Run: func(t *suite.T, _ env) {
		construct := suite.Settings[settings](t.Config()).mutationDetecting
		if construct == nil {
			t.Skipf("no informer was given that reports changed objects to the suite (MutationDetecting)")
		}
		for _, changed := range []bool{false, true} {
			var found sync.Map
			note := func(message string) { found.Store(message, true) }
			probe := play("INFORMER-30", "", "", setup{objects: 3}, func(b *fixture) {
				b.start()
				b.advance(5 * time.Second)
				if changed {
					obj, _, _ := b.informer.GetStore().GetByKey(keyOf(1))
					c := obj.(*corev1.Pod)
					c.Labels = map[string]string{"changed": "in place"}
				}
				// An event passes from here through the informer to its detector. So for
				// the race detector too the change happens before the detector's look.
				b.update(keyOf(0), 1)
				b.settle()
				b.advance(5 * time.Minute)
			})
			probe.Run(t, newEnv(construct(note)))
			n := 0
			found.Range(func(any, any) bool { n++; return true })
			if changed && n == 0 {
				t.Errorf("an object of the store was changed in place, and nothing is reported")
			}
			if !changed && n > 0 {
				t.Errorf("nothing was changed, and yet a change is reported")
			}
		}
	},
}
