package sysinfo

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"
)

// canKeepAwake says why KeepAwake must not be called here.
var canKeepAwake = sync.OnceValue(func() error {
	var e Environment
	e.readHardware()
	if e.CgroupCPUs > 0 {
		return fmt.Errorf("the container's limit of %g CPUs would be used up", e.CgroupCPUs)
	}
	tried := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		tried <- idlePriority()
	}()
	return <-tried
})

// idlePriority gives the calling thread the lowest priority there is.
func idlePriority() error {
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}
	return os.NewSyscallError("sched_setattr", unix.SchedSetAttr(0, &attr, 0))
}

// KeepAwake spins on each processor that this process may use, at the lowest priority there
// is (SCHED_IDLE), so that any other thread that becomes ready takes the processor at once.
// It calls ready when all of them are awake, and returns only if it cannot.
func KeepAwake(ready func()) error {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return os.NewSyscallError("sched_getaffinity", err)
	}
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(all.Count() + 1)
	failed := make(chan error)
	var awake sync.WaitGroup
	for cpu, left := 0, all.Count(); left > 0; cpu++ {
		if !all.IsSet(cpu) {
			continue
		}
		left--
		awake.Add(1)
		go func() {
			runtime.LockOSThread()
			var own unix.CPUSet
			own.Set(cpu)
			if err := errors.Join(idlePriority(),
				os.NewSyscallError("sched_setaffinity", unix.SchedSetaffinity(0, &own))); err != nil {
				failed <- err
			}
			awake.Done()
			for turns := 0; ; turns++ { // until the process is killed
			}
		}()
	}
	go func() {
		awake.Wait()
		ready()
	}()
	return <-failed
}
