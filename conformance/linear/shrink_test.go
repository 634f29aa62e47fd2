package linear

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

func healthy(ix contract.Indexers) contract.Store {
	return cache.NewThreadSafeStore(ix, cache.Indices{})
}

// programs draws n programs of all plans in turn and hands each to use.
func programs(t testing.TB, seed uint64, n int, use func(r *rand.Rand, p *program)) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		p := plans[i%len(plans)]
		kinds, _ := p.usable(suite.Config{}, healthy)
		prog := p.draw(r, kinds)
		prog.shake(r)
		use(r, prog)
	}
}

// No step of the shrinking makes a right history wrong. Otherwise a shrunk history could
// show a mistake that the step made.
func TestStepsKeepRightHistoriesRight(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	steps, writes := 0, 0
	programs(t, seed, 140, func(r *rand.Rand, p *program) {
		h, err := p.record(healthy)
		if err != nil {
			t.Fatal(err)
		}
		for len(h.ops) > 0 {
			var g *history
			// Keys are hidden rarely: a history with a hidden key has few calls left.
			if k := r.IntN(h.keys); r.IntN(30) == 0 && !h.hidden.has(k) {
				g = h.hide(k)
			}
			for _, i := range r.Perm(len(h.ops)) {
				if g == nil && h.droppable(i) {
					g = h.without(i)
				}
			}
			if g == nil {
				return
			}
			if g.judge(time.Minute) == porcupine.Illegal {
				t.Fatalf("seed %d: a step made this\n%sof this, which is right\n%s", seed, g.listing(),
					h.listing())
			}
			steps++
			if countWrites(g) < countWrites(h) {
				writes++
			}
			h = g
		}
	})
	if steps < 1000 || writes < 500 {
		t.Errorf("only %d steps, %d of them over a write: the test sees little", steps, writes)
	}
}

func countWrites(h *history) (n int) {
	for _, op := range h.ops {
		if op.Input.(*call).kind.writes {
			n++
		}
	}
	return n
}

// told makes a history of calls one after the other.
func told(calls ...porcupine.Operation) *history {
	h := &history{start: allIndexes, keys: maxKeys}
	for i, op := range calls {
		op.Call, op.Return = int64(2*i+1), int64(2*i+2)
		if op.Output == nil {
			op.Output = result{}
		}
		h.ops = append(h.ops, op)
	}
	return h
}

func stored(o *object) porcupine.Operation {
	return porcupine.Operation{
		Input: &call{kind: update, key: o.key, writes: []write{{key: o.key, object: o}},
			version: o.version()}}
}

func removed(key int) porcupine.Operation {
	return porcupine.Operation{Input: &call{kind: remove, key: key, writes: []write{{key: key}}}}
}

func asked(key int, o *object) porcupine.Operation {
	got := result{}
	got.at[key] = o
	return porcupine.Operation{Input: &call{kind: get, key: key}, Output: got}
}

func listed(objects ...*object) porcupine.Operation {
	got := result{}
	for _, o := range objects {
		got.at[o.key] = o
	}
	return porcupine.Operation{Input: &call{kind: list}, Output: got}
}

func TestWhatMayBeDropped(t *testing.T) {
	t.Parallel()
	x := [maxIndexes][]string{{"x"}, {"x", "y"}}
	a1, a2, b3 := newObject(1, 0, true, x), newObject(2, 0, false, x), newObject(3, 1, true, x)
	version := porcupine.Operation{Input: &call{kind: lastVersion}, Output: result{version: 1}}
	valueX := porcupine.Operation{Input: &call{kind: byIndex, index: one, values: bit(0)},
		Output: result{}}
	valueZ := porcupine.Operation{Input: &call{kind: byIndex, index: one, values: bit(2)},
		Output: result{}}
	for _, c := range []struct {
		name string
		h    *history
		i    int
		want bool
	}{
		{"a read", told(stored(a1), asked(0, a1)), 1, true},
		{"a write that is shown", told(stored(a1), asked(0, a1)), 0, false},
		{"a write that is listed", told(stored(a1), stored(b3), listed(a1, b3)), 0, false},
		{"a write under one that is shown", told(stored(a1), stored(a2), asked(0, a2)), 0, true},
		{"a deletion that is shown", told(stored(a1), removed(0), asked(0, nil)), 1, false},
		{"a write that nothing shows", told(stored(a1), removed(0), asked(0, nil)), 0, true},
		{"a deletion that is overwritten", told(stored(a1), removed(0), stored(a2), asked(0, nil)), 1,
			true},
		{"a write after the last read", told(asked(0, nil), removed(0)), 1, true},
		{"a write of another key", told(removed(1), asked(0, nil)), 0, true},
		{"a version that is shown", told(stored(a1), stored(a2), version), 0, false},
		{"a write that is seen by its absence from a value", told(stored(b3), stored(a1), valueZ), 1,
			false},
		{"a write that the value would show", told(stored(a1), valueX), 0, true},
	} {
		if got := c.h.droppable(c.i); got != c.want {
			t.Errorf("%s: droppable is %v; want %v in\n%s", c.name, got, c.want, c.h.listing())
		}
	}
}

func TestAStaleReadIsThreeCalls(t *testing.T) {
	t.Parallel()
	var none [maxIndexes][]string
	a1, a2, b3, c4, c5 := newObject(1, 0, true, none), newObject(2, 0, true, none),
		newObject(3, 1, true, none), newObject(4, 2, true, none), newObject(5, 2, false, none)
	h := told(stored(b3), stored(a1), stored(c4), asked(0, a1), listed(a1, b3, c4), removed(1),
		stored(a2), asked(1, nil), stored(c5), listed(a1, c5), asked(2, c5), removed(2))
	if h.judge(patience) != porcupine.Illegal {
		t.Fatal("the history is wrong and not found so")
	}
	s := h.shrunk(time.Now().Add(time.Minute))
	if text := s.listing(); len(s.ops) != 3 || !strings.Contains(text, "Update(a, a#1") ||
		!strings.Contains(text, "Update(a, a#2") || !strings.Contains(text, "gave a#1") {
		t.Errorf("shrunk to\n%s; want the two updates and the list", text)
	}
}

// The seed repeats the clients' calls, and the places where they yield.
func TestTheSeedRepeatsPrograms(t *testing.T) {
	t.Parallel()
	tell := func(seed uint64) (text string) {
		programs(t, seed, 20, func(_ *rand.Rand, p *program) {
			for _, mine := range p.clients {
				for _, c := range mine {
					text += c.text(0) + strings.Repeat(".", c.yields) + "\n"
				}
			}
		})
		return text
	}
	if first, again, other := tell(7), tell(7), tell(8); first != again || first == other {
		t.Error("the same seed must give the same programs, and another one others")
	}
}

// Every kind of call is in some plan, and every plan has a reason and a share of the
// budget.
func TestPlansHoldEveryCall(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, p := range plans {
		for _, k := range p.kinds {
			used[k.name] = true
		}
		if p.why == "" || p.share == 0 {
			t.Errorf("%s/%s is not whole", p.clause, p.name)
		}
	}
	for _, name := range []string{
		"Add", "Update", "Delete", "DeleteWithObject", "Get", "List", "ListKeys", "Replace", "Index",
		"IndexKeys",
		"ListIndexFuncValues", "ByIndex", "GetIndexers", "AddIndexers", "Transaction", "Bookmark",
		"AppendList", "AppendByIndex", "LastStoreSyncResourceVersion",
	} {
		if !used[name] {
			t.Errorf("no plan calls %s", name)
		}
	}
}

// A search that takes too long decides nothing, and is reported.
func TestUndecidedHistoriesAreToldOf(t *testing.T) {
	t.Parallel()
	if text := (tally{want: 5, histories: 3, calls: 60, undecided: 1,
		left: []string{"no Transaction"}}).String(); !strings.Contains(text, "3 histories") ||
		!strings.Contains(text, "1 undecided") || !strings.Contains(text, "ended before all of 5") ||
		!strings.Contains(text, "no Transaction") {
		t.Errorf("%q", text)
	}
	if text := (tally{want: 3, histories: 3}).String(); strings.Contains(text, "undecided") ||
		strings.Contains(text, "ended") {
		t.Errorf("%q", text)
	}
}

// BenchmarkHistories measures one history: drawing, recording and judging.
func BenchmarkHistories(b *testing.B) {
	for _, p := range plans {
		b.Run("store=client-go/case="+p.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			kinds, _ := p.usable(suite.Config{}, healthy)
			calls := 0
			for b.Loop() {
				prog := p.draw(r, kinds)
				prog.shake(r)
				h, err := prog.record(healthy)
				if err != nil || h.judge(patience) == porcupine.Illegal {
					b.Fatal("client-go's store is accused", err)
				}
				calls += len(h.ops)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "histories/s")
			b.ReportMetric(float64(calls)/float64(b.N), "calls/history")
		})
	}
}
