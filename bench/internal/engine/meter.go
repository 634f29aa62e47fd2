package engine

import (
	"math"
	"runtime"
	"time"

	"github.com/informerbench/informerbench/measure/metrics"
	"github.com/informerbench/informerbench/measure/sysinfo"
)

// The costs that are read at both ends of a turn. An implementation and the reference take
// turns, so each cost has a ratio as exact as that of the time.
const (
	wallTime  = iota // ns
	usualTime        // ns, the same by its median
	cpuTime          // ns, of all threads
	hardware         // the first of sysinfo.HardwareNames
	allCosts  = hardware + sysinfo.NumHardware
)

// costs are readings, or differences of them.
type costs [allCosts]float64

// costNames are the metrics of costs, per operation.
var costNames = func() (names [allCosts]string) {
	names[wallTime], names[usualTime], names[cpuTime] = metrics.NsPerOp, metrics.UsualNsPerOp,
		metrics.CPUNsPerOp
	copy(names[hardware:], sysinfo.HardwareNames[:])
	return names
}()

// meter reads costs, and allocations where they are to be exact.
type meter struct {
	hardware *sysinfo.HardwareCounters // nil where the machine has none
}

// newMeter returns a meter, which must be closed. Threads that exist by now are metered, and
// those that they start.
func newMeter() *meter {
	hw, err := sysinfo.OpenHardwareCounters()
	if err != nil {
		return &meter{} // the environment of the run says why
	}
	return &meter{hardware: hw}
}

func (m *meter) close() { m.hardware.Close() }

// begin reads the costs before operations: the hardware counters, which take a system call each,
// then the CPU time, then the wall clock. end reads them in the opposite order, so that none has
// the
// reading of another in it. The wall clock must be read before end.
func (m *meter) begin() (c costs, start time.Time) {
	m.hardware.Read(c[hardware:])
	c[cpuTime] = float64(sysinfo.CPUTime())
	return c, time.Now()
}

// end returns the costs since begin, of operations that took so long by the wall clock. A hardware
// counter that cannot be read is 0 from then on, and has no ratio.
func (m *meter) end(before costs, took time.Duration) (c costs) {
	c[cpuTime] = float64(sysinfo.CPUTime())
	m.hardware.Read(c[hardware:])
	for i := range c {
		c[i] = max(0, c[i]-before[i])
	}
	c[wallTime], c[usualTime] = float64(took), float64(took)
	return c
}

// allocated is what the program has allocated so far. The runtime counts exactly only while
// nothing else runs: otherwise what a processor has allocated since it last took a span from
// the heap, some hundred small objects, is not in the count. Reading stops the program for
// some 20 us.
func allocated() (bytes, objects uint64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc, m.Mallocs
}

// logRatio is the logarithm of a's cost to b's; not ok if either is 0 or not known.
func logRatio(a, b float64) (log float64, ok bool) {
	log = math.Log(a / b)
	return log, a > 0 && b > 0 && !math.IsInf(log, 0)
}
