package sysinfo

// The load of the rest of the machine while a fork was measured.

import (
	"fmt"
	"os"
	"time"

	"github.com/informerbench/informerbench/measure/metrics"
)

// Bounds for the conditions of a fork.
const (
	// leastWatched is the shortest fork for which shares of the machine's CPU time are
	// recorded: the kernel counts CPU time in ticks of 10 ms.
	leastWatched = 50 * time.Millisecond
	// DisturbedPercent is the share of all cores' CPU time, used by other processes or
	// stolen by the hypervisor, from which a fork gets a warning. It must also be at least
	// leastWatched of CPU time, which a stray tick is not.
	DisturbedPercent = 5
)

// cpuTimes is CPU time of the whole machine since it started, summed over cores.
type cpuTimes struct {
	total, used, stolen time.Duration
}

// reading is the CPU time used by the machine and by this process until one moment.
type reading struct {
	at      time.Time
	machine cpuTimes
	self    time.Duration
	load    float64
}

func takeReading() reading {
	return reading{at: time.Now(), machine: readCPUTimes(), self: readUsage().cpu, load: loadAverage()}
}

// Conditions are what the rest of the machine did while a child process ran.
type Conditions struct {
	// Values are StealPct, OthersCPU and MachineLoad. Those that the system does not
	// report, or reports too coarsely, are missing.
	Values   map[string]float64
	Warnings []string
}

// conditions returns the conditions under which child processes ran. They have just ended;
// before was read just before they began. What kept the processors awake used the CPU time
// awake, and ended with the error given.
func (before reading) conditions(awake time.Duration, ended error,
	children ...*os.ProcessState) Conditions {
	now, c := takeReading(), Conditions{Values: map[string]float64{}}
	if now.load > 0 {
		c.Values[metrics.MachineLoad] = before.load
	}
	m := cpuTimes{now.machine.total - before.machine.total, now.machine.used - before.machine.used,
		now.machine.stolen - before.machine.stolen}
	if now.at.Sub(before.at) >= leastWatched && m.total > 0 {
		own := now.self - before.self + awake
		for _, child := range children {
			own += child.UserTime() + child.SystemTime()
		}
		c.disturbed(metrics.StealPct, m.stolen, m.total, "the hypervisor took")
		c.disturbed(metrics.OthersCPU, m.used-own, m.total, "other processes used")
	}
	if ended != nil {
		c.Warnings = append(c.Warnings, ended.Error())
	}
	return c
}

// disturbed records the share of the machine's CPU time that was taken, and warns if it is
// large. The warning's number is rounded, so that a report can count equal warnings; the
// metric is exact.
func (c *Conditions) disturbed(metric string, took, total time.Duration, who string) {
	took = max(0, took) // two clocks, so the difference may be negative
	percent := 100 * float64(took) / float64(total)
	c.Values[metric] = percent
	if took < leastWatched {
		return
	}
	for _, bound := range []float64{50, 20, 10, DisturbedPercent} {
		if percent > bound {
			c.Warnings = append(c.Warnings,
				fmt.Sprintf("%s more than %g%% of all cores' time meanwhile", who, bound))
			return
		}
	}
}
