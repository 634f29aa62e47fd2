package catalog

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/mutexmap"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/queue/delay"
	"github.com/informerbench/informerbench/queue/deltafifo"
	"github.com/informerbench/informerbench/queue/workqueue"
)

func newCoalescing(cfg contract.FIFOConfig) *deltafifo.Coalescing {
	return deltafifo.NewCoalescing(cfg, deltafifo.Options{})
}

func newQueue(c clock.WithTicker) *workqueue.DelayingQueue[string] {
	return workqueue.NewDelaying(queueHeap, workqueue.Config[string]{Clock: c})
}

// strangers are entries as a program from outside makes them, one of each component, of
// constructors that return types of their own.
func strangers() []Entry {
	described := Description("as it is")
	return []Entry{
		Store("mine", mutexmap.New, described),
		FIFO("mine", newCoalescing, described),
		DelayHeap("mine", delay.NewQuadHeap[string], described),
		Queue("mine", newQueue, described),
		Limiter("mine", exponential, described),
		Informer("mine", informer.NewSharedIndexInformer, described),
	}
}

func TestStrangersAreWhole(t *testing.T) {
	t.Parallel()
	entries := strangers()
	if err := check(builtIn(), entries); err != nil {
		t.Error(err)
	}
	for _, e := range entries {
		if err := e.Try(); err != nil {
			t.Error(err)
		}
		if e.Guarantees != "the whole contract" {
			t.Errorf("%s guarantees %q", e.ID(), e.Guarantees)
		}
		if want := "github.com/informerbench/informerbench"; e.Module != want {
			t.Errorf("%s is of module %q, want %q", e.ID(), e.Module, want)
		}
		if e.Component == contract.ComponentFIFO && e.FIFOClass != contract.Coalescing {
			t.Errorf("a FIFO that says nothing is of class %q", e.FIFOClass)
		}
	}
	waiving := Store("mine", mutexmap.New, Waive("STORE-7", "for the test"), Class(contract.InOrder))
	if waiving.Guarantees != "the contract but for the waived clauses" ||
		waiving.FIFOClass != contract.InOrder {
		t.Errorf("the options have made %+v", waiving)
	}
}

// Without a name an entry has that of its constructor's package.
func TestNames(t *testing.T) {
	t.Parallel()
	closure := func(ix contract.Indexers) contract.Store { return mutexmap.New(ix) }
	for _, c := range []struct{ got, want string }{
		{Store("", mutexmap.New).Name, "mutexmap"},
		{DelayHeap("", delay.NewQuadHeap[string]).Name, "delay"},
		{Store("", closure).Name, "catalog"},
		{Store("mine", mutexmap.New).Name, "mine"},
		{nameOf("example.com/mystore/v2"), "mystore"},
		{nameOf("example.com/mystore_test"), "mystore"},
		{nameOf("main"), "main"},
	} {
		if c.got != c.want {
			t.Errorf("the name is %q, want %q", c.got, c.want)
		}
	}
	if got := moduleOf("example.com/a/b"); got != "example.com/a/b" {
		t.Errorf("a package of no module of this program is of module %q", got)
	}
}

func TestExtendRefuses(t *testing.T) {
	t.Parallel()
	described := Description("as it is")
	var none func(contract.Indexers) *mutexmap.Store
	store := func(name string, opts ...Option) Entry {
		return Store(name, mutexmap.New, append([]Option{described}, opts...)...)
	}
	for name, c := range map[string]struct {
		entries []Entry
		want    []string
	}{
		"our name": {[]Entry{store("lockfree")},
			[]string{"store/lockfree", "taken",
				"a hash table and arrays that readers go through without a lock", "choose another"}},
		"our name in capital": {[]Entry{store("LockFree")},
			[]string{"store/LockFree", "taken by store/lockfree"}},
		"the same name twice": {
			[]Entry{store("mine"), DelayHeap("mine", delay.NewQuadHeap[string], described), store("mine")},
			[]string{"store/mine", "taken by store/mine"}},
		"no name": {[]Entry{store("mine", func(e *Entry) {
			e.Name = " "
		})}, []string{`" " is no name`, "letters, digits"}},
		"a path":        {[]Entry{store("a/b")}, []string{`"a/b" is no name`}},
		"a glob":        {[]Entry{store("my*")}, []string{`"my*" is no name`}},
		"two names":     {[]Entry{store("a,b")}, []string{`"a,b" is no name`}},
		"a sentence":    {[]Entry{store("my store")}, []string{`"my store" is no name`}},
		"a role":        {[]Entry{store("mine@aa")}, []string{`"mine@aa" is no name`}},
		"a second copy": {[]Entry{store("mine-aa")}, []string{`"mine-aa" ends in -aa`}},
		"an endless name": {[]Entry{store(strings.Repeat("x", 65))},
			[]string{"is no name", "up to 64"}},
		"no description": {[]Entry{store("mine", Description(" "))},
			[]string{"store/mine", "description of one line", `Description("`}},
		"a long description": {[]Entry{store("mine", Description("one\ntwo"))},
			[]string{"description of one line"}},
		"broken guarantees": {[]Entry{store("mine", Guarantees("none\x1b[2J"))},
			[]string{"guarantees of one line"}},
		"no constructor": {[]Entry{Store("mine", none, described)},
			[]string{"store/mine", "no constructor", "makes a store"}},
		"two constructors": {[]Entry{store("mine", func(e *Entry) {
			e.NewLimiter = func() contract.RateLimiter[string] { return exponential() }
		})}, []string{"constructor of a limiter"}},
		"no component": {[]Entry{store("mine", func(e *Entry) {
			e.Component = "cache"
		})}, []string{`"cache"`, "store fifo"}},
		"a reference": {[]Entry{store("mine", func(e *Entry) {
			e.Reference = true
		})}, []string{"the reference is client-go's", "--reference store=mine"}},
		"a class of a store": {[]Entry{store("mine", Class(contract.InOrder))}, []string{"FIFO class"}},
		"an unknown class": {[]Entry{FIFO("mine", newCoalescing, described, Class("sorted"))},
			[]string{`"sorted"`, "in-order-atomic"}},
		"an unknown clause": {[]Entry{store("mine", Waive("STORE-999", "why not"))},
			[]string{"store/mine", "STORE-999"}},
		"another's clause": {[]Entry{store("mine", Waive("FIFO-1", "why not"))},
			[]string{"FIFO-1", "rule for a fifo"}},
		"no reason": {[]Entry{store("mine", Waive("STORE-7", ""))},
			[]string{"STORE-7", "give the reason"}},
		"several at once": {[]Entry{store("a b"), store("lockfree")},
			[]string{`"a b" is no name`, "taken"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var a additions
			err := a.extend(c.entries)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error lacks %q: %v", want, err)
				}
			}
			if got := a.read(); len(got) > 0 {
				t.Errorf("%d entries were added all the same", len(got))
			}
		})
	}
}

// Entries can be added once, and not after somebody has read them.
func TestExtendSeals(t *testing.T) {
	t.Parallel()
	var a additions
	if err := a.extend(strangers()); err != nil {
		t.Fatal(err)
	}
	if err := a.extend([]Entry{Store("other", mutexmap.New, Description("as it is"))}); !errors.Is(err,
		ErrSealed) {
		t.Errorf("the second time: %v, want ErrSealed", err)
	}
	if got := a.read(); len(got) != len(strangers()) {
		t.Errorf("%d entries, want %d", len(got), len(strangers()))
	}
	var read additions
	read.read()
	if err := read.extend(strangers()); !errors.Is(err, ErrSealed) {
		t.Errorf("after it was read: %v, want ErrSealed", err)
	}
	All()
	if err := Extend(strangers()...); !errors.Is(err, ErrSealed) {
		t.Errorf("after All: %v, want ErrSealed", err)
	}
}

func TestTry(t *testing.T) {
	t.Parallel()
	var none []int
	for name, c := range map[string]struct {
		entry Entry
		want  []string
	}{
		"panics": {Store("mine", func(contract.Indexers) *mutexmap.Store {
			panic("out of cheese")
		}), []string{"store/mine", "panics at ", "extend_test.go:", "out of cheese"}},
		"panics in the runtime": {DelayHeap("mine", func() contract.DelayHeap[string] {
			return []contract.DelayHeap[string]{}[1/len(none)]
		}),
			[]string{"delay/mine", "panics at ", "extend_test.go:", "divide by zero"}},
		"returns nil": {FIFO("mine", func(contract.FIFOConfig) contract.FIFO {
			return nil
		}), []string{"fifo/mine", "returns nil", "a new fifo"}},
		"returns a typed nil": {Store("mine", func(contract.Indexers) *mutexmap.Store {
			return nil
		}), []string{"store/mine", "returns nil"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.entry.Try()
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the error lacks %q: %v", want, err)
				}
			}
		})
	}
}

// All has ours and then those of Extend, component by component.
func TestOrder(t *testing.T) {
	t.Parallel()
	all := All()
	if !slices.IsSortedFunc(all, func(a, b Entry) int {
		return order(a.Component) - order(b.Component)
	}) {
		t.Error("the components are mixed")
	}
	if len(all) != len(builtIn()) {
		t.Errorf("%d entries, want the %d of the tables: no test may extend the catalog of this process",
			len(all), len(builtIn()))
	}
	for _, c := range Components() {
		if i := slices.IndexFunc(all, func(e Entry) bool {
			return e.Component == c
		}); i < 0 || !all[i].Reference {
			t.Errorf("%s does not begin with its reference", c)
		}
	}
}
