package informertest

import (
	"fmt"
	"maps"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/informerbench/informerbench/conformance/suite"
)

// fixture is a world and the case that judges it.
type fixture struct {
	*world
	t    *suite.T
	mode string
}

func (b *fixture) errorf(format string, args ...any) {
	b.t.Errorf("%s: %s", b.mode, fmt.Sprintf(format, args...))
}

// play makes a case of steps that run once over streaming lists and once over plain ones.
// After the steps, if the informer runs, the source, the store and the handlers are
// compared, and the informer is stopped. Every problem of the case's own clause fails the
// case.
func play(clause, name, why string, s setup, steps func(b *fixture)) suite.Case[env] {
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
				b := &fixture{w, t, mode}
				defer w.close()
				steps(b)
				if w.returned != nil {
					w.settle()
					w.compare()
				}
			})
			t.Progress()
			if failed != "" {
				t.Errorf("%s: %s", mode, failed)
			}
			if left != "" && clause == "INFORMER-23" {
				t.Errorf("%s: goroutines are left:\n%s", mode, left)
			}
			if w != nil {
				report(t, clause, mode, w.problems())
				if len(t.Config().Only) == 0 { // otherwise the cases of one clause would judge another
					e.passing.note(clause+"/"+name+", "+mode, clause, w.problems())
				}
			}
		}
	}}
}

// passing collects the problems that cases saw of clauses other than their own.
type passing struct {
	mu   sync.Mutex
	seen []seen
}

type seen struct {
	where string
	problem
}

func (p *passing) note(where, clause string, problems []problem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range problems {
		if q.clause != clause {
			p.seen = append(p.seen, seen{where, q})
		}
	}
}

// mostOfEach is the most problems of one clause that are reported.
const mostOfEach = 3

var passingCases = []suite.Case[env]{{
	Clause: "INFORMER-29", Name: "seen-in-other-cases",
	Why: "each case looks for all that no informer may do, and fails by its own clause only",
	Run: func(t *suite.T, e env) {
		if len(t.Config().Only) > 0 {
			t.Skipf("the clauses were chosen, and what their cases see of others is left out")
		}
		e.passing.mu.Lock()
		defer e.passing.mu.Unlock()
		told := map[string]int{}
		for _, s := range e.passing.seen {
			if t.Config().Waived[s.clause] != "" {
				continue
			}
			if told[s.clause]++; told[s.clause] <= mostOfEach {
				t.Errorf("%s, seen in %s: %s", s.clause, s.where, s.text)
			}
		}
	},
}}

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

// summary returns the calls as text for messages.
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

// count returns the number of calls of each key.
func count(calls []call) map[string]int {
	n := map[string]int{}
	for _, c := range calls {
		n[c.key]++
	}
	return n
}

// inBubble is suite.Bubble inside calm.
func inBubble(f func()) (failed, left string) {
	// A bubble that its suite gives up goes on running, and a panic in it must not end the
	// process.
	defer calm()()
	return suite.Bubble(f)
}

var calmed struct {
	sync.Mutex
	users    int
	crash    bool
	handlers []utilruntime.ErrorHandler
}

// calm turns off Kubernetes' reactions to panics and errors while at least one suite or
// bubble runs. end restores them when the last user is done.
func calm() (end func()) {
	c := &calmed
	c.Lock()
	defer c.Unlock()
	if c.users++; c.users == 1 {
		c.crash, c.handlers = utilruntime.ReallyCrash, utilruntime.ErrorHandlers
		utilruntime.ReallyCrash, utilruntime.ErrorHandlers = false, nil
	}
	return func() {
		c.Lock()
		defer c.Unlock()
		if c.users--; c.users == 0 {
			utilruntime.ReallyCrash, utilruntime.ErrorHandlers = c.crash, c.handlers
		}
	}
}

const mark = "transformed"

// transform marks a copy of an object, with one more x each time.
func transform(obj any) (any, error) {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil // a tombstone holds a transformed object
	}
	c := *p
	c.Annotations = maps.Clone(p.Annotations)
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[mark] += "x"
	return &c, nil
}

// unmarked returns the object as it was before transform.
func unmarked(p *corev1.Pod) *corev1.Pod {
	if p.Annotations[mark] == "" {
		return p
	}
	c := *p
	c.Annotations = maps.Clone(p.Annotations)
	delete(c.Annotations, mark)
	return &c
}

// same reports whether a and b are one state of one object. A list returns unchanged
// objects as new pointers, and handlers need not be told of these.
func same(a, b *corev1.Pod) bool {
	return a == b || a != nil && b != nil && version(a) == version(b) &&
		equality.Semantic.DeepEqual(unmarked(a), unmarked(b))
}

// wantMarked checks, in a world with a transform, how often an object was transformed.
func (w *world) wantMarked(where string, p *corev1.Pod) {
	if !w.transform || p == nil {
		return
	}
	switch n := len(p.Annotations[mark]); {
	case n == 0:
		w.problem("INFORMER-16", "%s was not transformed %s", describe(p), where)
	case n > 1:
		w.problem("INFORMER-31", "%s was transformed %d times %s", describe(p), n, where)
	}
}
