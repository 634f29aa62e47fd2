package sysinfo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// ErrOutOfMemory is wrapped by the error of a child process that ran out of memory.
var ErrOutOfMemory = errors.New("it ran out of memory")

// runtimeOutOfMemory are the messages with which Go's runtime ends a process when the
// system refuses it memory, such as under ulimit -v.
var runtimeOutOfMemory = []string{"fatal error: runtime: out of memory",
	"fatal error: runtime: cannot allocate memory", "fatal error: out of memory",
	"fatal error: failed to reserve page summary memory"}

// saysOutOfMemory reports whether a process's standard error contains such a message.
func saysOutOfMemory(said string) bool {
	for _, words := range runtimeOutOfMemory {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}

// outOfMemory says how much memory the process had, and what to do. by names what ended it.
func outOfMemory(by string, peak uint64) error {
	var e Environment
	e.readHardware()
	text := by
	if peak > 0 {
		text += fmt.Sprintf("; it held up to %s", humanize.IBytes(peak))
	}
	if e.MemoryMB > 0 {
		text += fmt.Sprintf("; this machine has %s", humanize.IBytes(e.MemoryMB<<20))
	}
	if e.CgroupMemoryMB > 0 {
		text += fmt.Sprintf(", of which the container may use %s", humanize.IBytes(e.CgroupMemoryMB<<20))
	}
	return fmt.Errorf("%w: %s. Measure fewer objects (objects.count of the workload, or --sweep "+
		"objects=N), choose fewer implementations with --impl, or give it more memory", ErrOutOfMemory,
		text)
}

// CheckMemory refuses n things of some bytes each that cannot fit in the memory of this machine or
// container. The error begins with the field that says n.
func CheckMemory(field string, n int, each uint64) error {
	var e Environment
	e.readHardware()
	have := e.MemoryMB << 20
	if e.CgroupMemoryMB > 0 {
		have = min(have, e.CgroupMemoryMB<<20)
	}
	if need := uint64(n) * each; have > 0 && need > have {
		return fmt.Errorf("%s: %d take about %s of memory, and there are %s: use %d at most", field, n,
			humanize.IBytes(need), humanize.IBytes(have), have/each)
	}
	return nil
}

// oomKills counts the processes that the kernel has killed for lack of memory, below proc
// and cgroup (/proc, /sys/fs/cgroup). It covers the machine, or the control group in a
// container that does not see the machine. It is 0 where the kernel does not report it.
func oomKills(proc, cgroup string) uint64 {
	var kills uint64
	for _, path := range []string{filepath.Join(proc, "vmstat"),
		filepath.Join(cgroup, "memory.events"), filepath.Join(cgroup, "memory", "memory.oom_control")} {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) == 2 && f[0] == "oom_kill" {
				n, _ := strconv.ParseUint(f[1], 10, 64) // the kernel's own number
				kills += n
			}
		}
	}
	return kills
}
