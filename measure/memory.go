package measure

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// ErrOutOfMemory is wrapped by the error of a fork that ended for want of memory.
var ErrOutOfMemory = errors.New("it ran out of memory")

// runtimeOutOfMemory are the words with which Go's runtime ends a process that gets no
// memory from the system, such as under ulimit -v.
var runtimeOutOfMemory = []string{"fatal error: runtime: out of memory", "fatal error: runtime: cannot allocate memory", "fatal error: out of memory", "fatal error: failed to reserve page summary memory"}

// saysOutOfMemory reports whether that is how a process ended which wrote this to its
// standard error.
func saysOutOfMemory(said string) bool {
	for _, words := range runtimeOutOfMemory {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}

// outOfMemory says how much memory the process had, and what to do. by says who ended it.
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
	return fmt.Errorf("%w: %s. Measure fewer objects (objects.count of the workload, or --sweep objects=N), choose fewer implementations with --impl, or give it more memory", ErrOutOfMemory, text)
}

// oomKills is how many processes the kernel has ended for want of memory so far, in the
// machine or, in a container that does not see that, in its control group; below proc and
// cgroup (/proc, /sys/fs/cgroup). 0 where it is not told.
func oomKills(proc, cgroup string) uint64 {
	var kills uint64
	for _, path := range []string{filepath.Join(proc, "vmstat"), filepath.Join(cgroup, "memory.events"), filepath.Join(cgroup, "memory", "memory.oom_control")} {
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
