// Package explore runs the interleavings of a few goroutines one by one, so that a test
// does not depend on the scheduler to hit the one that fails.
//
// Code under test marks its atomic steps:
//
//	explore.Point("commit")
//	c.committed.Store(w.seq)
//
// In a normal build Point is an empty function that the compiler inlines to no instruction.
// Mutex, RWMutex and Cond are then those of package sync. Under the build tag explore each
// Point hands control to a scheduler. The scheduler runs one goroutine at a time and
// decides at each point which one continues. It knows which goroutines wait for a lock. The
// sequence of its decisions is a schedule, and equal schedules give equal runs.
//
// Search explores a program in two ways. First it goes through all schedules with no
// preemption, then all with one, with two and so on (iterative context bounding:
// Musuvathi and Qadeer, PLDI 2007). Then it draws schedules at random with priorities
// (PCT: Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010). A failing
// schedule is reduced and printed as text that replays it.
//
// The explorer does not cover effects of weaker memory orders (Go's atomics are
// sequentially consistent, and the race detector finds data races), steps without a point,
// and goroutines that the code under test starts itself. docs/explorer.md describes its
// use.
package explore
