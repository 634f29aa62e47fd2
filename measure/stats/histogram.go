package stats

import (
	"fmt"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/informerbench/informerbench/measure/metrics"
)

// Histogram records durations from 1 ns to an hour to three significant digits (a relative
// error below 0.1 percent). One goroutine owns it; merge the histograms of several
// goroutines after they have stopped. A histogram takes about 270 KB, however many
// durations it has. Recording is O(1) and allocates nothing.
//
// A histogram of less than a [LongRun] also has slices: the durations of each twentieth of
// the measured time, to two significant digits, in half a megabyte more. They give the
// usual percentiles: the median over the slices of what the percentile is in each. A stop
// of the machine of 10 ms is a twentieth of a run of 0.2 s, and then decides its p99; it is
// in one slice or two, and leaves the usual p99 as it is. Only operations that are due at a
// time fill all slices: use slices for open loops.
type Histogram struct {
	h      *hdrhistogram.Histogram
	slices []*hdrhistogram.Histogram // in the order of time; none if not needed
	slice  time.Duration             // how long one lasts
}

const (
	longest = int64(time.Hour)
	// digitsKept are the significant digits, digitsWritten those of Encode: it is for pictures,
	// and takes a third of the space.
	digitsKept    = 3
	digitsWritten = 2
	// numSlices is how many slices a short run has. They are joined to fewestSlices at the
	// least, of which a disturbance may hit two.
	numSlices    = 20
	fewestSlices = 5
	// leastInSlice is how many durations a slice needs for the p99 to be its own: with fewer,
	// the slice's longest would stand for it.
	leastInSlice = 100
	// LongRun is the measured time from which percentiles need no slices; the replay of a
	// trace counts as long.
	LongRun = time.Second
	// longestInSlice bounds what a slice holds; what takes longer counts as that.
	longestInSlice = 4 * int64(LongRun)
)

// NewHistogram returns an empty histogram without slices.
func NewHistogram() *Histogram { return &Histogram{h: hdrhistogram.New(1, longest, digitsKept)} }

// NewHistogramOf returns an empty histogram for a measured time, with slices if that is
// less than a [LongRun].
func NewHistogramOf(measured time.Duration) *Histogram {
	h := NewHistogram()
	if measured < LongRun {
		h.slice = max(1, measured/numSlices)
		for range numSlices {
			h.slices = append(h.slices, hdrhistogram.New(1, longestInSlice, 2))
		}
	}
	return h
}

// Record adds one duration. A negative one counts as zero, one above an hour as an hour.
func (h *Histogram) Record(d time.Duration) {
	// The only error is a value out of range, which the bounds exclude.
	_ = h.h.RecordValue(min(max(int64(d), 0), longest))
}

// RecordAt is Record of what began so long after the beginning of the measured time. What
// began before counts for the first slice, what began later than its end for the last.
func (h *Histogram) RecordAt(since, d time.Duration) {
	h.Record(d)
	if h.slices != nil {
		i := min(max(int(since/h.slice), 0), len(h.slices)-1)
		_ = h.slices[i].RecordValue(min(max(int64(d), 0), longestInSlice))
	}
}

// Merge adds the durations of other, slice by slice if both have slices.
func (h *Histogram) Merge(other *Histogram) {
	h.h.Merge(other.h)
	for i := range min(len(h.slices), len(other.slices)) {
		h.slices[i].Merge(other.slices[i])
	}
}

// Count is the number of durations recorded.
func (h *Histogram) Count() int64 { return h.h.TotalCount() }

// Max is the longest duration recorded, to the histogram's precision.
func (h *Histogram) Max() time.Duration { return time.Duration(h.h.Max()) }

// Percentile returns the duration that p percent do not exceed.
func (h *Histogram) Percentile(p float64) time.Duration {
	return time.Duration(h.h.ValueAtPercentile(p))
}

// UsualPercentile returns the median over the slices of what p percent of a slice's durations do
// not exceed. Neighbouring slices are joined until most have leastInSlice durations. One that
// has fewer counts as the slowest: a slow component merges events, and a stopped machine puts
// them off. ok is false if there are no slices, or even fewestSlices have too few durations.
func (h *Histogram) UsualPercentile(p float64) (usual time.Duration, ok bool) {
	for slices := h.slices; len(slices) >= fewestSlices; slices = joined(slices) {
		var each []float64
		enough := 0
		for _, s := range slices {
			if s.TotalCount() < leastInSlice {
				each = append(each, math.Inf(1))
				continue
			}
			enough++
			each = append(each, float64(s.ValueAtPercentile(p)))
		}
		if 2*enough > len(slices) {
			return time.Duration(MedianOf(each)), true
		}
	}
	return 0, false
}

// joined adds up each two neighbours.
func joined(slices []*hdrhistogram.Histogram) (out []*hdrhistogram.Histogram) {
	for i := 0; i+1 < len(slices); i += 2 {
		both := hdrhistogram.New(1, longestInSlice, 2)
		both.Merge(slices[i])
		both.Merge(slices[i+1])
		out = append(out, both)
	}
	return out
}

// Summarise writes the percentiles, the maximum and the count of h into a
// series' values, under the given name.
func (h *Histogram) Summarise(distribution string, values map[string]float64) {
	values[metrics.Number(distribution)] = float64(h.Count())
	if h.Count() == 0 {
		return
	}
	for _, p := range metrics.Percentiles {
		values[metrics.Percentile(distribution, p)] = float64(h.Percentile(p))
	}
	if usual, ok := h.UsualPercentile(metrics.JudgedPercentile); ok {
		values[metrics.Usual(distribution)] = float64(usual)
	}
	values[metrics.Max(distribution)] = float64(h.Max())
}

// Encode returns the compressed form for run.json, to two significant digits.
func (h *Histogram) Encode() (string, error) {
	written := hdrhistogram.New(1, longest, digitsWritten)
	written.Merge(h.h)
	b, err := written.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return "", fmt.Errorf("encoding a histogram: %w", err)
	}
	return string(b), nil
}

// DecodeHistogram reads what Encode wrote; its durations are exact to two digits.
func DecodeHistogram(s string) (*Histogram, error) {
	h, err := hdrhistogram.Decode([]byte(s))
	if err != nil {
		return nil, fmt.Errorf("decoding a histogram: %w", err)
	}
	if lo, hi, digits := h.LowestTrackableValue(), h.HighestTrackableValue(),
		h.SignificantFigures(); lo != 1 || hi != longest ||
		digits != digitsKept && digits != digitsWritten { // those of before schema 10 have all
		return nil, fmt.Errorf(
			"decoding a histogram: it has %d digits from %d to %d, want %d or %d digits from 1 to %d",
			digits,
			lo, hi, digitsWritten, digitsKept, longest)
	}
	out := NewHistogram()
	out.h.Merge(h)
	return out, nil
}
