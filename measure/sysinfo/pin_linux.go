package sysinfo

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// PinThread keeps the calling goroutine on one processor until unpin is called, by the same
// goroutine: on the i-th of those that the process may use, counted around. Processes of the
// same affinity that pass the same i get the same processor. Goroutines that it starts
// meanwhile are not kept there. Where the kernel refuses, nothing changes.
func PinThread(i int) (unpin func()) {
	runtime.LockOSThread()
	var all unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil || all.Count() == 0 {
		return runtime.UnlockOSThread
	}
	var own unix.CPUSet
	own.Set(nth(&all, i%all.Count()))
	if unix.SchedSetaffinity(0, &own) != nil {
		return runtime.UnlockOSThread
	}
	return func() {
		// Only a processor that went away meanwhile can make it fail; the thread then stays
		// pinned, and must not serve other goroutines: it stays locked, and ends with its
		// goroutine.
		if unix.SchedSetaffinity(0, &all) == nil {
			runtime.UnlockOSThread()
		}
	}
}

// nth is the i-th processor of a set.
func nth(set *unix.CPUSet, i int) int {
	for cpu := 0; ; cpu++ {
		if !set.IsSet(cpu) {
			continue
		}
		if i == 0 {
			return cpu
		}
		i--
	}
}
