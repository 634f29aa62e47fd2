package engine

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarm wakes a goroutine as a request from the network does, through the kernel and the runtime's
// netpoller, or by the runtime's timer if that is sooner. The timer alone is late: by 0.6 ms at the
// median in an idle process, since the runtime waits for whole milliseconds, and by 6 ms at p99,
// since the collector, while it marks on idle processors, looks at the netpoller and at no timer.
//
// One goroutine at a time may use it.
type alarm struct {
	fd   int
	file *os.File
}

// newAlarm returns nil if the system has no more timers or files to give.
func newAlarm() *alarm {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil
	}
	return &alarm{fd, os.NewFile(uintptr(fd), "timerfd")}
}

// sleep sleeps until due, which may have passed. It may return too soon.
func (a *alarm) sleep(due time.Time) {
	wait := time.Until(due)
	in := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, int64(wait)))} // 0 would disarm it
	if unix.TimerfdSettime(a.fd, 0, &in, nil) != nil || a.file.SetReadDeadline(due) != nil {
		time.Sleep(wait)
		return
	}
	var expirations [8]byte
	_, _ = a.file.Read(expirations[:]) // an error: the deadline has passed
}

func (a *alarm) close() { _ = a.file.Close() }
