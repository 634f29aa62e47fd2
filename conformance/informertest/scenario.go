package informertest

import (
	"fmt"
	"strings"

	"github.com/informerbench/informerbench/conformance/suite"
)

// bed is what a scenario runs in: a world and the case that judges it.
type bed struct {
	*world
	t    *suite.T
	mode string
}

func (b *bed) errorf(format string, args ...any) {
	b.t.Errorf("%s: %s", b.mode, fmt.Sprintf(format, args...))
}

// play makes a case of steps that are played once over streaming lists and once over
// plain ones. When they are through, and the informer runs, the source, the store and the
// handlers are compared; the informer is stopped; and every problem that was seen with
// the case's own clause fails it.
func play(clause, name, why string, s setup, steps func(b *bed)) suite.Case[env] {
	return suite.Case[env]{Clause: clause, Name: name, Why: why, Run: func(t *suite.T, e env) {
		for _, listing := range []bool{false, true} {
			s.listing = listing
			mode := "streaming"
			if listing {
				mode = "listing"
			}
			var w *world
			failed, left := inBubble(func() {
				w = open(e.newInformer, s)
				b := &bed{w, t, mode}
				defer w.close()
				steps(b)
				if w.returned != nil {
					w.settle()
					w.compare()
				}
			})
			if failed != "" {
				t.Errorf("%s: %s", mode, failed)
			}
			if left != "" && clause == "INFORMER-23" {
				t.Errorf("%s: goroutines are left:\n%s", mode, left)
			}
			if w != nil {
				report(t, clause, mode, w.problems())
			}
		}
	}}
}

func report(t *suite.T, clause, mode string, problems []problem) {
	var said []string
	for _, p := range problems {
		if p.clause == clause {
			said = append(said, p.text)
		}
	}
	if len(said) > 0 {
		t.Errorf("%s: %s", mode, strings.Join(said, "\n"))
	}
}

// summary is the calls in words, for messages.
func summary(calls []call) string {
	var s []string
	for _, c := range calls {
		s = append(s, c.String())
	}
	if len(s) > 12 {
		s = append(s[:12], fmt.Sprintf("and %d more", len(s)-12))
	}
	return "[" + strings.Join(s, ", ") + "]"
}

// count is how many of the calls there are of each key.
func count(calls []call) map[string]int {
	n := map[string]int{}
	for _, c := range calls {
		n[c.key]++
	}
	return n
}
