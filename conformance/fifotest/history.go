package fifotest

// Random histories of calls, compared with the model step by step.

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/conformance/internal/fifomodel"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

var historyCases = fifoCases{
	check("FIFO-25", "random-history",
		"some order of events leaves a cache that differs from the cluster",
		func(t *suite.T, construct newFIFO) {
			t.Random(func(r *rapid.T) {
				left := rapid.IntRange(1, 60).Draw(r, "steps")
				h := history{
					fatalf: r.Fatalf,
					choose: func(n int, what string) int { return rapid.IntRange(0, n-1).Draw(r, what) },
					more:   func() bool { left--; return left >= 0 },
				}
				h.watch = h.awaits(t)
				h.run(construct, classOf(t.Config()))
			})
		}),
	check("FIFO-25", "many-keys",
		"some order of events leaves a cache of many objects that differs from the cluster",
		func(t *suite.T, construct newFIFO) {
			rnd := t.Rand()
			for known := range knownChoices {
				h := history{fatalf: t.Fatalf, choose: func(n int, _ string) int { return rnd.IntN(n) }}
				h.watch = h.awaits(t)
				h.begin(construct, classOf(t.Config()), known)
				t.Cleanup(h.f.Close)
				for _, phase := range []struct {
					keys, fill, steps int
				}{{12, 0, 200}, {60, 30, 400}, {300, 200, 400}, {40000, 1100, 10}, {12, 0, 100}} {
					h.keys = phase.keys
					for range phase.fill {
						h.event("Update", contract.Updated, h.f.Update, h.object())
					}
					for range t.Scale(phase.steps) {
						h.step()
						h.compareSynced()
						h.compareKey(h.key())
					}
					h.compareWaiting()
					for len(h.m.Waiting) > 0 { // to the last, where a FIFO may give memory back
						h.popOne(nil)
					}
				}
				h.end()
			}
		}),
}

// Fuzz makes a fuzz target of the random histories: each byte of the input is a
// choice. The inputs in the package's testdata and a few of its own run as a
// normal test.
func Fuzz(f *testing.F, newFIFO func(contract.FIFOConfig) contract.FIFO, opts ...Option) {
	cfg, err := suite.NewConfig(opts)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		"\x00\x00\x00\x00\x01\x01\x00\x06\x00", // add, add, update, pop
		// add, delete, tombstone, pop, pop
		"\x02\x00\x00\x02\x00\x03\x00\x00\x00\x06\x00\x06\x00",
		// replace, resync, pops, resync
		"\x01\x04\x03\x00\x01\x02\x05\x06\x00\x06\x00\x05\x06\x00",
		// relists with pops between
		"\x02\x04\x02\x00\x00\x04\x01\x01\x06\x00\x04\x00\x06\x00\x06\x00\x05",
		// add, requeue, delete, put back, pops
		"\x00\x00\x00\x07\x00\x02\x00\x08\x06\x00\x06\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		h := history{
			fatalf: t.Fatalf,
			more:   func() bool { return len(choices) > 0 },
			choose: func(n int, _ string) int {
				if len(choices) == 0 {
					return 0
				}
				c := int(choices[0]) % n
				choices = choices[1:]
				return c
			},
		}
		h.watch = func(pop func()) { pop() }
		h.run(newFIFO, classOf(cfg))
	})
}

// awaits ends the case at once if Pop hangs: to shrink such a history would take hours.
func (h *history) awaits(t *suite.T) func(pop func()) {
	return func(pop func()) {
		await(t, start(t, func() bool { pop(); return true }),
			lazy(func() string { return "Pop does not return after\n" + h.String() }))
	}
}

type lazy func() string

func (l lazy) String() string { return l() }

// history is one run of calls against a FIFO and the model.
type history struct {
	fatalf func(format string, args ...any)
	choose func(n int, what string) int // from 0 to n-1
	more   func() bool
	watch  func(pop func()) // calls what may hang

	f       contract.FIFO
	keyed   contract.KeyedQueue  // nil if f is none
	batches contract.BatchPopper // nil if f is none
	keys    int                  // how many there are; 0 means five, a to e
	m       fifomodel.Model
	store   *knownObjects // of the consumer
	live    bool          // what is popped is applied to store
	version int
	last    contract.Deltas // the newest that Pop returned
	steps   []string
}

// String is what was done so far, or the end of it.
func (h *history) String() string {
	const most = 100
	if n := len(h.steps) - most; n > 0 {
		return fmt.Sprintf("\t%d steps\n\t%s", n, strings.Join(h.steps[n:], "\n\t"))
	}
	return "\t" + strings.Join(h.steps, "\n\t")
}

func (h *history) fail(format string, args ...any) {
	h.fatalf("%s\nafter\n%s", fmt.Sprintf(format, args...), h)
}

func (h *history) note(format string, args ...any) {
	h.steps = append(h.steps, fmt.Sprintf(format, args...))
}

func (h *history) must(err error) {
	if err != nil {
		h.fail("unexpected error: %v", err)
	}
}

// key chooses one of the keys.
func (h *history) key() string {
	if h.keys == 0 {
		return string(rune('a' + h.choose(5, "key")))
	}
	n := h.choose(h.keys, "key")
	if n%3 == 0 {
		return fmt.Sprintf("k%d", n)
	}
	return fmt.Sprintf("ns%d/k%d", n%7, n)
}

// object makes a new object of one of the keys.
func (h *history) object() *object {
	h.version++
	return obj(h.key(), h.version)
}

func (h *history) run(construct newFIFO, class contract.FIFOClass) {
	h.begin(construct, class, h.choose(knownChoices, "known objects"))
	defer h.f.Close()
	for h.more() {
		h.step()
		h.compareSynced()
		h.compareWaiting()
	}
	h.end()
}

// knownChoices is the number of configurations of KnownObjects that begin chooses from.
const knownChoices = 3

func (h *history) begin(construct newFIFO, class contract.FIFOClass, choice int) {
	h.m = fifomodel.Model{Class: class, Key: func(o any) string { return o.(*object).key }}
	cfg := contract.FIFOConfig{KeyFunc: keyFunc}
	h.store = known(obj("a", -1), obj("f", -2))
	switch choice {
	case 0:
		h.note("nothing is known")
	case 1:
		h.note("known from the first to the last: %v", h.store)
		h.m.Known, cfg.KnownObjects = h.store, h.store
	case 2:
		h.note("known is what was popped, and at first %v", h.store)
		h.m.Known, cfg.KnownObjects, h.live = h.store, h.store, true
	}
	h.f = construct(cfg)
	h.keyed, _ = h.f.(contract.KeyedQueue)
	h.batches, _ = h.f.(contract.BatchPopper)
}

// end closes the FIFO and pops what waits.
func (h *history) end() {
	h.note("Close")
	h.f.Close()
	for len(h.m.Waiting) > 0 {
		h.popOne(nil)
	}
	if p := h.pop(nil); !errors.Is(p.err, contract.ErrFIFOClosed) {
		h.fail("Pop gave %s, %v; want ErrFIFOClosed, for nothing waits", render(p.deltas), p.err)
	}
}

func (h *history) step() {
	switch h.choose(10, "call") {
	case 0:
		h.event("Add", contract.Added, h.f.Add, h.object())
	case 1:
		h.event("Update", contract.Updated, h.f.Update, h.object())
	case 2:
		h.event("Delete", contract.Deleted, h.f.Delete, h.object())
	case 3:
		h.event("Delete", contract.Deleted, h.f.Delete, tombstone(h.object()))
	case 4:
		var list []any
		var names []string
		for range h.choose(5, "length of the list") {
			o := h.object()
			list, names = append(list, o), append(names, o.String())
		}
		rv := strconv.Itoa(h.version)
		h.note("Replace %v at %s", names, rv)
		h.m.Replace(slices.Clone(list), rv)
		h.must(h.f.Replace(list, rv))
	case 5:
		h.note("Resync")
		h.m.Resync()
		h.must(h.f.Resync())
	case 6:
		if len(h.m.Waiting) > 0 {
			h.popOne(nil)
		}
	case 7:
		if len(h.m.Waiting) > 0 && h.keyed != nil {
			h.popOne(contract.ErrRequeue{Err: errNoKey})
		}
	case 8:
		if h.last != nil && h.keyed != nil {
			h.note("AddIfNotPresent %s", render(h.last))
			h.m.AddIfNotPresent(h.last)
			h.must(h.keyed.AddIfNotPresent(h.last))
		}
	case 9:
		if len(h.m.Waiting) > 0 && h.batches != nil {
			h.popBatch()
		}
	}
}

func (h *history) event(name string, kind contract.DeltaType, call func(any) error, o any) {
	h.note("%s %s", name, renderObject(o))
	h.m.Event(kind, o)
	h.must(call(o))
}

// popOne pops, with a process that returns result, what the model says.
func (h *history) popOne(result error) {
	h.note("Pop, process returns %v", result)
	want, isInitial := h.m.Pop()
	p := h.pop(func(o any, _ bool) error {
		if result == nil && h.live {
			h.store.apply(o.(contract.Deltas))
		}
		return result
	})
	if requeue, ok := result.(contract.ErrRequeue); ok {
		h.m.PutBack(want.Key, want.Deltas)
		result = requeue.Err
	}
	if got := render(p.deltas); got != render(want.Deltas) {
		h.fail("process was given\n\t%s\nwant\n\t%s", got, render(want.Deltas))
	}
	if p.err != result {
		h.fail("Pop returned error %v, want %v", p.err, result)
	}
	if p.isInitial != isInitial {
		h.fail("isInInitialList is %t for %s", p.isInitial, render(p.deltas))
	}
	h.last = p.deltas
}

func (h *history) pop(process contract.PopProcessFunc) (p popped) {
	h.watch(func() { p = popOnce(h.f, process) })
	return p
}

// popBatch pops a batch. It must hold what the same number of Pops would return.
func (h *history) popBatch() {
	h.note("PopBatch")
	var got []contract.Deltas
	var flag bool
	handle := func(deltas contract.Deltas, isInitial bool) {
		got, flag = append(got, deltas), isInitial
		if h.live {
			h.store.apply(deltas)
		}
	}
	var err error
	h.watch(func() {
		err = h.batches.PopBatch(func(batch []contract.Delta, isInitial bool) error {
			for _, d := range batch {
				handle(contract.Deltas{d}, isInitial)
			}
			return nil
		}, func(o any, isInitial bool) error {
			handle(slices.Clone(o.(contract.Deltas)), isInitial)
			return nil
		})
	})
	h.must(err)
	if len(got) == 0 || len(got) > len(h.m.Waiting) {
		h.fail("PopBatch gave %d things while %d wait",
			len(got), len(h.m.Waiting))
	}
	seen := map[string]bool{}
	for _, deltas := range got {
		want, isInitial := h.m.Pop()
		if render(deltas) != render(want.Deltas) {
			h.fail("PopBatch gave\n\t%s\nwhere Pop would give\n\t%s",
				render(deltas), render(want.Deltas))
		}
		if flag != isInitial {
			h.fail("isInInitialList is %t for a batch of %d with %s", flag, len(got),
				render(deltas))
		}
		if seen[want.Key] && h.m.Class == contract.Coalescing {
			h.fail("a batch has the key %q twice",
				want.Key)
		}
		seen[want.Key] = true
		h.last = deltas
	}
}

// compareSynced compares HasSynced.
func (h *history) compareSynced() {
	if got := h.f.HasSynced(); got != h.m.Synced() {
		h.fail("HasSynced is %t, want %t", got, h.m.Synced())
	}
}

// compareKey looks for one key in a FIFO that lets itself be read.
func (h *history) compareKey(key string) {
	if h.keyed == nil {
		return
	}
	item, exists, err := h.keyed.GetByKey(key)
	h.must(err)
	deltas, _ := item.(contract.Deltas)
	var want contract.Deltas
	if i := h.m.Find(key); i >= 0 {
		want = h.m.Waiting[i].Deltas
	}
	if exists != (want != nil) || render(deltas) != render(want) {
		h.fail("GetByKey(%q) gives %s, exists=%t; want %s", key, render(deltas), exists, render(want))
	}
}

// compareWaiting looks into a FIFO that lets itself be read.
func (h *history) compareWaiting() {
	if h.keyed == nil {
		return
	}
	if n := len(h.keyed.ListKeys()); n != len(h.m.Waiting) || len(h.keyed.List()) != n {
		h.fail("%d keys and %d objects wait, want %d", n, len(h.keyed.List()), len(h.m.Waiting))
	}
	for _, g := range h.m.Waiting {
		h.compareKey(g.Key)
	}
}
