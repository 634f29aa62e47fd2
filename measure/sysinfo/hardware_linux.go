package sysinfo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// event is what one counter counts; see perf_event_open(2).
type event struct {
	kind   uint32
	config uint64
}

// hardwareEvents are in the order of HardwareNames.
var hardwareEvents = [NumHardware]event{
	{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS},
	{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_MISSES},
}

// openCounters opens a counter of each event for each thread. A thread that is started while
// that is done may be counted twice, so the list of threads must be the same afterwards.
func openCounters(events [NumHardware]event) (*HardwareCounters, error) {
	const attempts = 10
	for range attempts {
		before, err := threads()
		if err != nil {
			return nil, err
		}
		h := &HardwareCounters{}
		var missing error
		for i, e := range events {
			if err := h.open(i, e, before); err != nil {
				missing = err // the others may be there
			}
		}
		after, err := threads()
		switch {
		case err == nil && !slices.Equal(before, after):
			h.Close()
			continue
		case err == nil && slices.ContainsFunc(h.files[:], func(f []counterFile) bool {
			return len(f) > 0
		}):
			return h, nil
		}
		h.Close()
		return nil, errors.Join(err, missing)
	}
	return nil, errors.New("the process starts threads all the time")
}

// open opens the i-th counter for all threads, or for none.
func (h *HardwareCounters) open(i int, e event, threads []int) error {
	attr := unix.PerfEventAttr{
		Type: e.kind, Config: e.config,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits:        unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	attr.Size = uint32(unsafe.Sizeof(attr))
	for _, thread := range threads {
		fd, err := unix.PerfEventOpen(&attr, thread, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			for _, f := range h.files[i] {
				f.close()
			}
			h.files[i] = nil
			return hardwareError(err)
		}
		h.files[i] = append(h.files[i], counterFile(fd))
	}
	return nil
}

// hardwareError says what an error of perf_event_open means here.
func hardwareError(err error) error {
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV):
		return fmt.Errorf(
			"perf_event_open: %w: the processor, or the virtual machine, has no such counter", err)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return fmt.Errorf(
			"perf_event_open: %w: allow it with sysctl kernel.perf_event_paranoid=2, and in a container "+
				"by its seccomp profile", err)
	}
	return fmt.Errorf("perf_event_open: %w", err)
}

// threads are the ids of this process's threads.
func threads() ([]int, error) {
	entries, err := os.ReadDir("/proc/self/task") // sorted
	if err != nil {
		return nil, err
	}
	var ids []int
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// read returns the count so far.
func (f counterFile) read() float64 {
	var b [24]byte // the count; the times for which it was to count and did
	if n, err := unix.Read(int(f), b[:]); err != nil || n != len(b) {
		return 0
	}
	count, enabled, running := binary.NativeEndian.Uint64(b[:]), binary.NativeEndian.Uint64(b[8:]),
		binary.NativeEndian.Uint64(b[16:])
	if running == 0 || running >= enabled {
		return float64(count)
	}
	return float64(count) * float64(enabled) / float64(running)
}

func (f counterFile) close() { _ = unix.Close(int(f)) }
