package suite

// The memory that an implementation keeps: how much the heap shrinks when it is released.

import (
	"math"
	"runtime"
	"runtime/metrics"
)

// A measurement is repeated, and each is of several copies: what else the process does
// disturbs some of them, but hardly all.
const attempts, copies = 5, 4

// KeepsLess asserts that what build(many) returns keeps less than limit bytes more memory than what
// build(few) returns: what it always has, such as the slots of a wheel, does not count. did is a
// format for the message: it says what was done that many times, such as "%d items came out".
// release, if not nil, shuts down what build returned.
func KeepsLess[X any](t *T, limit, few, many int, did string, build func(n int) X,
	release func(X)) {
	kept := int64(math.MaxInt64)
	for attempt := range attempts {
		more := keptBy(func() X { return build(many) }, release)
		if more >= int64(limit) {
			// Not below 0, as it seems where the process grows meanwhile.
			more -= max(0, keptBy(func() X { return build(few) }, release))
		}
		if kept = min(kept, more); kept < int64(limit) {
			return
		}
		if attempt > 0 && kept > 4*int64(limit) {
			break // nothing that disturbs does so each time
		}
	}
	t.Errorf("after "+did+", %d bytes more are kept than after %d; want less than %d", many, kept, few,
		limit)
}

// keptBy builds several copies, releases one after the other, and returns the smallest drop in
// the heap's size. From each drop is taken what the heap lost right after it, when nothing was
// released: a process that shrinks meanwhile, as where other suites end, does not make an
// implementation seem larger.
func keptBy[X any](build func() X, release func(X)) int64 {
	var none X
	made := make([]X, copies)
	for i := range made {
		made[i] = build()
	}
	least, before := int64(math.MaxInt64), live()
	for i := range made {
		runtime.KeepAlive(made[i]) // else nothing reads it again, and it is gone already
		if release != nil {
			release(made[i])
		}
		made[i] = none
		released := live()
		after := live()
		least, before = min(least, before-released-max(0, released-after)), after
	}
	runtime.KeepAlive(made)
	return least
}

// live is how many bytes of the heap a collection found in use.
func live() int64 {
	runtime.GC()
	runtime.GC() // what finalizers and pools let go of
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(min(sample[0].Value.Uint64(), math.MaxInt64))
}
