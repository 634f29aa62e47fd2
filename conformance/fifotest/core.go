package fifotest

// Order, waiting, closing, and the rules on process.

import (
	"errors"
	"fmt"
	"runtime"
	"weak"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

var coreCases = fifoCases{
	on("FIFO-1", "order-of-arrival",
		"handlers see a pod before the namespace that it was created in", nil, func(b *fixture) {
			var want []string
			for i := range 300 { // beyond any first buffer
				o := obj(fmt.Sprintf("k%d", i), i)
				b.add(o)
				want = append(want, fmt.Sprintf("Added(%v)", o))
			}
			b.drain(want...)
		}),
	on("FIFO-1", "order-over-refills", "a buffer that wraps around mixes up old and new", nil,
		func(b *fixture) {
			next, out := 0, 0
			for _, step := range []struct {
				in, out int
			}{{10, 7}, {30, 20}, {5, 18}, {200, 150}, {3, 50}, {100, 103}} {
				for range step.in {
					b.add(obj(fmt.Sprintf("k%d", next), next))
					next++
				}
				for range step.out {
					b.pop(fmt.Sprintf("Added(k%d@%d)", out, out))
					out++
				}
			}
			b.drain()
		}),
	check("FIFO-2", "each-producer-wakes", whySleeps, func(t *suite.T, construct newFIFO) {
		eachProducerWakes(t, construct, byPop)
	}),
	check("FIFO-2", "a-pop-that-waits-rests", whyRests, func(t *suite.T, construct newFIFO) {
		rests(t, construct, byPop)
	}),
	on("FIFO-2", "one-at-a-time", "an informer sleeps over the last event before a quiet hour", nil,
		func(b *fixture) {
			rnd := b.t.Rand()
			handled := make(chan string, 1)
			consumed := consume(b.t, b.f, func(deltas contract.Deltas) { handled <- render(deltas) })
			for i := range b.t.Scale(5000) {
				o := obj("a", i)
				linger(rnd.IntN(500)) // the consumer is about to wait
				b.add(o)
				got := await(b.t, handled, "Add does not wake the consumer")
				if got != fmt.Sprintf("Added(%v)", o) {
					b.t.Fatalf("the consumer was given %s after the Add of %v",
						got, o)
				}
			}
			b.f.Close()
			await(b.t, consumed, "the consumer does not return though the FIFO is closed")
		}),
	check("FIFO-3", "close-wakes", "a controller that is told to stop hangs for ever in Pop",
		func(t *suite.T, construct newFIFO) {
			for round := range t.Scale(50) {
				b := setUp(t, construct, nil)
				waiting := []<-chan popped{}
				for range 3 {
					waiting = append(waiting, start(t, func() popped { return popOnce(b.f, nil) }))
				}
				for range round % 4 {
					runtime.Gosched()
				}
				b.f.Close()
				for _, w := range waiting {
					closedAndEmpty(t, await(t, w, "Close does not wake a Pop that waits"))
				}
				closedAndEmpty(t, b.popWith(nil))
			}
		}),
	on("FIFO-3", "close-twice", "a second Close in a shutdown panics", nil, func(b *fixture) {
		b.f.Close()
		b.f.Close()
		closedAndEmpty(b.t, b.popWith(nil))
	}),
	on("FIFO-4", "what-waits-is-delivered", "the last events before a shutdown are lost", nil,
		func(b *fixture) {
			b.add(obj("a", 1), obj("b", 2))
			b.f.Close()
			b.pop("Added(a@1)")
			b.pop("Added(b@2)")
			closedAndEmpty(b.t, b.popWith(nil))
		}),
	check("FIFO-64", "after-close",
		"a reflector that gets an event as the informer stops would never end",
		func(t *suite.T, construct newFIFO) {
			o := obj("a", 1)
			for _, p := range producing {
				b := setUp(t, construct, known(o))
				b.f.Close()
				await(t, start(t, func() bool { p.produce(b, o); return true }),
					p.name+" does not return after Close")
				b.drain(p.want(b.class))
			}
		}),
	on("FIFO-5", "types-and-objects",
		"the consumer takes an update for a creation, or gets another object", objs(obj("c", 0)),
		func(b *fixture) {
			a, u, d := obj("a", 1), obj("b", 2), obj("c", 3)
			b.add(a)
			b.update(u)
			b.remove(d)
			for _, want := range []contract.Delta{
				{Type: contract.Added, Object: a},
				{Type: contract.Updated, Object: u},
				{Type: contract.Deleted, Object: d},
			} {
				p := b.popWith(nil)
				if len(p.deltas) != 1 || p.deltas[0] != want {
					b.t.Fatalf("Pop gave process %s, want %s with the object that was given, not a copy",
						render(p.deltas), render(contract.Deltas{want}))
				}
			}
			b.drain()
		}),
	on("FIFO-6", "item-and-error", "a failed process is taken for a success", nil, func(b *fixture) {
		b.add(obj("a", 1), obj("b", 2))
		cause := errors.New("cannot process")
		for i, want := range []string{"Added(a@1)", "Added(b@2)"} {
			err := []error{cause, nil}[i]
			p := b.popWith(func(any, bool) error { return err })
			returned, ok := p.item.(contract.Deltas)
			if !ok || render(returned) != want || render(p.deltas) != want {
				b.t.Fatalf("process got %s and Pop returned %T %s, want %s from both", render(p.deltas), p.item,
					render(returned), want)
			}
			if p.err != err {
				b.t.Fatalf("Pop returned error %v, process returned %v", p.err, err)
			}
			if p.calls != 1 {
				b.t.Fatalf("process was called %d times", p.calls)
			}
		}
		b.drain() // an error alone puts nothing back
	}),
	on("FIFO-6", "requeue-elsewhere",
		"a consumer that asks for a requeue where there is none loses its error", nil, func(b *fixture) {
			if _, ok := b.f.(contract.KeyedQueue); ok {
				b.t.Skipf("%T is a contract.KeyedQueue and puts back", b.f)
			}
			b.add(obj("a", 1))
			var want error = contract.ErrRequeue{Err: errNoKey}
			if p := b.popWith(func(any, bool) error { return want }); p.err != want {
				b.t.Fatalf("Pop returned error %v, process returned %v", p.err, want)
			}
			b.drain()
		}),
	byEachPopper("FIFO-7", "panic-in-process",
		"one panic in a handler, recovered above, freezes the informer",
		func(t *suite.T, construct newFIFO, by popper) {
			b := by.setUp(t, construct, nil)
			b.add(obj("a", 1), obj("b", 2))
			given := b.takeAndPanic()
			if err := await(t, start(t, func() error {
				return b.f.Add(obj("c", 3))
			}), "Add does not return after process panicked: lock left held"); err != nil {
				t.Fatalf("Add after process panicked: %v", err)
			}
			b.drain([]string{"Added(a@1)", "Added(b@2)", "Added(c@3)"}[given:]...)
		}),
	byEachPopper("FIFO-7", "a-panic-counts-as-popped",
		"one panic amid the first list would leave a controller unsynced, and what was put off until "+
			"then would never come", func(t *suite.T, construct newFIFO, by popper) {
			for _, later := range []struct {
				want, whole string // whole is what class in-order-atomic gives
				call        func(b *fixture)
			}{
				{"Deleted(a@2)", "Deleted(a@2)", func(b *fixture) { b.remove(obj("a", 2)) }},
				{"Replaced(a@3)", "ReplacedAll(rv 7 [a@3])", func(b *fixture) { b.replace(obj("a", 3)) }},
				{"Sync(a@1)", "SyncAll(all)", func(b *fixture) { b.must(b.f.Resync()) }},
			} {
				b := by.setUp(t, construct, known(obj("a", 1)))
				b.replace(obj("a", 1))
				b.takeAndPanic()
				b.synced(true, "all was popped, though process panicked")
				later.call(b)
				want := later.want
				if b.class == contract.InOrderAtomic {
					want = later.whole
				}
				b.pop(want)
				b.drain()
			}
		}),
	on("FIFO-63", "len", "a metric of the backlog says that there is none, or stops the informer",
		objs(), func(b *fixture) {
			f := suite.Needs[interface{ Len() int }](b.t, b.f)
			want := func(n int, when string) {
				got := await(b.t, start(b.t, f.Len), "Len does not return")
				if got != n {
					b.t.Fatalf("Len is %d, want %d: %s", got, n, when)
				}
			}
			want(0, "nothing came")
			for i := range 200 {
				b.add(obj(fmt.Sprintf("k%d", i), i))
				want(i+1, "so many keys wait")
			}
			for i := range 50 {
				b.popWith(nil)
				want(199-i, "so many keys wait")
				if i == 20 {
					b.add(obj("later", 200))
					b.popWith(nil)
					want(199-i, "one came and one was popped")
				}
			}
			if settingsOf(b.t).unlocked {
				var within int
				b.popWith(func(any, bool) error {
					b.add(obj("x", 201), obj("y", 202))
					b.replace(obj("x", 203))
					within = f.Len()
					return nil
				})
				if least := 149 + 3; within < least {
					b.t.Fatalf("Len is %d while process runs, when 149 keys waited and three calls came since; "+
						"want at least %d", within, least)
				}
			}
			b.f.Close()
			for p := b.popWith(nil); p.err == nil; p = b.popWith(nil) {
			}
			want(0, "all was popped")
		}),
}

const whySleeps = "an informer sleeps over an event until the next one comes"

const whyRests = "each idle informer would keep a processor busy"

// rests lets one call of the popper wait, and asserts that it uses no processor.
func rests(t *suite.T, construct newFIFO, by popper) {
	b := setUp(t, construct, nil)
	waiting := start(t, func() popped { return by.once(b.f, nil) })
	t.Eventually(t.OthersWait, nil,
		"a "+by.name+" that waits gives its processor back; a goroutine of the FIFO that sleeps "+
			"counts as one that polls: let it wait for a timer's channel")
	b.add(obj("a", 1))
	await(t, waiting, "Add does not wake a "+by.name+" that waits")
}

// producer is a producing method, and what it queues of the known object a@1.
type producer struct {
	name         string
	each, atomic string // atomic is what class in-order-atomic gives
	produce      func(b *fixture, o *object)
}

var producing = []producer{
	{"Add", "Added(a@1)", "Added(a@1)", func(b *fixture, o *object) { b.add(o) }},
	{"Update", "Updated(a@1)", "Updated(a@1)", func(b *fixture, o *object) { b.update(o) }},
	{"Delete", "Deleted(a@1)", "Deleted(a@1)", func(b *fixture, o *object) { b.remove(o) }},
	{"Replace", "Replaced(a@1)", "ReplacedAll(rv 7 [a@1])", func(b *fixture, o *object) {
		b.replace(o)
	}},
	{"Resync", "Sync(a@1)", "SyncAll(all)", func(b *fixture, _ *object) { b.must(b.f.Resync()) }},
}

func (p producer) want(class contract.FIFOClass) string {
	if class == contract.InOrderAtomic {
		return p.atomic
	}
	return p.each
}

// eachProducerWakes lets one call of the popper wait, and asserts that each producing method
// wakes it.
func eachProducerWakes(t *suite.T, construct newFIFO, by popper) {
	for _, p := range producing {
		want := p.want(classOf(t.Config()))
		for round := range t.Scale(50) {
			o := obj("a", 1)
			b := setUp(t, construct, known(o))
			waiting := start(t, func() popped { return by.once(b.f, nil) })
			for range round % 4 { // sometimes the Pop comes first, sometimes the event
				runtime.Gosched()
			}
			p.produce(b, o)
			got := await(t, waiting, p.name+" does not wake a "+by.name+" that waits")
			if got.err != nil || render(got.deltas) != want {
				t.Fatalf("the %s that waited gave %q, %v after %s; want %q", by.name, render(got.deltas), got.err,
					p.name, want)
			}
		}
	}
}

func closedAndEmpty(t *suite.T, p popped) {
	if !errors.Is(p.err, contract.ErrFIFOClosed) {
		t.Fatalf("Pop of a closed, empty FIFO returned error %v, want ErrFIFOClosed", p.err)
	}
	if p.calls != 0 || p.item != nil {
		t.Fatalf("Pop of a closed, empty FIFO called process %d times and returned %v", p.calls, p.item)
	}
}

// What a FIFO keeps of what was popped.

// keptAfterPop is the bound of FIFO-24: how many popped objects a FIFO may keep.
const keptAfterPop = 16

var memoryCases = fifoCases{
	byEachPopper("FIFO-24", "no-longer-reachable",
		"the memory of a cluster's worth of objects stays with an empty FIFO",
		func(t *suite.T, construct newFIFO, by popper) {
			const n = 200
			for _, in := range []struct {
				name  string
				keys  int
				queue func(b *fixture, objs ...any)
			}{
				{"Add", n, (*fixture).add},
				{"Update, two for each key", n / 2, (*fixture).update},
				{"Replace", n, (*fixture).replace},
			} {
				b := by.setUp(t, construct, nil)
				refs := queueTraced(b, n, in.keys, in.queue)
				b.add(obj("last", n)) // what still waits must not keep the others alive
				takeObjects(b, n)
				b.add(obj("later", n+1)) // nor must what comes next
				// One collection may miss what a dead slot of a stack still names.
				t.Eventually(func() bool { return alive(refs) <= keptAfterPop }, runtime.GC,
					fmt.Sprintf("all but %d of %d objects that came by %s and were popped are garbage",
						keptAfterPop, n, in.name))
			}
		}),
}

// queueTraced queues n objects that share the given number of keys. Its weak pointers to them
// show which the collector has taken.
func queueTraced(b *fixture, n, keys int,
	queue func(b *fixture, objs ...any)) []weak.Pointer[object] {
	objs, refs := make([]any, n), make([]weak.Pointer[object], n)
	for i := range objs {
		o := obj(fmt.Sprintf("k%d", i%keys), i)
		objs[i], refs[i] = o, weak.Make(o)
	}
	queue(b, objs...)
	return refs
}

// takeObjects pops until n objects or more have come out.
func takeObjects(b *fixture, n int) {
	for n > 0 {
		p := b.take(nil)
		b.must(p.err)
		for _, d := range p.deltas {
			if list, ok := d.Object.(contract.ReplacedAllInfo); ok {
				n -= len(list.Objects)
			} else {
				n--
			}
		}
	}
}

func alive(refs []weak.Pointer[object]) (n int) {
	for _, r := range refs {
		if r.Value() != nil {
			n++
		}
	}
	return n
}
