// Package explore runs the interleavings of a few goroutines one by one, so that
// a test does not have to hope for the one that fails.
//
// Code under test marks its atomic steps:
//
//	explore.Point("commit")
//	c.committed.Store(w.seq)
//
// In a normal build Point is an empty function that the compiler inlines to no
// instruction, and Mutex, RWMutex and Cond are those of package sync. Under the build
// tag explore each Point hands control to a scheduler. The scheduler runs one
// goroutine at a time, decides at each point which one goes on, and knows which ones
// wait for a lock. A sequence of its decisions is a schedule, and a schedule gives the
// same run each time.
//
// Search explores a program in two ways. First it goes through all schedules with no
// preemption, then all with one, with two and so on (iterative context bounding:
// Musuvathi and Qadeer, PLDI 2007). Then it draws schedules at random with priorities
// (PCT: Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010). A failing
// schedule is reduced and printed as text that replays it.
//
// What it does not see: effects of weaker memory orders (Go's atomics are sequentially
// consistent, and data races are the race detector's), steps that have no point, and
// goroutines that the code under test starts itself. docs/explorer.md says how to use it.
package explore
