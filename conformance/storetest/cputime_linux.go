package storetest

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns the time that this thread has run. The caller has locked its
// goroutine to the thread. Time that other processes or goroutines run is not in it.
func processorTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}
