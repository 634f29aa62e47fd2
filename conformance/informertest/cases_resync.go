package informertest

// Resyncs: every handler at its own period.

import (
	"time"

	"k8s.io/utils/ptr"

	"github.com/informerbench/informerbench/conformance/suite"
)

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
		b.errorIf(n != 4, "in a quiet day the handler was called %d times, want 4", n)
	}),
}
