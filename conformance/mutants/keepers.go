package mutants

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/contract"
)

// boxes is a keeper that puts objects into boxes, sound but for what its fields change.
type boxes struct {
	twice    bool // boxes are boxed
	bare     bool // a box has no metadata
	copies   bool // Object makes a copy at each call
	all      bool // everything is boxed
	byName   bool // a box has the object that was kept first under its name
	forgets  bool // labels are lost
	hoards   bool // a map keeps every object
	lazily   bool // the first Object makes a copy, without a lock
	metadata func(*metav1.ObjectMeta)

	mu struct {
		sync.Mutex
		first map[string]apiruntime.Object
		all   []apiruntime.Object
	}
}

// box is what boxes keep.
type box struct {
	in     *boxes
	obj    apiruntime.Object
	copied apiruntime.Object
}

// bareBox hides the metadata of a box.
type bareBox struct{ *box }

func (bareBox) GetObjectMeta() {}

func (b *box) GetObjectMeta() metav1.Object {
	m, _ := meta.Accessor(b.obj)
	out := &metav1.ObjectMeta{Namespace: m.GetNamespace(), Name: m.GetName(), UID: m.GetUID(),
		ResourceVersion: m.GetResourceVersion()}
	if b.in.metadata != nil {
		b.in.metadata(out)
	}
	return out
}

func (k *boxes) Keep(obj any) any {
	switch obj := obj.(type) {
	case *box, bareBox:
		if k.twice {
			return &struct{ any }{obj}
		}
		return obj
	case apiruntime.Object:
		m, err := meta.Accessor(obj)
		if err != nil {
			return obj
		}
		if k.forgets {
			m.SetLabels(nil)
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.byName {
			// %T keeps the kinds apart, so that only versions of one object are mixed up.
			name := fmt.Sprintf("%T %s/%s", obj, m.GetNamespace(), m.GetName())
			if first, known := k.mu.first[name]; known {
				m.SetLabels(nil)
				if f, err := meta.Accessor(first); err == nil {
					f.SetResourceVersion(m.GetResourceVersion())
				}
			} else {
				k.mu.first[name] = obj
			}
		}
		if k.hoards {
			k.mu.all = append(k.mu.all, obj)
		}
		b := &box{in: k, obj: obj}
		if k.bare {
			return bareBox{b}
		}
		return b
	}
	if k.all && obj != nil {
		return &struct{ any }{obj}
	}
	return obj
}

func (k *boxes) Object(kept any) any {
	b, is := kept.(*box)
	if bare, isBare := kept.(bareBox); isBare {
		b, is = bare.box, true
	}
	switch {
	case !is:
		return kept
	case k.copies:
		return b.obj.DeepCopyObject()
	case k.lazily:
		if b.copied == nil {
			made := b.obj.DeepCopyObject()
			b.copied = made
			return made
		}
		return b.copied
	}
	return b.obj
}

// Keepers returns the broken object keepers. The slice belongs to the caller.
func Keepers() []Mutant {
	of := func(name, mistake, clauses string, change func(*boxes)) Mutant {
		m := mutant(contract.ComponentObjects, name, mistake, clauses)
		m.NewKeeper = func() contract.ObjectKeeper {
			k := &boxes{}
			k.mu.first = map[string]apiruntime.Object{}
			change(k)
			return k
		}
		return m
	}
	return []Mutant{
		of("drops labels", "a codec does not know a field", "OBJECT-1",
			func(k *boxes) { k.forgets = true }),
		of("bare", "what is kept has no metadata", "OBJECT-2", func(k *boxes) { k.bare = true }),
		of("no version", "the metadata of what is kept lacks the resource version", "OBJECT-2",
			func(k *boxes) { k.metadata = func(m *metav1.ObjectMeta) { m.ResourceVersion = "" } }),
		of("no UID", "the metadata of what is kept lacks the UID", "OBJECT-2",
			func(k *boxes) { k.metadata = func(m *metav1.ObjectMeta) { m.UID = "" } }),
		of("boxes boxes", "what was kept is kept again", "OBJECT-3", func(k *boxes) { k.twice = true }),
		of("copies", "each Object decodes anew", "OBJECT-4", func(k *boxes) { k.copies = true }),
		of("shares by name", "a later version changes the object of its name in place", "OBJECT-5",
			func(k *boxes) { k.byName = true }),
		of("decodes unlocked", "two readers decode at once, and each takes its own", "OBJECT-6",
			func(k *boxes) { k.lazily = true }),
		of("boxes tombstones", "what is no object is boxed too", "OBJECT-7",
			func(k *boxes) { k.all = true }),
		of("hoards", "a table of what was kept is never cleared", "OBJECT-8",
			func(k *boxes) { k.hoards = true }),
	}
}

// counter is a limiter that counts, sound but for what its fields change.
type counter struct {
	delay     func(failures int) time.Duration
	count     func(failures int) int
	forget    func(failures int) (left int)
	forgetAll bool
	unknown   bool // Forget of an item that never failed panics
	racy      bool // the count is read and written in two steps
	worst     bool // the delay is that of the item that failed most
	resentful bool // Forget leaves the delay

	mu struct {
		sync.Mutex
		of   map[string]int
		ever map[string]int // without Forget
	}
}

func newCounter() *counter {
	c := &counter{
		delay:  func(int) time.Duration { return 0 },
		count:  func(n int) int { return n },
		forget: func(int) int { return 0 },
	}
	c.mu.of, c.mu.ever = map[string]int{}, map[string]int{}
	return c
}

func (c *counter) When(item string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.mu.of[item]
	if c.racy {
		c.mu.Unlock()
		runtime.Gosched()
		c.mu.Lock()
	}
	c.mu.of[item] = n + 1
	c.mu.ever[item]++
	switch {
	case c.worst:
		n = slices.Max(slices.Collect(maps.Values(c.mu.of))) - 1
	case c.resentful:
		n = c.mu.ever[item] - 1
	}
	return c.delay(n)
}

func (c *counter) NumRequeues(item string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count(c.mu.of[item])
}

func (c *counter) Forget(item string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.forgetAll {
		clear(c.mu.of)
	}
	if n, ok := c.mu.of[item]; ok {
		c.mu.of[item] = c.forget(n)
	} else if c.unknown {
		panic("forgetting an item that never failed")
	}
}

// doubling is a sound delay.
func doubling(failures int) time.Duration { return 5 * time.Millisecond << min(failures, 20) }

// Limiters returns the broken rate limiters. The slice belongs to the caller.
func Limiters() []Mutant {
	of := func(name, mistake, clauses string, change func(*counter)) Mutant {
		m := mutant(contract.ComponentLimiter, name, mistake, clauses)
		m.NewLimiter = func() contract.RateLimiter[string] {
			c := newCounter()
			change(c)
			return c
		}
		return m
	}
	powerOfTwo := of("power of two in client-go",
		"2^63 as a float is not more than the largest int64 as a float, and overflows", "LIMIT-1", nil).
		real("https://github.com/kubernetes/client-go/blob/v0.37.2/util/workqueue/default_rate_limiters.go", "")
	powerOfTwo.NewLimiter = func() contract.RateLimiter[string] {
		return workqueue.NewTypedItemExponentialFailureRateLimiter[string](1, math.MaxInt64)
	}
	return []Mutant{
		of("delay overflows", "the delay doubles beyond 64 bits", "LIMIT-1", func(c *counter) {
			c.delay = func(n int) time.Duration { return 5 * time.Millisecond << min(n, 42) }
		}).real(inKubernetes, "31396"),
		powerOfTwo,
		of("counts from one", "an item that never failed counts as failed once", "LIMIT-2",
			func(c *counter) { c.count = func(n int) int { return n + 1 } }),
		of("stops counting", "the count ends at a thousand", "LIMIT-3",
			func(c *counter) { c.count = func(n int) int { return min(n, 1000) } }),
		of("forget halves", "Forget halves the count", "LIMIT-4",
			func(c *counter) { c.forget = func(n int) int { return n / 2 } }),
		of("forget of unknown panics", "Forget insists that the item failed", "LIMIT-4",
			func(c *counter) { c.unknown = true }),
		of("forget keeps the delay", "Forget clears the count, and not what the delay is computed from",
			"LIMIT-4", func(c *counter) { c.resentful, c.delay = true, doubling }),
		of("the worst item slows all", "the delay is computed from the largest count", "LIMIT-5",
			func(c *counter) { c.worst, c.delay = true, doubling }),
		of("forget clears all", "Forget of one item forgets all", "LIMIT-5",
			func(c *counter) { c.forgetAll = true }),
		of("loses counts", "the count is read and written under two locks", "LIMIT-6",
			func(c *counter) { c.racy = true }),
	}
}
