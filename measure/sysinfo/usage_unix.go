//go:build unix

package sysinfo

import (
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// readUsage reads what this process has used so far.
func readUsage() usage {
	var ru unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &ru) != nil {
		return usage{}
	}
	u := usage{cpu: time.Duration(ru.Utime.Nano() + ru.Stime.Nano()), counted: true}
	u.voluntary = int64(ru.Nvcsw)         //nolint:unconvert // int32 on 32-bit systems
	u.forced = int64(ru.Nivcsw)           //nolint:unconvert // likewise
	u.peakRSS = peakRSS(int64(ru.Maxrss)) //nolint:unconvert // likewise
	return u
}

// peakRSS converts the kernel's number to bytes: Linux and the BSDs count in KiB.
func peakRSS(maxrss int64) uint64 {
	if runtime.GOOS == "darwin" {
		return uint64(maxrss)
	}
	return uint64(maxrss) * 1024
}

// peakOf is the peak resident memory of an ended process; 0 if the system does not report
// it.
func peakOf(state *os.ProcessState) uint64 {
	if ru, ok := state.SysUsage().(*syscall.Rusage); ok {
		return peakRSS(int64(ru.Maxrss)) //nolint:unconvert // it is int32 on 32-bit systems
	}
	return 0
}
