package advise

import (
	"fmt"

	"github.com/informerbench/informerbench/load"
)

// OfTrace sums a trace up: the objects of its largest resource that are alive at once, and the
// events of all resources in its busiest second, at the trace's own speed: an imported trace
// is as fast as it was compressed. A trace records no readers. It takes time linear in the
// events.
func OfTrace(name string, t *load.Trace) Load {
	info := t.Info()
	var largest load.TraceResourceInfo
	for _, r := range info.Resources {
		if r.PeakLive >= largest.PeakLive {
			largest = r
		}
	}
	l := Load{}.With(Writes, float64(info.PeakRate))
	from := fmt.Sprintf("%s: the busiest second of its replay", name)
	if largest.PeakLive > 0 {
		l = l.With(Objects, float64(largest.PeakLive))
		from = fmt.Sprintf("%s: the most %s at once, and the busiest second of its replay", name, largest)
	}
	if t.Compress != 1 {
		from += fmt.Sprintf(", which is %g times as fast as what was recorded", t.Compress)
	}
	l.From = []string{from}
	return l
}
