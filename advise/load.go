package advise

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// Dimension is a number of a load that rules have ranges of.
type Dimension string

// The dimensions.
const (
	Objects Dimension = "objects" // alive at once in one store
	Readers Dimension = "readers" // goroutines that read all the time
	Matches Dimension = "matches" // objects that a reader by index finds at once
	Writes  Dimension = "writes"  // adds, updates and deletes a second
	Delayed Dimension = "delayed" // items that wait for their time
	Workers Dimension = "workers" // goroutines that take items out of the queue
)

// The largest numbers that a load may have. They are the bounds of package load, so that every
// load can be measured.
const (
	MostObjects    = 50_000_000
	MostGoroutines = 100_000
	MostWrites     = 100_000_000
	MostMemory     = 1 << 50 // bytes
)

// described is a dimension with its words and bounds.
type described struct {
	Dimension
	one, many string // "object", "objects"
	most      float64
	flag      string // that gives it
}

// dimensions describes each dimension, in the order of texts.
var dimensions = []described{
	{Objects, "object", "objects", MostObjects, "--objects"},
	{Readers, "goroutine reads", "goroutines read", MostGoroutines, "--readers"},
	{Matches, "object found by a look-up", "objects found by a look-up", MostObjects,
		"--reads by-index=N"},
	{Writes, "write a second", "writes a second", MostWrites, "--writes"},
	{Delayed, "item waits for its time", "items wait for their time", MostObjects, "--delayed"},
	{Workers, "worker", "workers", MostGoroutines, "--workers"},
}

// least is the least number that the dimension may have.
func (d described) least() float64 {
	if d.Dimension == Objects || d.Dimension == Matches || d.Dimension == Workers {
		return 1
	}
	return 0
}

// outside reports whether a load cannot have the number.
func (d described) outside(v float64) bool {
	return math.IsNaN(v) || v < d.least() || v > d.most || d.Dimension != Writes && v != math.Trunc(v)
}

// allowed says what a load may have: "a whole number, 1 to 50,000,000".
func (d described) allowed() string {
	kind := "a whole number"
	if d.Dimension == Writes {
		kind = "a number"
	}
	return fmt.Sprintf("%s, %s to %s", kind, grouped(d.least()), grouped(d.most))
}

// counted is "1 worker" or "8 workers".
func (d described) counted(n float64) string {
	if n == 1 {
		return "1 " + d.one
	}
	return grouped(n) + " " + d.many
}

// describe finds a dimension's description; the dimension must exist.
func describe(d Dimension) described {
	return dimensions[slices.IndexFunc(dimensions, func(known described) bool {
		return known.Dimension == d
	})]
}

// grouped writes a number with commas: 1,000,000.
func grouped(n float64) string { return humanize.CommafWithDigits(n, 1) }

// Reads is what readers do.
type Reads string

// The kinds of reads.
const (
	ReadGet   Reads = "get"      // one key
	ReadList  Reads = "list"     // everything
	ReadIndex Reads = "by-index" // the objects of an index value
)

// Events is what a consumer of a FIFO expects.
type Events string

// The kinds of consumers.
const (
	EventsEvery  Events = "every"  // each event in its order, as client-go's default
	EventsMerged Events = "merged" // the events of one object may be merged, as by DeltaFIFO
)

// Load describes what a program does with its informers and queues. What is left out is
// unknown; the zero value knows nothing.
type Load struct {
	Numbers map[Dimension]float64 `json:"numbers,omitempty"`
	Reads   Reads                 `json:"reads,omitempty"`
	// Memory is the limit of the program, in bytes; 0 is unknown.
	Memory uint64 `json:"memoryB,omitempty"`
	// Priorities says that some items of the queue are more urgent than others.
	Priorities bool `json:"priorities,omitempty"`
	// Events is what the FIFO's consumer expects; "" means EventsEvery.
	Events Events `json:"events,omitempty"`
	// From says where the numbers come from, in words.
	From []string `json:"from,omitempty"`
}

// With returns a load with a number set.
func (l Load) With(d Dimension, n float64) Load {
	l.Numbers = maps.Clone(l.Numbers)
	if l.Numbers == nil {
		l.Numbers = map[Dimension]float64{}
	}
	l.Numbers[d] = n
	return l
}

// Over returns the load with what it leaves out filled in from a base. Numbers of the load win.
func (l Load) Over(base Load) Load {
	out := base
	out.Numbers = maps.Clone(base.Numbers)
	if out.Numbers == nil {
		out.Numbers = map[Dimension]float64{}
	}
	if l.Reads != "" && l.Reads != base.Reads {
		out.Reads = l.Reads
		delete(out.Numbers, Matches) // they belong to the other kind of reads
	}
	maps.Copy(out.Numbers, l.Numbers)
	if l.Memory > 0 {
		out.Memory = l.Memory
	}
	if l.Events != "" {
		out.Events = l.Events
	}
	out.Priorities = l.Priorities || base.Priorities
	out.From = slices.Concat(l.From, base.From)
	return out
}

// ParseReads parses "list", "get" or "by-index=N", N being how many objects a read finds, from
// 1 to MostObjects. matches is 0 for the first two.
func ParseReads(text string) (reads Reads, matches float64, err error) {
	kind, count, counted := strings.Cut(text, "=")
	switch Reads(kind) {
	case ReadGet, ReadList:
		if !counted {
			return Reads(kind), 0, nil
		}
	case ReadIndex:
		n, err := strconv.Atoi(count)
		if err == nil && n >= 1 && n <= MostObjects {
			return ReadIndex, float64(n), nil
		}
	}
	return "", 0, fmt.Errorf(
		"%q: want list, get, or by-index=N with the number of objects that a read finds, 1 to %s, "+
			"such as by-index=20", text, grouped(MostObjects))
}

// ParseNumber parses a number of a load. The error says what is allowed.
func ParseNumber(d Dimension, text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || describe(d).outside(v) {
		return 0, fmt.Errorf("want %s", describe(d).allowed())
	}
	return v, nil
}

// ParseBytes parses a size such as 2GiB, 512MiB or 2000000000, from 1 byte to MostMemory.
func ParseBytes(text string) (uint64, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil || n < 1 || n > MostMemory {
		return 0, fmt.Errorf("%q: want a size of 1B to %s, such as 512MiB or 2GiB", text,
			humanize.IBytes(MostMemory))
	}
	return n, nil
}

// Validate reports the first number outside its bounds, and what is allowed.
func (l Load) Validate() error {
	for _, d := range dimensions {
		if v, known := l.Numbers[d.Dimension]; known && d.outside(v) {
			return fmt.Errorf("%s: %v is out of range: use %s", d.flag, v, d.allowed())
		}
	}
	for d := range l.Numbers {
		if !slices.ContainsFunc(dimensions, func(known described) bool { return known.Dimension == d }) {
			return fmt.Errorf("unknown number %q of a load", d)
		}
	}
	if !slices.Contains([]Reads{"", ReadGet, ReadList, ReadIndex}, l.Reads) {
		return fmt.Errorf("--reads: %q: use get, list or by-index=N", l.Reads)
	}
	if !slices.Contains([]Events{"", EventsEvery, EventsMerged}, l.Events) {
		return fmt.Errorf("--events: %q: use %s or %s", l.Events, EventsEvery, EventsMerged)
	}
	matches, counted := l.Numbers[Matches]
	objects, known := l.Numbers[Objects]
	if counted && l.Reads != ReadIndex {
		return fmt.Errorf("--reads: %s find no number of objects: use by-index=N", l.Reads)
	}
	if counted && known && matches > objects {
		return fmt.Errorf("--reads by-index=%s finds more than there is: use 1 to %s, or more --objects",
			grouped(matches), grouped(objects))
	}
	if l.Memory > MostMemory {
		return fmt.Errorf("--memory: %d is out of range: use at most %s", l.Memory,
			humanize.IBytes(MostMemory))
	}
	return nil
}

// Flags are the flags of benchrun advise that describe the load.
func (l Load) Flags() (flags []string) {
	for _, d := range dimensions {
		v, known := l.Numbers[d.Dimension]
		if known && d.Dimension != Matches {
			flags = append(flags, d.flag, strconv.FormatFloat(v, 'f', -1, 64))
		}
		if d.Dimension == Readers && l.Reads != "" {
			flags = append(flags, "--reads", l.reads())
		}
	}
	if l.Memory > 0 {
		flags = append(flags, "--memory", exactBytes(l.Memory))
	}
	if l.Priorities {
		flags = append(flags, "--priorities")
	}
	if l.Events != "" {
		flags = append(flags, "--events", string(l.Events))
	}
	return flags
}

// exactBytes writes a size that ParseBytes reads back to the same number.
func exactBytes(n uint64) string {
	for _, unit := range []struct {
		name string
		size uint64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n%unit.size == 0 {
			return fmt.Sprintf("%d%s", n/unit.size, unit.name)
		}
	}
	return strconv.FormatUint(n, 10)
}

func (l Load) reads() string {
	if m, known := l.Numbers[Matches]; known {
		return fmt.Sprintf("%s=%.0f", l.Reads, m)
	}
	return string(l.Reads)
}

// String describes the load in one line: "50,000 objects; 10 goroutines list everything".
func (l Load) String() string {
	var parts []string
	for _, d := range dimensions {
		v, known := l.Numbers[d.Dimension]
		switch {
		case !known || d.Dimension == Matches:
		case d.Dimension == Readers:
			parts = append(parts, l.readers(v))
		default:
			parts = append(parts, d.counted(v))
		}
	}
	if l.Priorities {
		parts = append(parts, "items have priorities")
	}
	if l.Events == EventsMerged {
		parts = append(parts, "events of one object may be merged")
	}
	if l.Memory > 0 {
		parts = append(parts, humanize.IBytes(l.Memory)+" of memory")
	}
	if len(parts) == 0 {
		return "unknown"
	}
	return strings.Join(parts, "; ")
}

func (l Load) readers(n float64) string {
	if n == 0 {
		return "no goroutine reads"
	}
	does := map[Reads]string{"": "read", ReadGet: "get single keys", ReadList: "list everything",
		ReadIndex: "read an index"}[l.Reads]
	if l.Reads == ReadIndex {
		if m, known := l.Numbers[Matches]; known {
			does = "look up " + grouped(m) + " by index"
		}
	}
	if n == 1 {
		verb, rest, _ := strings.Cut(does, " ")
		return strings.TrimSpace("1 goroutine " + verb + "s " + rest)
	}
	return grouped(n) + " goroutines " + does
}
