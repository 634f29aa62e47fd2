package suite

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// failing makes cases that fail with a text each.
func failing(clausesAndTexts ...string) (cases []Case[bool]) {
	for i := 0; i < len(clausesAndTexts); i += 2 {
		cases = append(cases, Case[bool]{Clause: clausesAndTexts[i], Name: fmt.Sprint("case", i/2),
			Run: func(t *T, _ bool) { t.Error(clausesAndTexts[i+1]) }})
	}
	return cases
}

// One mistake of a store fails most cases: those that say so are told in a line each, and what to
// mend first at the end.
func TestFailuresOfOneCauseAreGrouped(t *testing.T) {
	t.Parallel()
	err := Check(failing("STORE-4", "List is wrong", "STORE-3", "then List (STORE-4) is wrong",
		"STORE-6", "then List (STORE-4) is wrong, too", "STORE-7", "Get (STORE-1) is wrong",
		"STORE-4", "and once more, List (STORE-4) is wrong"), true)
	if err == nil {
		t.Fatal("no failure")
	}
	for text, want := range map[string]int{
		"\nSTORE-3 [case1]: fails as STORE-4/case0 does\n":      1,
		"\nSTORE-6 [case2]: fails as STORE-4/case0 does\n":      1,
		"Get (STORE-1) is wrong":                                1, // that clause has not failed
		"once more, List (STORE-4) is wrong":                    1, // the case's own clause
		"then List":                                             0,
		"\nmend STORE-4 first: failures that may go with it: 2": 1,
	} {
		if got := strings.Count(err.Error(), text); got != want {
			t.Errorf("%q is said %d times, want %d:\n%v", text, got, want, err)
		}
	}
}

// A case that takes long to fail is the last of its clause: a suite of many such cases would take
// minutes.
func TestAfterASlowFailureItsClauseIsLeft(t *testing.T) {
	t.Parallel()
	var ran []string
	slow := func(t *T, _ bool) {
		ran = append(ran, t.Name())
		t.Eventually(func() bool { return false }, nil, "pigs fly")
	}
	err := Check([]Case[bool]{{Clause: "STORE-4", Name: "first", Run: slow},
		{Clause: "STORE-4", Name: "second", Run: slow}, {Clause: "STORE-5", Name: "third", Run: slow}},
		true, WithCaseTimeout(200*time.Millisecond))
	if got := strings.Join(ran, " "); got != "STORE-4/first STORE-5/third" {
		t.Errorf("%s were run; want the first of each clause", got)
	}
	if err == nil || !strings.Contains(err.Error(),
		"STORE-4 [second]: not run, because first took ") {
		t.Errorf("%v; want that the second case was not run", err)
	}
}

func TestLongLinesAreCutAndNotationIsExplainedOnce(t *testing.T) {
	t.Parallel()
	long := "k#1 " + strings.Repeat("x", 60_000) + " end"
	err := Check(failing("STORE-4", "nothing odd", "STORE-5", long+"\n"+long, "STORE-6", "k#2"), true,
		Legend(regexp.MustCompile(`\w#\d`), "k#1 is an item"))
	text := err.Error()
	if len(text) > 2500 || strings.Count(text, " ... (59608 bytes more) ... ") != 2 ||
		strings.Count(text, "x end") != 2 {
		t.Errorf("%d bytes; want two lines cut in their middle:\n%.3000s", len(text), text)
	}
	if strings.Count(text, "k#1 is an item") != 1 ||
		strings.Index(text, "k#1 is an item") < strings.Index(text, "STORE-5") {
		t.Errorf("want the legend once, with the first failure that needs it:\n%s", text)
	}
}

// The suite's own polling is no loop of the implementation, nor a lock left held, whatever it does
// when it is looked at.
func TestAWaitInVainAccusesNobodyElse(t *testing.T) {
	t.Parallel()
	for _, around := range []Around{func(_ *T, f func()) { f() }, InBubble} {
		_, err := check(func(t *T, _ bool) {
			around(t, func() {
				t.Eventually(func() bool { runtime.GC(); return false }, nil, "all is freed")
			})
		}, true, WithCaseTimeout(500*time.Millisecond))
		text := fmt.Sprint(err)
		for _, wrong := range []string{"loops without end", "lock left held", "goroutine "} {
			if strings.Contains(text, wrong) {
				t.Errorf("%q is said of a case that waited in vain:\n%s", wrong, text)
			}
		}
		if !strings.Contains(text, "waited in vain until all is freed") ||
			!strings.Contains(text, "no progress for") {
			t.Errorf("%s", text)
		}
	}
}
