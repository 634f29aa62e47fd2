package sysinfo

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// touch makes n page faults on a thread of its own.
func touch(t *testing.T, n int) {
	t.Helper()
	m, err := unix.Mmap(-1, 0, n*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(m) }()
	// a kernel without them
	if err := unix.Madvise(m, unix.MADV_NOHUGEPAGE); err != nil && !errors.Is(err, unix.EINVAL) {
		t.Fatal(err)
	}
	for i := range n {
		m[i*os.Getpagesize()] = 1
	}
}

// The counters count in threads that were there and in those that are started later. Events
// of the kernel, which every machine counts, take the place of the processor's.
func TestCountersCountEveryThread(t *testing.T) {
	faults := [NumHardware]event{{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS},
		{unix.PERF_TYPE_HARDWARE, 1 << 20}, {unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_DUMMY}}
	onThread := func(work func()) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // which ends with the goroutine
			work()
		}()
		<-done
	}
	go func() {}() // there is more than one thread
	h, err := openCounters(faults)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSYS) {
		t.Skipf("this system does not let a program count its own events: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	const n = 1000
	var before, after [NumHardware]float64
	h.Read(before[:])
	touch(t, n)
	onThread(func() { touch(t, n) })
	h.Read(after[:])
	if got := after[0] - before[0]; got < 2*n || got > 3*n {
		t.Errorf("%g page faults, want %d and a few", got, 2*n)
	}
	if len(h.files[1]) > 0 || after[1] != 0 {
		t.Errorf("an event that there is not was counted: %g", after[1])
	}
	if len(h.files[2]) == 0 {
		t.Error("an event behind one that there is not is not counted")
	}
}

// Where nothing can be counted, the reason is told.
func TestHardwareCountersSayWhatTheyLack(t *testing.T) {
	none := event{unix.PERF_TYPE_HARDWARE, 1 << 20}
	h, err := openCounters([NumHardware]event{none, none, none})
	if err == nil || h != nil || !strings.Contains(err.Error(), "perf_event_open") {
		t.Errorf("got %v, %v; want an error of perf_event_open", h, err)
	}
	h.Close()
	values := []float64{1, 2, 3}
	h.Read(values)
	if values[0]+values[1]+values[2] != 0 {
		t.Errorf("no counters read %v, want zeros", values)
	}
	if text := hardwareText(); !strings.HasPrefix(text, "none: ") &&
		!strings.Contains(text, HardwareNames[0]) {
		t.Errorf("the environment says %q", text)
	}
}
