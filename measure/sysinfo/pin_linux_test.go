package sysinfo

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A pinned goroutine has one processor, each in its turn, and afterwards all of them again.
func TestPinThread(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread() // so that this test asks the thread that was pinned
	defer runtime.UnlockOSThread()
	own := func() unix.CPUSet {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &set); err != nil {
			t.Fatal(err)
		}
		return set
	}
	all := own()
	seen := unix.CPUSet{}
	for i := range 2 * all.Count() {
		unpin := PinThread(i)
		pinned := own()
		if pinned.Count() != 1 {
			t.Fatalf("turn %d: %d processors, want one", i, pinned.Count())
		}
		for cpu := range 64 * len(pinned) {
			if pinned.IsSet(cpu) {
				seen.Set(cpu)
			}
		}
		others := make(chan int)
		go func() {
			runtime.LockOSThread() // a thread of its own
			defer runtime.UnlockOSThread()
			set := own()
			others <- set.Count()
		}()
		if n := <-others; n != all.Count() {
			t.Errorf("turn %d: another goroutine has %d processors, want all %d", i, n, all.Count())
		}
		unpin()
		if after := own(); after != all {
			t.Fatalf("turn %d: afterwards it has %d processors, want all %d", i, after.Count(), all.Count())
		}
	}
	if seen != all {
		t.Errorf("%d processors had their turn, want all %d", seen.Count(), all.Count())
	}
}
