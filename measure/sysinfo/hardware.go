package sysinfo

import (
	"strings"

	"github.com/informerbench/informerbench/measure/metrics"
)

// NumHardware is the number of HardwareNames.
const NumHardware = 3

// HardwareNames are the metrics of HardwareCounters, in the order of Read.
var HardwareNames = [NumHardware]string{metrics.Instructions, metrics.Branches, metrics.CacheMisses}

// counterFile is an open counter of one thread and the threads that it has started since.
type counterFile int

// HardwareCounters are the processor's counts of what this process did in user mode. One
// goroutine owns them.
type HardwareCounters struct {
	files [NumHardware][]counterFile // by thread; none where the processor does not count that
}

// OpenHardwareCounters begins to count, in every thread that exists or is started later. It
// needs Linux, a processor or a virtual machine with counters, and, of the setting
// kernel.perf_event_paranoid, 2 or less. The error says what is missing. What only some
// processors count may be left out.
func OpenHardwareCounters() (*HardwareCounters, error) { return openCounters(hardwareEvents) }

// Read stores the counts so far, as floating-point numbers in the order of HardwareNames; 0 is
// stored for what is not counted, and for all by a nil receiver. A processor that counts too
// few things at once counts each for a part of the time: the number is then extrapolated. It
// costs some microseconds for each thread.
func (h *HardwareCounters) Read(into []float64) {
	for i := range into {
		into[i] = 0
		for j := 0; h != nil && j < len(h.files[i]); j++ {
			into[i] += h.files[i][j].read()
		}
	}
}

// Close ends the counting; a nil receiver is allowed.
func (h *HardwareCounters) Close() {
	if h == nil {
		return
	}
	for i, files := range h.files {
		for _, f := range files {
			f.close()
		}
		h.files[i] = nil
	}
}

// hardwareText says what this machine counts, or why it counts nothing.
func hardwareText() string {
	h, err := OpenHardwareCounters()
	if err != nil {
		return "none: " + err.Error()
	}
	defer h.Close()
	var names []string
	for i, files := range h.files {
		if len(files) > 0 {
			names = append(names, HardwareNames[i])
		}
	}
	return strings.Join(names, ", ")
}
