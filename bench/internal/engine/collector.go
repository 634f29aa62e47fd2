package engine

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/informerbench/informerbench/measure/sysinfo"
)

// garbage is how much may be allocated between two collections while operations are
// measured alone. It exceeds the processor's inner caches, so that new objects come from
// memory and not from a cache that a real program would not find warm. It is small enough
// for the memory to be mapped soon and used again and again.
const garbage = 32 << 20

// collector keeps the garbage collector out of the turns: it runs between them, where
// nobody is timed. A collection takes as long as a thousand operations and comes in one
// turn of many. Inside the turns it would be the largest part of their noise, and be
// charged to whoever's turn it fell into.
//
// What collections cost is measured apart: each one's CPU time and the live bytes that it
// marked. At Go's default, GOGC=100, the program allocates as many bytes as are live between
// two collections. An allocated byte therefore costs a collection's CPU time divided by the
// live bytes.
type collector struct {
	counter *sysinfo.HeapCounter
	held    bool   // by this collector
	since   uint64 // bytes allocated up to the last collection
	cpu     time.Duration
	live    uint64 // bytes, summed over collections
}

// newCollector turns automatic collections off until release is called.
func newCollector() *collector {
	c := &collector{counter: sysinfo.NewHeapCounter()}
	c.since = c.counter.Read().Allocated
	c.hold()
	return c
}

// holders are the collectors that hold: GOGC is the process's. Automatic collections are on
// again when the last one releases, whichever that is.
var holders struct {
	sync.Mutex
	n     int
	usual int // GOGC as it was before the first
}

func (c *collector) hold() {
	if c.held {
		return
	}
	c.held = true
	holders.Lock()
	defer holders.Unlock()
	if holders.n++; holders.n == 1 {
		holders.usual = debug.SetGCPercent(-1)
	}
}

func (c *collector) release() {
	if !c.held {
		return
	}
	c.held = false
	holders.Lock()
	defer holders.Unlock()
	if holders.n--; holders.n == 0 {
		debug.SetGCPercent(holders.usual)
	}
}

// tidy collects if enough was allocated since the last collection.
func (c *collector) tidy() {
	if c.counter.Read().Allocated-c.since >= garbage {
		c.collect()
	}
}

// collect collects, and measures what that costs.
func (c *collector) collect() {
	// The runtime gives memory back to the system that was not in use just before a
	// collection. A turn would then wait for the system to map it again: a List takes twice
	// as long.
	if made := c.counter.Read().Allocated - c.since; made < garbage {
		litter(int(garbage - made))
	}
	before := sysinfo.CPUTime()
	runtime.GC()
	c.cpu += sysinfo.CPUTime() - before
	heap := c.counter.Read()
	c.live += heap.Live
	c.since = heap.Allocated
}

// litter makes n bytes of garbage, and writes to each page.
func litter(n int) {
	const chunk, page = 64 << 10, 4 << 10
	var kept [][]byte
	for ; n > 0; n -= chunk {
		m := make([]byte, chunk)
		for i := 0; i < chunk; i += page {
			m[i] = 1
		}
		kept = append(kept, m)
	}
	runtime.KeepAlive(kept)
}

// perByte is the CPU time, in ns, that an allocated byte costs.
func (c *collector) perByte() float64 {
	if c.live == 0 {
		return 0
	}
	return float64(c.cpu) / float64(c.live)
}
