package measure

// What only Linux tells, through /proc and /sys.

import (
	"slices"

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

func stealAndTotal() (steal, total float64) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, 0
	}
	s, err := fs.Stat()
	if err != nil {
		return 0, 0
	}
	c := s.CPUTotal
	return c.Steal, c.User + c.Nice + c.System + c.Idle + c.Iowait + c.IRQ + c.SoftIRQ + c.Steal
}
