package informertest

// INFORMER-29: random histories, and the reduction of those that fail.

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load/synthetic"
)

var historyCases = []suite.Case[env]{
	{Clause: "INFORMER-29", Name: "random-histories",
		Why: "caches that are wrong only after a bad night are found by nobody, until it matters",
		Run: randomHistories},
}

// defaultHistories is the number of histories at effort 1.
const defaultHistories = 300

// atMostFailures is the most failing histories that are reduced and reported.
const atMostFailures = 3

func randomHistories(t *suite.T, e env) {
	cfg := t.Config()
	total := suite.Settings[settings](cfg).histories
	if total == 0 {
		total = t.Scale(defaultHistories)
	}
	// A history must be given up before the case itself stalls.
	j := &judge{newInformer: e.newInformer, waived: cfg.Waived, patience: t.Patience() / 2,
		shrinking: cfg.CaseTimeout / 4, progress: t.Progress}
	var next, writes, calls, struck, done, wrong atomic.Int64
	var playing sync.WaitGroup
	for range min(total, runtime.GOMAXPROCS(0)) {
		playing.Go(func() {
			for wrong.Load() < atMostFailures {
				i := next.Add(1) - 1
				if i >= int64(total) {
					return
				}
				h := generate(cfg.Seed + uint64(i))
				if cfg.Waived[restartClause] != "" { // the fault may break any clause on the store
					h = h.without(synthetic.FaultCacheRestart)
				}
				if cfg.Waived[panicsClause] != "" { // a panic might end the process
					h = h.withoutPanics()
				}
				out := j.play(h)
				done.Add(1)
				writes.Add(int64(len(out.log)))
				calls.Add(int64(out.calls))
				struck.Add(int64(out.struck))
				t.Progress()
				if out.hangs {
					next.Store(int64(total)) // the others would hang as long
				}
				if len(out.problems) > 0 && wrong.Add(1) <= atMostFailures {
					t.Errorf("%s", j.tell(int(i), h, out))
				}
			}
		})
	}
	playing.Wait()
	t.Notef("%d histories: %d writes, %d faults struck, %d calls of handlers, %d wrong", done.Load(),
		writes.Load(), struck.Load(), calls.Load(), wrong.Load())
}

// judge plays histories and reports their problems.
type judge struct {
	newInformer contract.NewInformer
	waived      map[string]string
	patience    time.Duration // the time that a history may go without progress; see suite.Guard
	shrinking   time.Duration // real time for reducing one history
	progress    func()
}

// play plays h, and gives it up if it hangs: a goroutine that waits for a lock stops the
// time of its bubble. Problems of waived clauses are left out.
func (j *judge) play(h history) played {
	result := make(chan played, 1)
	if stall := suite.Guard(j.patience, 0, func(*suite.Watch) {
		result <- playHistory(j.newInformer, h)
	}); stall != nil {
		return played{hangs: true, problems: []problem{
			{"INFORMER-29", "the history hangs: " + stall.String()}}}
	}
	out := <-result
	j.progress()
	out.problems = slices.DeleteFunc(out.problems, func(p problem) bool {
		return j.waived[p.clause] != ""
	})
	return out
}

// tell reduces a failing history and describes it.
func (j *judge) tell(number int, h history, wrong played) string {
	short := h
	if !wrong.hangs { // each shorter history would take all of the patience
		short, wrong = j.reduce(h, wrong)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "history %d (it is the first with seed %d) goes wrong; "+
		"suite.Only(\"INFORMER-29\"), suite.WithSeed(%d) and informertest.Histories(1) repeat it:\n",
		number, h.seed, h.seed)
	for _, p := range wrong.problems {
		fmt.Fprintf(&b, "  %s: %s\n", p.clause, p.text)
	}
	fmt.Fprintf(&b, "reduced from %d steps to %d:\n%s", len(h.steps), len(short.steps), short)
	if len(wrong.log) > 0 {
		fmt.Fprintf(&b, "what was written:\n%s", strings.Join(wrong.log, ""))
	}
	return b.String()
}

// triesEach is the number of times that a shorter history is played before it counts as
// sound: the seed does not determine the order in which goroutines run at one instant.
const triesEach = 10

// reduce leaves out steps, handlers and faults, and makes steps smaller, as long as the
// rest breaks the same clause and the time for shrinking lasts.
func (j *judge) reduce(h history, wrong played) (history, played) {
	clause := wrong.problems[0].clause
	deadline := time.Now().Add(j.shrinking)
	shorter := false
	try := func(c history) bool {
		for range triesEach {
			if time.Now().After(deadline) {
				return false
			}
			out := j.play(c)
			if slices.ContainsFunc(out.problems, func(p problem) bool { return p.clause == clause }) {
				h, wrong, shorter = c, out, true
				return true
			}
		}
		return false
	}
	for again := true; again; again = shorter {
		shorter = false
		shorten(h.steps, func(s []step) bool { c := h; c.steps = s; return try(c) })
		shorten(h.handlers, func(s []temper) bool { c := h; c.handlers = s; return try(c) })
		shorten(h.setup.faults, func(s []synthetic.Fault) bool {
			c := h
			c.setup.faults = s
			return try(c)
		})
		for i := range h.steps {
			for h.steps[i].n > 1 && (h.steps[i].op == opBurst || h.steps[i].op == opBeside) {
				c := h
				c.steps = slices.Clone(h.steps)
				c.steps[i].n /= 2
				if !try(c) {
					break
				}
			}
		}
		for h.setup.objects > 0 {
			c := h
			c.setup.objects /= 2
			if !try(c) {
				break
			}
		}
	}
	return h, wrong
}

// shorten leaves out parts of list, large ones first, as long as the rest still fails.
func shorten[T any](list []T, fails func([]T) bool) []T {
	for size := max(1, len(list)/2); size > 0; size /= 2 {
		for from := 0; from < len(list); {
			rest := slices.Concat(list[:from], list[min(from+size, len(list)):])
			if fails(rest) {
				list = rest
			} else {
				from += size
			}
		}
	}
	return list
}
