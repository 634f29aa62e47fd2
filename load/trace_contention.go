package load

import (
	"fmt"
	"math"

	"github.com/dustin/go-humanize"
)

// contendedWrites is the product of two numbers that were measured beside ten goroutines that
// list: the objects in client-go's store and the writes per second that it got done. It is
// that of 100,000 objects on 2 cores, 0.5 percent of 10,000 (docs/stores.md, "Under
// readers"): a List holds the lock for as long as it has objects to copy.
const contendedWrites = 100_000 * 50

// mayStarve is the share of the estimated limit from which a replay may show starvation: the
// estimate is no better than that.
const mayStarve = 0.1

// lateCopies is how many more copies than objects wanted at once Trace.Times needs, since the
// copies' peaks do not coincide.
const lateCopies = 1.2

// Contention estimates what a replay of a trace can show of the starvation of an informer
// cache's writer.
type Contention struct {
	Objects int     // of the largest resource, at once at most
	Events  float64 // of that resource, per second on average
	// Limit estimates how many of these events client-go's store gets done per second beside
	// ten goroutines that list, from one measured case; it is wrong by a factor of some 5.
	Limit float64
}

// Contention estimates it for a replay that divides the times by compress, above 0.
func (i TraceInfo) Contention(compress float64) Contention {
	var c Contention
	events := 0
	for _, r := range i.Resources {
		if r.PeakLive >= c.Objects {
			c.Objects, events = r.PeakLive, r.Events
		}
	}
	if span := i.Span.Seconds() / compress; span > 0 {
		c.Events = float64(events) / span
	}
	c.Limit = contendedWrites / float64(max(1, c.Objects))
	return c
}

// Shown reports whether a replay shows starvation, by the estimate.
func (c Contention) Shown() bool { return c.Events >= c.Limit }

// String says it in one or two sentences, with what would show more.
func (c Contention) String() string {
	said := fmt.Sprintf(
		"at most %s objects at once and %s events/s on average; beside 10 goroutines that list, "+
			"client-go's store gets some %s events/s done with as many objects (estimate)",
		humanize.Comma(int64(c.Objects)), humanize.Comma(int64(c.Events)), humanize.Comma(int64(c.Limit)))
	switch share := c.Events / c.Limit; {
	case c.Shown():
		return said + ": the replay can show starvation"
	case share >= mayStarve:
		return said + ": the replay may show starvation"
	case c.Events == 0 || c.Objects == 0:
		return said + ": the replay cannot show starvation; record for longer"
	default:
		return said + fmt.Sprintf(
			": the replay cannot show starvation, only what operations cost. A larger cluster can "+
				"(--times %d), or a faster replay (--compress divides the times)",
			int(math.Ceil(lateCopies*math.Sqrt(1/share))))
	}
}
