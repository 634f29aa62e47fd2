package fifotest

// The base of the cases: objects, the known objects, and a FIFO whose calls fail the case
// rather than hang it.

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// object is the object that the suite queues. Its identity matters, not only its content.
type object struct {
	key     string
	version int
}

func (o *object) String() string { return fmt.Sprintf("%s@%d", o.key, o.version) }

func obj(key string, version int) *object { return &object{key, version} }

// objs is what a case's FIFO knows, and not nil if it knows nothing.
func objs(known ...*object) []*object { return append([]*object{}, known...) }

var (
	errNoKey  = errors.New("not an object of the suite")
	errLookUp = errors.New("no look-up (part of a conformance case)")
)

func keyFunc(o any) (string, error) {
	if o, ok := o.(*object); ok {
		return o.key, nil
	}
	return "", errNoKey
}

// render returns deltas as text. Different deltas have different texts, because versions
// are unique within a case.
func render(deltas contract.Deltas) string {
	parts := make([]string, len(deltas))
	for i, d := range deltas {
		parts[i] = fmt.Sprintf("%s(%s)", d.Type, renderObject(d.Object))
	}
	return strings.Join(parts, " ")
}

func renderObject(o any) string {
	switch o := o.(type) {
	case contract.DeletedFinalStateUnknown:
		return fmt.Sprintf("tombstone %s %s", o.Key, renderObject(o.Obj))
	case contract.ReplacedAllInfo:
		parts := make([]string, len(o.Objects))
		for i := range parts {
			parts[i] = renderObject(o.Objects[i])
		}
		return fmt.Sprintf("rv %s [%s]", o.ResourceVersion, strings.Join(parts, " "))
	case contract.SyncAllInfo:
		return "all"
	}
	return fmt.Sprint(o)
}

// fixture is one FIFO under test.
type fixture struct {
	t     *suite.T
	f     contract.FIFO
	class contract.FIFOClass
	by    popper // how take pops
}

// setUp constructs a FIFO. It closes the FIFO when the case ends, so that no Pop stays
// behind.
func setUp(t *suite.T, construct newFIFO, known contract.KeyListerGetter) *fixture {
	return setUpFIFO(t, construct(contract.FIFOConfig{KeyFunc: keyFunc, KnownObjects: known}))
}

func setUpFIFO(t *suite.T, f contract.FIFO) *fixture {
	t.Cleanup(f.Close)
	return &fixture{t, f, classOf(t.Config()), byPop}
}

// only skips the case unless the FIFO is of one of the classes.
func only(t *suite.T, classes ...contract.FIFOClass) {
	if class := classOf(t.Config()); !slices.Contains(classes, class) {
		t.Skipf("a FIFO of class %s promises this in another way or not at all", class)
	}
}

func (b *fixture) must(err error) {
	if err != nil {
		b.t.Fatalf("unexpected error: %v", err)
	}
}

func (b *fixture) add(objs ...any) {
	for _, o := range objs {
		b.must(b.f.Add(o))
	}
}

func (b *fixture) update(objs ...any) {
	for _, o := range objs {
		b.must(b.f.Update(o))
	}
}

func (b *fixture) remove(objs ...any) {
	for _, o := range objs {
		b.must(b.f.Delete(o))
	}
}

func (b *fixture) replace(objs ...any) { b.must(b.f.Replace(objs, "7")) }

func (b *fixture) synced(want bool, when string) {
	got := b.f.HasSynced()
	if got != want {
		b.t.Fatalf("HasSynced is %t, want %t: %s", got, want, when)
	}
}

// start runs f on a goroutine of its own; a panic fails the case.
func start[R any](t *suite.T, f func() R) <-chan R {
	done := make(chan R, 1)
	go func() {
		t.Join()          // the caller may be a goroutine of popWith that ends at once
		defer close(done) // after a panic, await returns a zero value
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		done <- f()
	}()
	return done
}

// letOthersRun gives other goroutines the time to come as far as they can.
func letOthersRun() {
	for range 200 {
		runtime.Gosched()
	}
}

// await waits for a result that must come, and ends the case if it does not.
func await[R any](t *suite.T, done <-chan R, what any) R {
	select {
	case r := <-done:
		t.Progress()
		return r
	case <-t.Stalled():
		t.Fatalf("waited in vain: %v", what)
		panic("unreachable")
	}
}

// popWith pops an item that must be waiting.
func (b *fixture) popWith(process contract.PopProcessFunc) popped { return b.popBy(byPop, process) }

// take is popWith by the fixture's popper.
func (b *fixture) take(process contract.PopProcessFunc) popped { return b.popBy(b.by, process) }

func (b *fixture) popBy(by popper, process contract.PopProcessFunc) popped {
	done := start(b.t, func() popped { return by.once(b.f, process) })
	return await(b.t, done, by.name+" does not return although something waits")
}

// takeAndPanic is take with a process that panics, and checks that the panic comes out. It
// returns how many deltas process was given.
func (b *fixture) takeAndPanic() (given int) {
	const panics = "handler"
	recovered := await(b.t, start(b.t, func() (p any) {
		defer func() { p = recover() }()
		_, _ = b.by.pop(b.f, func(o any, _ bool) error {
			given = len(o.(contract.Deltas))
			panic(panics)
		})
		return nil
	}), b.by.name+" does not return although process panicked")
	if recovered != panics {
		b.t.Fatalf("%s let %v out, process panicked with %q", b.by.name, recovered,
			panics)
	}
	return given
}

// pop pops an item that must be waiting and checks its deltas.
func (b *fixture) pop(want string) popped {
	p := b.popWith(nil)
	switch got := render(p.deltas); {
	case p.err != nil:
		b.t.Fatalf("Pop: %v, want %s", p.err, want)
	case got != want:
		b.t.Fatalf("Pop gave process\n\t%s\nwant\n\t%s", got, want)
	}
	return p
}

// drain checks all items that wait. It closes the FIFO first, so that a FIFO which lost or
// made up an item fails here rather than hangs.
func (b *fixture) drain(want ...string) {
	b.f.Close()
	for i := 0; ; i++ {
		p := b.popWith(nil)
		switch got := render(p.deltas); {
		case errors.Is(p.err, contract.ErrFIFOClosed) && i < len(want):
			b.t.Fatalf("the FIFO is empty, want %s", want[i])
		case errors.Is(p.err, contract.ErrFIFOClosed):
			return
		case p.err != nil:
			b.t.Fatalf("Pop: %v", p.err)
		case i >= len(want):
			b.t.Fatalf("Pop gave process\n\t%s\nwant nothing more", got)
		case got != want[i]:
			b.t.Fatalf("Pop gave process\n\t%s\nwant\n\t%s", got, want[i])
		}
	}
}

// knownObjects is the consumer's store. Each call of it calls consulted, which notes calls
// that come while process runs.
type knownObjects struct {
	mu struct {
		sync.Mutex
		keys []string // in the order of arrival
		objs map[string]any
	}
	consulted func() // called by each method; may be nil
}

func known(objs ...*object) *knownObjects {
	k := &knownObjects{}
	k.mu.objs = map[string]any{}
	for _, o := range objs {
		k.set(o.key, o)
	}
	return k
}

func (k *knownObjects) set(key string, o any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.mu.objs[key]; !ok {
		k.mu.keys = append(k.mu.keys, key)
	}
	k.mu.objs[key] = o
}

func (k *knownObjects) drop(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.mu.objs, key)
	k.mu.keys = slices.DeleteFunc(k.mu.keys, func(have string) bool { return have == key })
}

func (k *knownObjects) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.mu.keys = nil
	clear(k.mu.objs)
}

func (k *knownObjects) ListKeys() []string {
	if k.consulted != nil {
		k.consulted()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.mu.keys)
}

// GetByKey is part of contract.KeyListerGetter. The look-up of "fails" fails, and "lost" is listed
// and not found. Both objects are returned all the same, and the FIFO must not use them.
func (k *knownObjects) GetByKey(key string) (any, bool, error) {
	if k.consulted != nil {
		k.consulted()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	o, ok := k.mu.objs[key]
	if key == "fails" {
		return o, ok, errLookUp
	}
	return o, ok && key != "lost", nil
}

// apply applies popped deltas to the store, as a controller does.
func (k *knownObjects) apply(deltas contract.Deltas) {
	for _, d := range deltas {
		switch d.Type {
		case contract.Deleted:
			if tombstone, ok := d.Object.(contract.DeletedFinalStateUnknown); ok {
				k.drop(tombstone.Key)
			} else {
				k.drop(d.Object.(*object).key)
			}
		case contract.ReplacedAll:
			k.clear()
			for _, o := range d.Object.(contract.ReplacedAllInfo).Objects {
				k.set(o.(*object).key, o)
			}
		case contract.SyncAll:
		default:
			k.set(d.Object.(*object).key, d.Object)
		}
	}
}

// String gives the contents sorted by key.
func (k *knownObjects) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	parts := make([]string, 0, len(k.mu.objs))
	for _, key := range slices.Sorted(slices.Values(k.mu.keys)) {
		parts = append(parts, renderObject(k.mu.objs[key]))
	}
	return strings.Join(parts, " ")
}

// The two ways to take something out: Pop, and PopBatch where a FIFO has it.

// popped is the result of one Pop.
type popped struct {
	deltas    contract.Deltas // the argument of process
	item      any             // the result of Pop
	isInitial bool
	calls     int // calls of process
	err       error
}

// popper is Pop, or PopBatch in its place.
type popper struct {
	name string
	// atOnce is how many events a case queues so that one call takes several if it can: one
	// for Pop, two of different keys for PopBatch.
	atOnce int
	pop    func(f contract.FIFO, process contract.PopProcessFunc) (item any, err error)
}

var (
	byPop      = popper{"Pop", 1, contract.FIFO.Pop}
	byPopBatch = popper{"PopBatch", 2, popBatch}
)

// popBatch is PopBatch with one process function for several events and for one. The item
// is the argument of process.
func popBatch(f contract.FIFO, process contract.PopProcessFunc) (item any, err error) {
	err = f.(contract.BatchPopper).PopBatch(func(deltas []contract.Delta, isInInitialList bool) error {
		item = contract.Deltas(deltas)
		return process(item, isInInitialList)
	}, func(o any, isInInitialList bool) error {
		item = o
		return process(item, isInInitialList)
	})
	return item, err
}

// once pops on the calling goroutine; process may be nil.
func (by popper) once(f contract.FIFO, process contract.PopProcessFunc) (p popped) {
	p.item, p.err = by.pop(f, func(o any, isInInitialList bool) error {
		p.calls++
		p.isInitial = isInInitialList
		deltas, ok := o.(contract.Deltas)
		if !ok {
			return fmt.Errorf("process was given %T, not Deltas", o)
		}
		// A copy: it keeps the deltas if the FIFO changes its own slice afterwards.
		p.deltas = slices.Clone(deltas)
		if process != nil {
			return process(o, isInInitialList)
		}
		return nil
	})
	return p
}

// popOnce is byPop.once.
func popOnce(f contract.FIFO, process contract.PopProcessFunc) popped {
	return byPop.once(f, process)
}

// objects returns as many objects as one call of the popper takes, of different keys.
func (by popper) objects() (objs []*object) {
	for i := range by.atOnce {
		objs = append(objs, obj(fmt.Sprintf("o%d", i), i))
	}
	return objs
}

// listOf returns objs as arguments of Add and Replace.
func listOf(objs []*object) (list []any) {
	for _, o := range objs {
		list = append(list, o)
	}
	return list
}

// setUp is the function setUp. take of its fixture pops by this popper.
func (by popper) setUp(t *suite.T, construct newFIFO, known contract.KeyListerGetter) *fixture {
	b := setUp(t, construct, known)
	b.by = by
	return b
}

// byEachPopper makes a case that runs with Pop and, where the FIFO has it, with PopBatch.
func byEachPopper(clause, name, why string,
	run func(t *suite.T, construct newFIFO, by popper)) fifoCase {
	return check(clause, name, why, func(t *suite.T, construct newFIFO) {
		poppers := []popper{byPop}
		if hasBatches(t, construct) {
			poppers = append(poppers, byPopBatch)
		}
		for _, by := range poppers {
			t.Logf("with %s:", by.name)
			run(t, construct, by)
		}
	})
}

// hasBatches reports whether the FIFO has PopBatch.
func hasBatches(t *suite.T, construct newFIFO) bool {
	_, ok := setUp(t, construct, nil).f.(contract.BatchPopper)
	return ok
}

const companion = "companion"

// accompany queues the addition of one more object if a call of the fixture's popper takes
// two. The case's process leaves it out (alone), so it leaves no trace.
func (b *fixture) accompany() {
	if b.by.atOnce > 1 {
		b.add(obj(companion, 0))
	}
}

// alone returns deltas without that of the companion.
func alone(deltas contract.Deltas) contract.Deltas {
	return slices.DeleteFunc(slices.Clone(deltas), func(d contract.Delta) bool {
		o, ok := d.Object.(*object)
		return ok && o.key == companion
	})
}
