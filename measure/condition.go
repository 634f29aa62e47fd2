package measure

// What the rest of the machine did while a fork was measured.

import (
	"fmt"
	"os"
	"time"
)

// Bounds of what is said of the conditions of a fork.
const (
	// leastWatched is the shortest fork whose share of the machine is told: the
	// kernel counts CPU time in ticks of 10 ms.
	leastWatched = 50 * time.Millisecond
	// DisturbedPercent of all cores' CPU time, used by others or stolen, is what a
	// fork is warned of. It must be leastWatched of CPU time too, which a stray
	// tick is not.
	DisturbedPercent = 5
)

// cpuTimes is CPU time of the whole machine since it started, summed over cores.
type cpuTimes struct {
	total, used, stolen time.Duration
}

// reading is what the machine and this process had used at one moment.
type reading struct {
	at      time.Time
	machine cpuTimes
	self    time.Duration
	load    float64
}

func takeReading() reading {
	return reading{at: time.Now(), machine: readCPUTimes(), self: readUsage().cpu, load: loadAverage()}
}

// note writes onto f under what conditions it was measured, by the child process
// that ended just now; before was read just before it began. What the system does
// not tell, or not finely enough, is left out.
func (before reading) note(f *Fork, child *os.ProcessState) {
	now := takeReading()
	if f.Process == nil {
		f.Process = map[string]float64{}
	}
	if now.load > 0 {
		f.Process[MachineLoad] = before.load
	}
	m := cpuTimes{now.machine.total - before.machine.total, now.machine.used - before.machine.used, now.machine.stolen - before.machine.stolen}
	if now.at.Sub(before.at) < leastWatched || m.total <= 0 {
		return
	}
	own := now.self - before.self + child.UserTime() + child.SystemTime()
	f.disturbed(StealPct, m.stolen, m.total, "the hypervisor took")
	f.disturbed(OthersCPU, m.used-own, m.total, "other processes used")
}

// disturbed keeps what share of the machine something took, and warns of much.
// The warning's number is coarse, so that a report can count warnings alike; the
// metric has it exactly.
func (f *Fork) disturbed(metric string, took, total time.Duration, who string) {
	took = max(0, took) // two clocks, so the difference may be less than nothing
	percent := 100 * float64(took) / float64(total)
	f.Process[metric] = percent
	if took < leastWatched {
		return
	}
	for _, bound := range []float64{50, 20, 10, DisturbedPercent} {
		if percent > bound {
			f.Warnings = append(f.Warnings, fmt.Sprintf("%s more than %g%% of all cores' time meanwhile", who, bound))
			return
		}
	}
}
