package stats

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/informerbench/informerbench/measure/metrics"
)

// Histogram records durations from 1 ns to an hour to three significant digits (a relative
// error below 0.1 percent). One goroutine owns it; merge the histograms of several
// goroutines after they have stopped. A histogram takes about 270 KB, however many
// durations it has. Recording is O(1) and allocates nothing.
type Histogram struct {
	h *hdrhistogram.Histogram
}

const longest = int64(time.Hour)

// NewHistogram returns an empty histogram.
func NewHistogram() *Histogram { return &Histogram{h: hdrhistogram.New(1, longest, 3)} }

// Record adds one duration. A negative one counts as zero, one above an hour as an hour.
func (h *Histogram) Record(d time.Duration) {
	// The only error is a value out of range, which the bounds exclude.
	_ = h.h.RecordValue(min(max(int64(d), 0), longest))
}

// Merge adds the durations of other.
func (h *Histogram) Merge(other *Histogram) { h.h.Merge(other.h) }

// Count is the number of durations recorded.
func (h *Histogram) Count() int64 { return h.h.TotalCount() }

// Max is the longest duration recorded, to the histogram's precision.
func (h *Histogram) Max() time.Duration { return time.Duration(h.h.Max()) }

// Percentile returns the duration that p percent do not exceed.
func (h *Histogram) Percentile(p float64) time.Duration {
	return time.Duration(h.h.ValueAtPercentile(p))
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
	values[metrics.Max(distribution)] = float64(h.Max())
}

// Encode returns the compressed form for run.json.
func (h *Histogram) Encode() (string, error) {
	b, err := h.h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return "", fmt.Errorf("encoding a histogram: %w", err)
	}
	return string(b), nil
}

// DecodeHistogram reads what Encode wrote.
func DecodeHistogram(s string) (*Histogram, error) {
	h, err := hdrhistogram.Decode([]byte(s))
	if err != nil {
		return nil, fmt.Errorf("decoding a histogram: %w", err)
	}
	return &Histogram{h: h}, nil
}
