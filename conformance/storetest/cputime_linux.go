package storetest

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns the processor time of this thread. The caller has locked its
// goroutine to the thread. The time of other processes and goroutines does not count.
func processorTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}
