package suite

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// check runs one case and returns its results and the error of Check.
func check(run func(t *T, broken bool), broken bool, opts ...Option) ([]Result, error) {
	var results []Result
	opts = append(opts, WithObserver(func(r Result) { results = append(results, r) }))
	err := Check([]Case[bool]{{Clause: "STORE-7", Name: "a-case", Why: "the field burns", Run: run}},
		broken, opts...)
	return results, err
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		run  func(t *T, broken bool)
		opts []Option
		want Outcome
		text []string
	}{
		{"pass", func(*T, bool) {}, nil, Pass, nil},
		{"error", func(t *T, _ bool) {
			t.Errorf("seen %d", 3)
		}, nil, Fail, []string{"STORE-7", "a-case", "seen 3", "the field burns", "seed"}},
		{"fatal ends the case", func(t *T, _ bool) {
			t.Fatal("first")
			t.Error("second")
		}, nil, Fail, []string{"first"}},
		{"panic", func(*T, bool) { panic("boom") }, nil, Fail, []string{"panic: boom"}},
		{"hang", func(*T, bool) {
			select {}
		}, []Option{WithCaseTimeout(200 * time.Millisecond)}, Fail,
			[]string{"still running", "lock left held"}},
		{"skip", func(t *T, _ bool) {
			t.Skipf("no %s", "Transaction")
		}, nil, Skip, []string{"no Transaction"}},
		{"skip of one that leaves a mess", func(t *T, _ bool) {
			t.Cleanup(func() { t.Error("a mess") })
			t.Skip("second to the mess")
		}, nil, Fail, []string{"a mess"}},
		{"waived", func(t *T, _ bool) {
			t.Error("never run")
		}, []Option{Waive("STORE-7", "it is weaker")}, Waived, []string{"it is weaker"}},
		{"cleanup that panics", func(t *T, _ bool) {
			t.Cleanup(func() { panic("late") })
		}, nil, Fail, []string{"panic: late"}},
		{"eventually in vain", func(t *T, _ bool) {
			t.Eventually(func() bool { return false }, nil, "pigs fly")
		}, []Option{WithCaseTimeout(200 * time.Millisecond)}, Fail, []string{"pigs fly"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			results, err := check(c.run, false, c.opts...)
			if len(results) != 1 || results[0].Outcome != c.want {
				t.Fatalf("results %+v, want one %s", results, c.want)
			}
			var failure *Failure
			if errors.As(err, &failure) != (c.want == Fail) {
				t.Errorf("error %v", err)
			}
			text := results[0].Reason
			if err != nil {
				text = err.Error()
			}
			for _, want := range c.text {
				if !strings.Contains(text, want) {
					t.Errorf("%q lacks %q", text, want)
				}
			}
			if strings.Contains(text, "second") {
				t.Error("Fatal did not end the case")
			}
		})
	}
}

// When three cases have calls that do not return, the others are not run: each would take
// seconds, and go test would end the process before the suite has told what it found.
func TestAfterCasesThatHangNoneIsRun(t *testing.T) {
	t.Parallel()
	free := make(chan struct{})
	t.Cleanup(func() { close(free) })
	var cases []Case[bool]
	hang := func(*T, bool) { <-free }
	for i, run := range []func(*T, bool){hang, hang, func(*T, bool) {}, func(t *T, _ bool) {
		t.Error("seen")
	}, hang, func(*T, bool) {}, hang} {
		cases = append(cases, Case[bool]{Clause: "STORE-7", Name: fmt.Sprint("case", i), Run: run})
	}
	var got []string
	failure := Check(cases, true, WithCaseTimeout(time.Second), WithObserver(func(r Result) {
		text, _, _ := strings.Cut(r.Reason, " ")
		got = append(got, fmt.Sprintf("%s %s %s", r.Case, r.Outcome, text))
	}))
	want := []string{"case0 fail still", "case1 fail still", "case2 pass ", "case3 fail seen",
		"case4 fail still", "case5 fail not", "case6 fail not"}
	if !slices.Equal(got, want) ||
		!strings.Contains(failure.Error(),
			"calls of STORE-7/case0, STORE-7/case1, STORE-7/case4 do not return") {
		t.Errorf("%q, want %q\n%v", got, want, failure)
	}
}

// A goroutine that polls does not wait, whether it sleeps between its looks or not, and whether it
// is in a bubble or not.
func TestOthersWait(t *testing.T) {
	t.Parallel()
	polls := func(pause func()) func(<-chan struct{}) {
		return func(end <-chan struct{}) {
			for {
				select {
				case <-end:
					return
				default:
					pause()
				}
			}
		}
	}
	body := func(t *T) {
		for name, other := range map[string]func(end <-chan struct{}){
			"looks again and again": polls(runtime.Gosched),
			"looks now and then":    polls(func() { time.Sleep(50 * time.Microsecond) }),
			"waits":                 func(end <-chan struct{}) { <-end },
		} {
			end, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				t.Join()
				other(end)
			}()
			if name == "waits" {
				t.Eventually(t.OthersWait, nil, "the other goroutine waits")
			}
			for range 20 {
				if got := t.OthersWait(); got != (name == "waits") {
					t.Errorf("a goroutine that %s: %v", name, got)
				}
				runtime.Gosched()
			}
			close(end)
			<-ended
		}
	}
	for _, around := range []Around{func(_ *T, f func()) { f() }, InBubble} {
		results, err := check(func(t *T, _ bool) { around(t, func() { t.Join(); body(t) }) }, false)
		if err != nil || len(results) != 1 {
			t.Errorf("%+v, %v", results, err)
		}
	}
}

func TestCleanupsRunBackwards(t *testing.T) {
	t.Parallel()
	var order []int
	if _, err := check(func(t *T, _ bool) {
		t.Cleanup(func() { order = append(order, 1) })
		t.Cleanup(func() { order = append(order, 2) })
	}, false); err != nil || !slices.Equal(order, []int{2, 1}) {
		t.Errorf("order %v, %v", order, err)
	}
}

func TestNotesAreKept(t *testing.T) {
	t.Parallel()
	results, _ := check(func(t *T, broken bool) {
		t.Logf("seen %d", 1)
		t.Notef("looked at %d", 3)
	}, false)
	if len(results) != 1 || results[0].Note != "looked at 3" || results[0].Reason != "" {
		t.Errorf("%+v; want the note and not the log", results)
	}
}

func TestOnlyRunsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	results, err := check(func(t *T, _ bool) { t.Error("run") }, false, Only("STORE-8"))
	if len(results) != 0 || err != nil {
		t.Errorf("%+v, %v: the case of another clause was run", results, err)
	}
	for _, opt := range []Option{Only("STORE-7", "QUEUE-3"), Waive("QUEUE-3", "a reason")} {
		results, err = check(func(*T, bool) {}, false, opt)
		if len(results) != 0 || err == nil ||
			!strings.Contains(err.Error(), `"QUEUE-3"): this suite has no clause of the component queue`) {
			t.Errorf("%+v, %v: want that a clause of another component is refused", results, err)
		}
	}
}

// A failure at another effort than 1 is repeated at that effort: sizes depend on it.
func TestFailuresAreRepeatable(t *testing.T) {
	t.Parallel()
	for effort, want := range map[float64]string{1: "suite.WithSeed(7)",
		0.2: "suite.WithSeed(7), suite.WithEffort(0.2)"} {
		_, err := check(func(t *T, _ bool) { t.Error("wrong") }, false, WithSeed(7), WithEffort(effort))
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want that it ends with %s", err, want)
		}
	}
}

// A Check ends with its context, and says so.
func TestCheckEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("it is late")
	cancel(why)
	if results, err := check(func(*T, bool) {}, false, WithContext(ctx)); len(results) != 0 ||
		!errors.Is(err, why) {
		t.Errorf("%+v, %v: want no case, and why", results, err)
	}
	ctx, cancel = context.WithCancelCause(t.Context())
	ran := 0
	one := Case[bool]{Clause: "STORE-7", Name: "a-case", Run: func(*T, bool) { ran++; cancel(why) }}
	if err := Check([]Case[bool]{one, one}, false, WithContext(ctx)); ran != 1 ||
		!errors.Is(err, why) {
		t.Errorf("%d cases, %v: want the case under way, and why", ran, err)
	}
}

// Run says that no case was wanted, and refuses a clause of another component as Check does.
func TestRunOfNoCase(t *testing.T) {
	t.Parallel()
	skipped := false
	t.Run("none", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		Run(t, []Case[bool]{{Clause: "STORE-7", Name: "a-case", Run: func(t *T, _ bool) {
			t.Error("run")
		}}}, false, Only("STORE-8"))
	})
	if !skipped {
		t.Error("a Run without a case was not skipped")
	}
}

func TestTheSeedRepeats(t *testing.T) {
	t.Parallel()
	draw := func(seed uint64) (n uint64) {
		if _, err := check(func(t *T, _ bool) {
			n = t.Rand().Uint64()
		}, false, WithSeed(seed)); err != nil {
			t.Fatal(err)
		}
		return n
	}
	first, again, other := draw(7), draw(7), draw(8)
	if first != again || first == other {
		t.Error("the same seed must give the same choices, and another one others")
	}
}

// A random case fails by its clause, with the shrunk history, and leaves no file. Rapid's
// flags are afterwards as they were, but for the one that prevents such files.
func TestRandomShrinks(t *testing.T) {
	values := func() (s string) {
		flag.VisitAll(func(f *flag.Flag) {
			if strings.HasPrefix(f.Name, "rapid.") {
				s += f.Name + "=" + f.Value.String() + " "
			}
		})
		return s
	}
	readyRapid.Do(prepareRapid)
	before := values()
	_, err := check(func(t *T, _ bool) {
		t.Random(func(rt *rapid.T) {
			if n := rapid.IntRange(0, 1000).Draw(rt, "n"); n >= 50 {
				rt.Fatalf("%d is too many", n)
			}
		})
	}, false, WithEffort(1))
	if err == nil || !strings.Contains(err.Error(), "50 is too many") ||
		!strings.Contains(err.Error(), "STORE-7") {
		t.Errorf("got %v, want the smallest history that fails", err)
	}
	if after := values(); after != before {
		t.Errorf("rapid's flags were %s and are %s", before, after)
	}
}

// A suite's own settings add up, and no other suite sees them.
func TestSettings(t *testing.T) {
	t.Parallel()
	type mine struct{ a, b int }
	type theirs mine
	cfg, err := NewConfig([]Option{
		Setting(func(s *mine) {
			s.a = 1
		}), WithEffort(2), Setting(func(s *mine) { s.b = 2 }), Setting(func(s *mine) { s.a++ }),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := Settings[mine](cfg); got != (mine{2, 2}) {
		t.Errorf("%+v, want both as the options left them", got)
	}
	if got := Settings[theirs](cfg); got != (theirs{}) {
		t.Errorf("another suite sees %+v", got)
	}
}

func TestWrongOptionsAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		opt  Option
		want string
	}{
		{Waive("STORE-999", "x"), "STORE-999"},
		{Waive("STORE-7", ""), "give the reason"},
		{Only("NOPE-1"), "NOPE-1"},
		{WithEffort(-1), "WithEffort(-1)"},
		{WithEffort(math.NaN()), "WithEffort(NaN)"},
		{WithCaseTimeout(-1), "WithCaseTimeout(-1ns)"},
		{func(c *Config) { c.Refuse(errors.New("sorted is no class")) }, "sorted"},
	} {
		if _, err := NewConfig([]Option{c.opt}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// Random cases of suites with different seeds and efforts run at once: each plays as many inputs as
// it would alone. Run it under the race detector too: rapid is configured by flags of the process.
func TestRandomOfManySuites(t *testing.T) {
	t.Parallel()
	for i := range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for range 50 {
				played := 0
				if _, err := check(func(t *T, _ bool) {
					t.Random(func(*rapid.T) { played++ })
				}, false, WithSeed(uint64(i+1)), WithEffort(float64(1+i%4))); err != nil {
					t.Fatal(err)
				}
				if want := 100 * (1 + i%4); played != want {
					t.Errorf("%d inputs, want %d", played, want)
				}
			}
		})
	}
}

// RandomFew plays few inputs, and as many as shrinking takes once one has failed.
func TestRandomFew(t *testing.T) {
	for _, fails := range []bool{false, true} {
		played, smallest := 0, 1000
		cases := []Case[int]{{Clause: "STORE-1", Name: "few", Run: func(t *T, _ int) {
			t.RandomFew(3, func(rt *rapid.T) {
				played++
				if n := rapid.IntRange(0, 1000).Draw(rt, "n"); fails && n >= 7 {
					smallest = min(smallest, n)
					rt.Fatal("seven or more")
				}
			})
		}}}
		err := Check(cases, 0, WithSeed(1), WithEffort(1))
		if !fails && (err != nil || played != 3) {
			t.Errorf("%d inputs, want 3; %v", played, err)
		}
		if fails && (err == nil || smallest != 7) {
			t.Errorf("shrunk to %d, want 7; %v", smallest, err)
		}
	}
}
