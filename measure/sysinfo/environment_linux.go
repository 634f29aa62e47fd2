package sysinfo

// Values that only Linux reports, through /proc and /sys.

import (
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/montanaflynn/stats"
	"github.com/prometheus/procfs"
)

func (e *Environment) readHardware() {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return
	}
	if cpus, err := fs.CPUInfo(); err == nil && len(cpus) > 0 {
		e.CPU = cpus[0].ModelName
		if slices.Contains(cpus[0].Flags, "hypervisor") {
			e.Virtualisation = "virtual machine"
			if v := readTrimmed("/sys/class/dmi/id/sys_vendor"); v != "" {
				e.Virtualisation += " (" + v + ")"
			}
		}
	}
	if m, err := fs.Meminfo(); err == nil && m.MemTotal != nil {
		e.MemoryMB = *m.MemTotal / 1024
	}
	if self, err := fs.Self(); err == nil {
		if groups, err := self.Cgroups(); err == nil {
			l := readCgroups("/sys/fs/cgroup", groups)
			e.CgroupCPUs, e.CgroupMemoryMB = l.cpus, l.memory>>20
		}
	}
	e.HugePages = chosen(readTrimmed("/sys/kernel/mm/transparent_hugepage/enabled"))
	e.Boost = map[string]string{"0": "off",
		"1": "on"}[readTrimmed("/sys/devices/system/cpu/cpufreq/boost")]
	if e.Boost == "" {
		e.Boost = map[string]string{"0": "on",
			"1": "off"}[readTrimmed("/sys/devices/system/cpu/intel_pstate/no_turbo")]
	}
}

// frequencyMHz is the mean current frequency of the cores, 0 if unknown. Where the kernel
// does not govern the frequencies, as in most virtual machines, it is the nominal one.
func frequencyMHz() float64 {
	var mhz []float64
	files, _ := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq")
	for _, f := range files {
		if khz, err := strconv.ParseFloat(readTrimmed(f), 64); err == nil {
			mhz = append(mhz, khz/1000)
		}
	}
	if fs, err := procfs.NewDefaultFS(); err == nil && len(mhz) == 0 {
		cpus, _ := fs.CPUInfo()
		for _, c := range cpus {
			mhz = append(mhz, c.CPUMHz)
		}
	}
	mean, err := stats.Mean(mhz)
	if err != nil {
		return 0
	}
	return math.Round(mean)
}

// swapUsedMB is the swap space in use, in MB.
func swapUsedMB() uint64 {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0
	}
	m, err := fs.Meminfo()
	if err != nil || m.SwapTotal == nil || m.SwapFree == nil {
		return 0
	}
	return (*m.SwapTotal - *m.SwapFree) / 1024
}

func loadAverage() float64 {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0
	}
	l, err := fs.LoadAvg()
	if err != nil {
		return 0
	}
	return l.Load1
}

func readCPUTimes() cpuTimes {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return cpuTimes{}
	}
	s, err := fs.Stat()
	if err != nil {
		return cpuTimes{}
	}
	c := s.CPUTotal
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	used := c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ
	return cpuTimes{total: seconds(used + c.Idle + c.Iowait + c.Steal), used: seconds(used),
		stolen: seconds(c.Steal)}
}
