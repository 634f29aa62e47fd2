// Package explore runs the interleavings of a few goroutines one by one, so that a test does not
// depend on the scheduler to hit the one that fails.
//
// The code under test knows nothing of it. A test package calls [Instrument], which builds the
// test again from copies of the package's files (go test -overlay). In these copies a call of
// [Point] stands before each atomic operation, and sync.Mutex, RWMutex and Cond, random numbers,
// hashes and the order of maps are the explorer's; rewrite.go has the list. At each point a
// scheduler decides which goroutine continues. One runs at a time, and the scheduler knows which
// of them wait for a lock. The sequence of its decisions is a schedule, and equal schedules give
// equal runs.
//
// [Search] explores a program in two ways. First it goes through all schedules with no
// preemption, then all with one, with two and so on (iterative context bounding:
// Musuvathi and Qadeer, PLDI 2007). Then it draws schedules at random with priorities
// (PCT: Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010). A failing
// schedule is reduced and printed as text that replays it.
//
// # Use
//
// Tests whose names begin with TestExplore run under the build tag explore:
//
//	make proofs RUNS=0   finds the planted faults, prints each with its program and schedule, and
//	                     explores for EXPLORETIME
//	go test -tags explore ./impl/lockfree -run '^TestExplore' -v -explore.time=5m
//
// A failure prints the program, the schedule, the points at which the threads changed, the reason,
// and the flags -explore.program and -explore.schedule that replay it. A schedule such as
// "0:16 1:233 0:1" lists stretches: the thread, and its number of steps. It fits one version of the
// code. A program for a store is a line of text (conformance/linear.Script); other code needs a
// [Program]. Two threads of two calls say more than four of four.
//
// [Fault] is a mistake that [Plant] plants in the copies, one after the other, to show that the
// programs of a test find it.
//
// The explorer does not cover effects of weaker memory orders (Go's atomics are sequentially
// consistent, and the race detector finds data races), plain reads and writes that Code.Plain
// does not name, and goroutines that the code under test starts itself. Locks of packages that
// are not instrumented must not be held across a point.
package explore
