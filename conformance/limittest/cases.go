package limittest

import (
	"fmt"
	"math"
	"time"

	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

const (
	whyNegative = "a negative delay is a retry at once: the item that fails most would spin"
	whyCount    = "controllers give up on an item by its count"
)

var cases = []suite.Case[constructor]{
	{Clause: "LIMIT-1", Name: "ten-thousand-failures", Why: whyNegative,
		Run: func(t *suite.T, newLimiter constructor) {
			l := newLimiter()
			for n := range 10_000 {
				d := l.When("a")
				if d < 0 {
					t.Fatalf("When = %s after %d failures", d, n)
				}
			}
		}},
	{Clause: "LIMIT-2", Name: "new-item", Why: whyCount,
		Run: func(t *suite.T, newLimiter constructor) {
			l := newLimiter()
			wantCount(t, l, "a", 0)
			l.When("b")
			wantCount(t, l, "a", 0)
			wantCount(t, l, "", 0)
		}},
	{Clause: "LIMIT-3", Name: "counts-or-never-does", Why: whyCount,
		Run: func(t *suite.T, newLimiter constructor) {
			l := newLimiter()
			per := counts(t, l)
			for n := range 5000 {
				wantCount(t, l, "a", n*per)
				l.When("a")
			}
		}},
	{Clause: "LIMIT-3", Name: "any-history", Why: whyCount,
		Run: func(t *suite.T, newLimiter constructor) {
			t.Random(func(rt *rapid.T) { history(rt, newLimiter()) })
		}},
	{Clause: "LIMIT-4", Name: "starts-over",
		Why: "an item that succeeded would be slow, or given up, at its next failure",
		Run: func(t *suite.T, newLimiter constructor) {
			l := newLimiter()
			per := counts(t, l)
			for range 3 {
				for range 70 { // more doublings than 64 bits hold
					l.When("a")
				}
				l.Forget("a")
				wantCount(t, l, "a", 0)
				l.When("a")
				wantCount(t, l, "a", per)
			}
		}},
	{Clause: "LIMIT-4", Name: "unknown-item",
		Why: "controllers forget every item that succeeds, also those that never failed",
		Run: func(t *suite.T, newLimiter constructor) {
			l := newLimiter()
			l.Forget("a")
			l.Forget("a")
			wantCount(t, l, "a", 0)
			per := counts(t, l)
			l.When("a")
			wantCount(t, l, "a", per)
		}},
	{Clause: "LIMIT-5", Name: "one-fails-another-is-forgotten",
		Why: "one bad object would slow all the others", Run: func(t *suite.T, newLimiter constructor) {
			l := newLimiter()
			per := counts(t, l)
			for range 20 {
				l.When("a")
			}
			l.When("b")
			wantCount(t, l, "a", 20*per)
			wantCount(t, l, "b", per)
			l.Forget("a")
			wantCount(t, l, "a", 0)
			wantCount(t, l, "b", per)
		}},
	{Clause: "LIMIT-4", Name: "delay-starts-over",
		Why: "an item that succeeded would be slow at its next failure",
		Run: func(t *suite.T, newLimiter constructor) {
			mustNotBeSlower(t, newLimiter, "an item that was forgotten",
				func(l contract.RateLimiter[string]) time.Duration {
					failures(l, func(int) string { return "a" })
					l.Forget("a")
					return l.When("a")
				})
		}},
	{Clause: "LIMIT-5", Name: "delay-of-its-own", Why: "one bad object would slow all the others",
		Run: func(t *suite.T, newLimiter constructor) {
			mustNotBeSlower(t, newLimiter, "an item beside another that fails",
				func(l contract.RateLimiter[string]) time.Duration {
					failures(l, func(int) string { return "b" })
					return l.When("a")
				})
		}},
	{Clause: "LIMIT-6", Name: "many-goroutines",
		Why: "every worker of a controller shares one limiter",
		Run: func(t *suite.T, newLimiter constructor) {
			const goroutines, items = 8, 4
			l := newLimiter()
			per := counts(t, l)
			rounds := t.Scale(500)
			actors := make([]func(), goroutines)
			for g := range actors {
				actors[g] = func() {
					own := fmt.Sprint("own", g)
					for n := range rounds {
						if d := l.When(fmt.Sprint(n % items)); d < 0 {
							t.Errorf("When = %s", d)
							return
						}
						l.When(own)
						l.NumRequeues("0")
						l.Forget(own)
					}
				}
			}
			t.Together(actors...)
			total := 0
			for i := range items {
				total += l.NumRequeues(fmt.Sprint(i))
			}
			want := goroutines * rounds * per
			if total != want {
				t.Errorf("%d failures were counted of %d", total, want)
			}
			for g := range goroutines {
				wantCount(t, l, fmt.Sprint("own", g), 0)
			}
		}},
}

// failures lets items fail, few enough for the shared bucket of client-go's default limiter.
func failures(l contract.RateLimiter[string], item func(n int) string) {
	for n := range 12 {
		l.When(item(n))
	}
}

// mustNotBeSlower asserts that a delay after failures is not far more than that of a new item after
// as many failures of different items: a limiter may also delay all items together. A limiter may
// draw its delays, so the smallest of several is compared with the largest.
func mustNotBeSlower(t *suite.T, newLimiter constructor, what string,
	delay func(contract.RateLimiter[string]) time.Duration) {
	const draws = 20
	least, most := time.Duration(math.MaxInt64), time.Duration(0)
	for range draws {
		least = min(least, delay(newLimiter()))
		l := newLimiter()
		failures(l, func(n int) string { return fmt.Sprint("other", n) })
		most = max(most, l.When("a"))
	}
	if least/2 > most && least > time.Millisecond {
		t.Errorf("%s is delayed by %s at least, and one that never failed by %s at most", what, least, most)
	}
}

type fataler interface {
	Fatalf(format string, args ...any)
}

func wantCount(t fataler, l contract.RateLimiter[string], item string, want int) {
	if got := l.NumRequeues(item); got != want {
		t.Fatalf("NumRequeues(%q) = %d, want %d", item, got, want)
	}
}

// counts returns how much one failure adds to an item's count: 1, or 0 for a limiter that
// keeps no count.
func counts(t fataler, l contract.RateLimiter[string]) int {
	const probe = "an item to learn whether failures are counted"
	l.When(probe)
	n := l.NumRequeues(probe)
	if n != 0 && n != 1 {
		t.Fatalf("NumRequeues = %d after the first failure", n)
	}
	return n
}

// history makes random calls on l and on a map, and compares the two.
func history(rt *rapid.T, l contract.RateLimiter[string]) {
	per := counts(rt, l)
	model := map[string]int{}
	item := rapid.StringMatching(`[a-d]`)
	rt.Repeat(map[string]func(*rapid.T){
		"When": func(rt *rapid.T) {
			i := item.Draw(rt, "item")
			if d := l.When(i); d < 0 {
				rt.Fatalf("When(%q) = %s", i, d)
			}
			model[i] += per
		},
		"Forget": func(rt *rapid.T) {
			i := item.Draw(rt, "item")
			l.Forget(i)
			delete(model, i)
		},
		"": func(rt *rapid.T) {
			for _, i := range []string{"a", "b", "c", "d"} {
				wantCount(rt, l, i, model[i])
			}
		},
	})
}
