package suite

import (
	"syscall"
	"time"
)

// processTime returns the processor time that this process has used.
func processTime() time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var created, exited, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &created, &exited, &kernel, &user); err != nil {
		return 0
	}
	return length(kernel) + length(user)
}

// length converts a Filetime that holds a duration, in units of 100 ns.
func length(t syscall.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
