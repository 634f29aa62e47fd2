package sysinfo

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// cgroupLimits are the limits that a container's control groups set: a number of CPUs and a
// number of bytes, 0 where there is no limit.
type cgroupLimits struct {
	cpus   float64
	memory uint64
}

// readCgroups reads the limits of this process's control groups, of version 1 and 2, below
// root (/sys/fs/cgroup). Every folder on the path counts, because a parent's limit holds
// for its children. In a container the kernel's path may not exist below root while root
// itself is the container's group.
func readCgroups(root string, groups []procfs.Cgroup) cgroupLimits {
	var l cgroupLimits
	for _, g := range groups {
		mounts := []string{root} // version 2 has one hierarchy
		for _, c := range g.Controllers {
			mounts = append(mounts, filepath.Join(root, c))
		}
		if len(g.Controllers) > 1 {
			mounts = append(mounts, filepath.Join(root, strings.Join(g.Controllers, ",")))
		}
		for _, m := range mounts {
			for dir := path.Clean("/" + g.Path); ; dir = path.Dir(dir) {
				l.lower(filepath.Join(m, dir))
				if dir == "/" {
					break
				}
			}
		}
	}
	return l
}

// lower adopts the limits of one folder where they are stricter.
func (l *cgroupLimits) lower(dir string) {
	quota, period, _ := strings.Cut(readTrimmed(filepath.Join(dir, "cpu.max")), " ")
	if quota == "" {
		quota, period = readTrimmed(filepath.Join(dir, "cpu.cfs_quota_us")),
			readTrimmed(filepath.Join(dir, "cpu.cfs_period_us"))
	}
	// "max" and -1 mean no limit.
	q, errQ := strconv.ParseFloat(quota, 64)
	p, errP := strconv.ParseFloat(period, 64)
	if errQ == nil && errP == nil && q > 0 && p > 0 && (l.cpus == 0 || q/p < l.cpus) {
		l.cpus = q / p
	}
	for _, name := range []string{"memory.max", "memory.limit_in_bytes"} {
		// In version 1 the largest page-aligned number means no limit.
		if m, err := strconv.ParseUint(readTrimmed(filepath.Join(dir, name)), 10, 64); err == nil &&
			m < 1<<62 && (l.memory == 0 || m < l.memory) {
			l.memory = m
		}
	}
}

// chosen is the bracketed word of a setting such as "always [madvise] never".
func chosen(setting string) string {
	words := strings.Fields(setting)
	if i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "[") }); i >= 0 {
		return strings.Trim(words[i], "[]")
	}
	return ""
}
