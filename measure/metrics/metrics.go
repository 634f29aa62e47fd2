// Package metrics is the table of everything that a run measures: names, units, which way
// is better, what gets a verdict and what each number says. A new metric is a row in [all],
// or in [distributions]; tables, charts, verdicts, gates and bench.txt take it from there.
package metrics

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Direction says which way a metric is better.
type Direction int

// The directions.
const (
	LowerIsBetter Direction = iota
	HigherIsBetter
	Neither // a condition of the run, not a result
)

// Unit says how values are written.
type Unit int

// The units.
const (
	Count Unit = iota
	Nanoseconds
	Bytes
	Percent
	PerSecond
)

// Concern is what a user of a component asks for. The judged metrics of one concern are
// weighed together where a run is summed up.
type Concern string

// The concerns, in the order of reports. Every judged metric has one.
const (
	ConcernDelay     Concern = "delay" // of operations, under load
	ConcernStaleness Concern = "stale" // of what consumers see, under load
	ConcernTime      Concern = "time"  // of operations, alone
	ConcernDone      Concern = "done"  // under load: of what was offered, or a second
	ConcernMemory    Concern = "memory"
)

// Concerns are all concerns, in the order of reports.
var Concerns = []Concern{ConcernDelay, ConcernStaleness, ConcernTime, ConcernDone, ConcernMemory}

// Metric describes the numbers of one name.
type Metric struct {
	// Name is a unit in benchfmt's sense, so it has no spaces: "ns/op", "delay-p99-ns".
	Name   string
	Unit   Unit
	Better Direction
	// Judged metrics get a verdict and stand in short tables, except beside one of Unless,
	// which says the same better.
	Judged  bool
	Unless  []string
	Concern Concern
	// SameWithin is the relative difference within which two values count as the same, where
	// it is more than that of other metrics (stats.Rule): 0.25 is 25 percent.
	SameWithin float64
	// Help says in a few words what is measured.
	Help string

	// A percentile's distribution, and which it is, in percent.
	distribution string
	percentile   float64
}

// The names that the code itself uses.
const (
	NsPerOp         = "ns/op"
	BytesPerOp      = "B/op"
	AllocsPerOp     = "allocs/op"
	GCNsPerOp       = "gc-ns/op"
	UsualNsPerOp    = "usual-ns/op"
	CPUNsPerOp      = "cpu-ns/op"
	Instructions    = "instructions/op"
	Branches        = "branches/op"
	CacheMisses     = "cache-misses/op"
	PeakHeap        = "peak-heap-B"
	Synced          = "synced-ns"
	Offered         = "offered/s"
	Achieved        = "ops/s"
	AchievedPct     = "achieved-%"
	TimedOneIn      = "timed-1-in"
	Unfinished      = "unfinished"
	Unseen          = "unseen"
	Merged          = "merged"
	Early           = "early"
	Faults          = "faults"
	HeapPerObject   = "heap-B/object"
	HeapObjects     = "heap-objects/object"
	LockWait        = "lock-wait-ns"
	GCShare         = "gc-cpu-%"
	GCPauseMax      = "gc-pause-max-ns"
	CPUTime         = "cpu-ns"
	PeakRSS         = "peak-rss-B"
	Goroutines      = "goroutines"
	VoluntarySwitch = "voluntary-switches"
	ForcedSwitch    = "forced-switches"
	HarnessNs       = "harness-ns"
	StealPct        = "steal-%"
	OthersCPU       = "others-cpu-%"
	MachineLoad     = "load-1m"
)

// The distributions. Each has a metric per percentile, the maximum and the number of values
// ("delay-p99-ns", "delay-max-ns", "delay-n").
//
// A goroutine that sleeps until an operation is due may wake up later. Response and Lag are from
// end to end: they count that wait, and are the ones that get a verdict. Delay and Stale leave it
// out, to tell the component's share from the machine's; results from before there were Response
// and Lag have verdicts on these.
const (
	Response = "response"
	Delay    = "delay"
	Lag      = "lag"
	Stale    = "stale"
	Service  = "service"
	Late     = "late"
)

// Percentiles are the quantiles of a distribution that are metrics, in percent.
var Percentiles = []float64{50, 90, 99, 99.9, 99.99}

// JudgedPercentile is the one that gets a verdict, in percent. Where there are too few values
// for it (see FewestFor), the next lower one does.
const JudgedPercentile = 99

// leastBeyond is how many of n values must lie beyond a judged percentile on average: n(1-p).
//
// The largest of n values lies beyond the true percentile with probability 1-p^n. Up to 3.7 on
// average, that is below 97.5 percent, and the percentile's distribution-free interval has no
// upper end (Hahn and Meeker, "Statistical Intervals", Wiley 1991, chapter 5). With 10, the chance
// that no value at all lies beyond is 1 in 22,000.
const leastBeyond = 10

// FewestFor is the number of values from which a percentile is judged: 1,000 for the p99, 100
// for the p90, 20 for the median.
func FewestFor(p float64) int { return int(math.Round(leastBeyond * 100 / (100 - p))) }

// tailsAlike is SameWithin of percentiles. The p99 of the same code differs by a tenth from
// process to process, and implementations whose tails matter differ
// severalfold.
const tailsAlike = 0.25

// distributions are the rows of which each stands for the metrics of a distribution.
var distributions = []Metric{
	{Name: Response, Judged: true, Concern: ConcernDelay,
		Help: "response, from end to end: from the due time of an operation until it was done"},
	{Name: Delay, Judged: true, Concern: ConcernDelay,
		Help: "delay from the due time of an operation until it was done, less the generator's lateness"},
	{Name: Lag, Judged: true, Concern: ConcernStaleness,
		Help: "lag, from end to end: from when an event was due, or an item ready, until its consumer " +
			"had it"},
	{Name: Stale, Judged: true, Concern: ConcernStaleness,
		Help: "staleness: the lag, less the generator's lateness"},
	{Name: Service, Judged: true, Concern: ConcernDelay,
		Help: "time of an operation from its beginning to its end"},
	{Name: Late, Help: "lateness of the load generator, which is not the component's"},
}

// better are, for a distribution, those that say the same better.
var better = map[string][]string{Delay: {Response}, Stale: {Lag}, Service: {Response, Delay}}

// Distributions returns the names of the distributions that get a verdict, in the order of
// reports, without those that one of the others says better. measured says which there are.
func Distributions(measured func(name string) bool) (names []string) {
	for _, d := range distributions {
		if d.Judged && measured(d.Name) && !slices.ContainsFunc(better[d.Name], measured) {
			names = append(names, d.Name)
		}
	}
	return names
}

// sliced are the distributions that have a usual percentile in an open loop: of what is due at a
// time, so that every slice of a run has its share. A closed loop does less where it is slow.
var sliced = []string{Response, Delay, Lag, Stale}

// all is the table, in the order of reports.
var all = slices.Concat(
	[]Metric{
		{Name: NsPerOp, Unit: Nanoseconds, Judged: true, Concern: ConcernTime,
			Help: "time per operation"},
		{Name: UsualNsPerOp, Unit: Nanoseconds,
			Help: "time per operation in the median turn of 100 us: what happens in few turns does not " +
				"count, neither a disturbance nor the implementation's own rare work"},
		{Name: CPUNsPerOp, Unit: Nanoseconds,
			Help: "CPU time per operation, of all threads in user and kernel mode; a machine that is " +
				"busy with other programs changes it less than ns/op"},
		{Name: Instructions, Help: "instructions per operation in user mode, by the processor's counters"},
		{Name: Branches, Help: "branches per operation in user mode, by the processor's counters"},
		{Name: CacheMisses, Help: "misses of the last cache per operation in user mode, by the " +
			"processor's counters"},
		{Name: BytesPerOp, Unit: Bytes, Help: "heap bytes allocated per operation"},
		{Name: AllocsPerOp, Help: "heap objects allocated per operation"},
		{Name: GCNsPerOp, Unit: Nanoseconds,
			Help: "CPU time of garbage collection per operation, at GOGC=100; of operations measured " +
				"alone, ns/op has none of it"},
		{Name: PeakHeap, Unit: Bytes, Judged: true, Concern: ConcernMemory,
			Help: "peak heap while a cache fills, beyond the heap before"},
		{Name: Synced, Unit: Nanoseconds,
			Help: "time of an initial sync until HasSynced; ns/op lasts until the handler has the last " +
				"object"},
		{Name: Offered, Unit: PerSecond, Better: Neither, Help: "operations that were due per second"},
		{Name: Achieved, Unit: PerSecond, Better: HigherIsBetter, Judged: true, Concern: ConcernDone,
			Unless: []string{AchievedPct}, Help: "operations done per second"},
		{Name: AchievedPct, Unit: Percent, Better: HigherIsBetter, Judged: true, Concern: ConcernDone,
			Help: "done of what was offered"},
		{Name: Unfinished, Help: "operations that were due and not done by the end; the delays " +
			"contain their wait until then"},
		{Name: Unseen, Help: "events that no consumer had by the end; the staleness contains their " +
			"wait until then"},
		{Name: Merged, Help: "events of a trace whose object was seen in a newer state only"},
		{Name: Early, Help: "items that came out before they were ready, which is a defect"},
	},
	percentilesOf(distributions),
	[]Metric{
		{Name: HeapPerObject, Unit: Bytes, Judged: true, Concern: ConcernMemory,
			Help: "heap kept beyond the objects themselves, after a forced collection; of ways to keep " +
				"objects: heap kept, with the objects"},
		{Name: HeapObjects, Judged: true, Concern: ConcernMemory,
			Help: "heap objects kept for each object: what the collector has to visit"},
		{Name: LockWait, Unit: Nanoseconds, Help: "wait for locks, summed over goroutines"},
		{Name: GCShare, Unit: Percent, Help: "share of the CPU time that garbage collection took"},
		{Name: GCPauseMax, Unit: Nanoseconds, Help: "longest pause for garbage collection"},
		{Name: CPUTime, Unit: Nanoseconds, Help: "CPU time of the process"},
		{Name: PeakRSS, Unit: Bytes, Help: "peak resident memory of the process"},
		{Name: Faults, Better: Neither, Help: "faults of the list/watch source that struck"},
		{Name: ForcedSwitch, Help: "context switches that the kernel forced"},
		{Name: VoluntarySwitch, Help: "context switches of threads that waited"},
		{Name: Goroutines, Better: Neither, Help: "goroutines at the end of the measured time"},
		{Name: HarnessNs, Unit: Nanoseconds, Better: Neither,
			Help: "time of an empty operation: the harness's share of each ns/op"},
		{Name: MachineLoad, Better: Neither,
			Help: "load average at the start of the process, its predecessors included"},
		{Name: OthersCPU, Unit: Percent, Better: Neither,
			Help: "CPU time of other processes meanwhile, of all cores' time"},
		{Name: StealPct, Unit: Percent, Better: Neither,
			Help: "CPU time that the hypervisor gave to others meanwhile, of all cores' time"},
		{Name: TimedOneIn, Better: Neither, Help: "operations per timed operation"},
	},
)

// rows are the positions of all by name.
var rows = func() map[string]int {
	m := map[string]int{}
	for i, row := range all {
		m[row.Name] = i
	}
	return m
}()

// percentilesOf makes the metrics of distributions.
func percentilesOf(of []Metric) (out []Metric) {
	for _, d := range of {
		for _, other := range better[d.Name] {
			d.Unless = append(d.Unless, judgedAbove(other, 0)...)
		}
		for _, p := range Percentiles {
			m := Metric{
				Name: Percentile(d.Name, p), Unit: Nanoseconds, SameWithin: tailsAlike,
				Help:         d.Help + ", p" + percent(p),
				distribution: d.Name, percentile: p,
			}
			if d.Judged && p <= JudgedPercentile {
				m.Judged, m.Concern, m.Unless = true, d.Concern, slices.Concat(judgedAbove(d.Name, p), d.Unless)
			}
			if p == JudgedPercentile && slices.Contains(sliced, d.Name) {
				usual := m
				usual.Name, usual.Unless = Usual(d.Name), d.Unless
				usual.Help += " in the median slice of a short run: what happens in few slices does not " +
					"count, neither a disturbance nor the implementation's own rare work"
				out = append(out, usual)
			}
			out = append(out, m)
		}
		out = append(out,
			Metric{Name: Max(d.Name), Unit: Nanoseconds, Help: d.Help + ", the longest"},
			Metric{Name: Number(d.Name), Better: Neither,
				Help: "values behind the percentiles of " + d.Name})
	}
	return out
}

// judgedAbove are the percentiles of a distribution that are judged in place of one: the usual
// one, and those above it, the highest first.
func judgedAbove(distribution string, percentile float64) (names []string) {
	if slices.Contains(sliced, distribution) {
		names = append(names, Usual(distribution))
	}
	for _, p := range slices.Backward(Percentiles) {
		if percentile < p && p <= JudgedPercentile {
			names = append(names, Percentile(distribution, p))
		}
	}
	return names
}

func percent(p float64) string { return strconv.FormatFloat(p, 'f', -1, 64) }

// Percentile names the metric of a percentile of a distribution: "delay-p99.9-ns".
func Percentile(distribution string, p float64) string {
	return distribution + "-p" + percent(p) + "-ns"
}

// Usual names the metric of the judged percentile in the median slice of a short run:
// "delay-usual-p99-ns".
func Usual(distribution string) string {
	return distribution + "-usual-p" + percent(JudgedPercentile) + "-ns"
}

// Max names the metric of a distribution's maximum.
func Max(distribution string) string { return distribution + "-max-ns" }

// Number names the metric of the number of a distribution's values.
func Number(distribution string) string { return distribution + "-n" }

// All returns the table, in the order of reports.
func All() []Metric { return slices.Clone(all) }

// Of returns the row of a name. A name that the table lacks, such as one from a benchmark
// file, gets what its ending says: "writer-achieved-%" is a percentage of which more is
// better, as achieved-% is. Help is then empty. If the name does not say which way it is
// better, it is Neither (see Known).
func Of(name string) Metric {
	if i, ok := rows[name]; ok {
		return all[i]
	}
	return unknown(name)
}

// Distribution says in a few words what a distribution is of; "" if there is none of that name.
func Distribution(name string) string {
	for _, d := range distributions {
		if d.Name == name {
			return d.Help
		}
	}
	return ""
}

// Known reports whether a name says which way it is better, or that it is a condition of the run
// and no result. Of gives Neither for the latter, and for a name that says nothing.
func Known(name string) bool {
	_, inTable := rows[name]
	return inTable || like(name).Name != "" || unknown(name).Better != Neither
}

// like is the row whose name, behind a dash, ends the given one, such as achieved-% of
// "writer-achieved-%"; the zero Metric if there is none.
func like(name string) (longest Metric) {
	for _, row := range all {
		if strings.HasSuffix(name, "-"+row.Name) && len(row.Name) > len(longest.Name) {
			longest = row
		}
	}
	return longest
}

func unknown(name string) Metric {
	m := Metric{Name: name}
	if row := like(name); row.Name != "" {
		m.Unit, m.Better, m.SameWithin = row.Unit, row.Better, row.SameWithin
		return m
	}
	switch lower := strings.ToLower(name); {
	case endsIn(lower, "/s", "/sec", "qps", "rps"): // MB/s
		m.Unit, m.Better = PerSecond, HigherIsBetter
	case endsIn(name, "-ns", "-ns/op"), strings.HasPrefix(name, "ns/"):
		m.Unit = Nanoseconds
	case endsIn(name, "-B"), strings.HasPrefix(name, "B/"):
		m.Unit = Bytes
	case strings.HasPrefix(name, "allocs/"):
	case endsIn(name, "-%"):
		m.Unit, m.Better = Percent, Neither
	default:
		m.Better = Neither
	}
	return m
}

func endsIn(name string, endings ...string) bool {
	return slices.ContainsFunc(endings, func(ending string) bool {
		return strings.HasSuffix(name, ending)
	})
}

// JudgedIn reports whether a metric of a series gets a verdict and stands in short tables. forks
// are the values of the series in all forks that are compared. Of the percentiles, that is the
// highest up to JudgedPercentile for which each fork has enough values; none where even the
// median has too few. A fork that does not say how many values it has has enough. A metric gives
// way to a better one only where every fork that has it has the better one too.
func JudgedIn(name string, forks []map[string]float64) bool {
	m := Of(name)
	return m.Judged && m.standsIn(forks) && !slices.ContainsFunc(m.Unless, func(better string) bool {
		return Of(better).standsIn(forks) && !slices.ContainsFunc(forks, func(f map[string]float64) bool {
			_, has := f[name]
			_, hasBetter := f[better]
			return has && !hasBetter
		})
	})
}

// ShownIn reports whether a metric of a series stands in long tables; forks are as for JudgedIn. A
// percentile above the median needs as many values as to be judged: the p99.9 of 1,000 says what the
// longest says.
func ShownIn(name string, forks []map[string]float64) bool {
	m := Of(name)
	return m.percentile <= 50 || m.standsIn(forks)
}

// standsIn reports whether any fork has the metric; of a percentile, whether all have it that
// have the distribution, with enough values.
func (m Metric) standsIn(forks []map[string]float64) bool {
	stands := false
	for _, values := range forks {
		_, has := values[m.Name]
		n, known := values[Number(m.distribution)]
		if m.distribution != "" && known && (!has || n < float64(FewestFor(m.percentile))) {
			return false
		}
		stands = stands || has
	}
	return stands
}

// Compare orders names as the table does; names that it lacks come last, by the alphabet.
func Compare(a, b string) int {
	i, inA := rows[a]
	j, inB := rows[b]
	switch {
	case inA && inB:
		return i - j
	case inA:
		return -1
	case inB:
		return 1
	}
	return strings.Compare(a, b)
}
