package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/informerbench/informerbench/measure/metrics"
)

// The oracle of a histogram is a sorted slice.
func TestPercentilesAreThoseOfASortedSlice(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	parts := []*Histogram{NewHistogram(), NewHistogram(), NewHistogram()}
	var all []time.Duration
	for i := range 30_000 {
		d := time.Duration(rng.ExpFloat64() * float64(time.Millisecond))
		parts[i%len(parts)].Record(d)
		all = append(all, d)
	}
	h := NewHistogram()
	for _, p := range parts {
		h.Merge(p)
	}
	slices.Sort(all)
	for _, p := range metrics.Percentiles {
		rank := min(len(all)-1, int(math.Round(p/100*float64(len(all))))-1)
		want, got := float64(all[rank]), float64(h.Percentile(p))
		if got < want*0.998 || got > want*1.002 {
			t.Errorf("p%g: got %v, want %v within 0.2%%", p, time.Duration(got), time.Duration(want))
		}
	}
	if h.Count() != int64(len(all)) {
		t.Errorf("count %d, want %d", h.Count(), len(all))
	}
	text, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeHistogram(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]time.Duration{{back.Percentile(99), h.Percentile(99)},
		{back.Max(), h.Max()}} {
		if got, want := float64(pair[0]), float64(pair[1]); got < want*0.99 || got > want*1.01 {
			t.Errorf("decoding gives %v for %v, want it within 1%%", pair[0], pair[1])
		}
	}
	if back.Count() != h.Count() {
		t.Errorf("decoding gives a count of %d, want %d", back.Count(), h.Count())
	}
}

func TestHistogramTakesWhatIsOutOfRange(t *testing.T) {
	t.Parallel()
	h := NewHistogram()
	h.Record(-time.Second)
	h.Record(2 * time.Hour)
	if h.Count() != 2 {
		t.Errorf("count %d, want 2", h.Count())
	}
	if max := h.Max(); max < time.Hour*999/1000 || max > time.Hour*1001/1000 {
		t.Errorf("max %v, want an hour", max)
	}
}

func TestDecodeHistogramRefusesDamage(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "HISTFAAAA", "nonsense!"} {
		if _, err := DecodeHistogram(s); err == nil {
			t.Errorf("DecodeHistogram(%q) gave no error", s)
		}
	}
}

// A text of a hundred bytes may ask for a histogram of millions of counters.
func TestDecodeHistogramRefusesOtherSizes(t *testing.T) {
	t.Parallel()
	for _, h := range []*hdrhistogram.Histogram{hdrhistogram.New(1, longest, 4),
		hdrhistogram.New(1, 1<<40, 3), hdrhistogram.New(2, longest, 3)} {
		b, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeHistogram(string(b)); err == nil ||
			!strings.Contains(err.Error(), "want 2 or 3 digits from 1 to 3600000000000") {
			t.Errorf("%d digits from %d to %d: %v", h.SignificantFigures(), h.LowestTrackableValue(),
				h.HighestTrackableValue(), err)
		}
	}
}

// A machine that stops for a tenth of a short run decides the p99, and leaves the usual one.
func TestUsualPercentileSurvivesAStop(t *testing.T) {
	t.Parallel()
	const measured = 200 * time.Millisecond
	parts := []*Histogram{NewHistogramOf(measured), NewHistogramOf(measured)}
	const step = 20 * time.Microsecond
	for i := range int(measured / step) {
		d := time.Microsecond
		if i%50 == 0 {
			d *= 5 // two operations in a hundred, as the implementation has it
		}
		due := time.Duration(i) * step
		if stop := 100 * time.Millisecond; due >= stop && due < stop+measured/10 {
			d = stop + measured/10 - due
		}
		parts[i%2].RecordAt(due, d)
	}
	h := NewHistogramOf(measured)
	for _, p := range parts {
		h.Merge(p)
	}
	values := map[string]float64{}
	h.Summarise(metrics.Delay, values)
	if got := values[metrics.Percentile(metrics.Delay, 99)]; got < float64(10*time.Millisecond) {
		t.Errorf("the p99 is %v, want that of the stop", time.Duration(got))
	}
	if got, want := values[metrics.Usual(metrics.Delay)],
		float64(5*time.Microsecond); math.Abs(got/want-1) > 0.01 {
		t.Errorf("the usual p99 is %v, want %v", time.Duration(got), time.Duration(want))
	}
	if got, want := h.Count(), int64(measured/step); got != want {
		t.Errorf("count %d, want %d", got, want)
	}
}

// What begins outside the measured time counts for the slice beside it.
func TestSlicesTakeWhatIsOutOfRange(t *testing.T) {
	t.Parallel()
	const measured = numSlices * time.Millisecond
	h := NewHistogramOf(measured)
	for _, since := range []time.Duration{-time.Hour, 0, measured, time.Hour} {
		h.RecordAt(since, 10*time.Second)
	}
	first, last := h.slices[0], h.slices[numSlices-1]
	if first.TotalCount() != 2 || last.TotalCount() != 2 || h.Count() != 4 {
		t.Errorf("%d in the first slice, %d in the last, %d in all; want 2, 2 and 4", first.TotalCount(),
			last.TotalCount(), h.Count())
	}
	if got := time.Duration(first.Max()); got < LongRun || h.Max() < 9*time.Second {
		t.Errorf("10 s count as %v in a slice and as %v in the whole", got, h.Max())
	}
}

func TestLongRunsHaveNoUsualPercentile(t *testing.T) {
	t.Parallel()
	h, values := NewHistogramOf(LongRun), map[string]float64{}
	h.RecordAt(0, time.Millisecond)
	h.Summarise(metrics.Delay, values)
	if _, ok := values[metrics.Usual(metrics.Delay)]; ok {
		t.Errorf("%v, want no usual p99: minutes have enough values behind the p99", values)
	}
}

// The usual p99 is a p99 of slices with enough durations, or there is none: the median over
// slices of few would be a lower percentile.
func TestUsualPercentileNeedsDurations(t *testing.T) {
	t.Parallel()
	const measured = numSlices * 10 * time.Millisecond
	const fast, slow = time.Microsecond, time.Millisecond
	// of makes a histogram of so many durations in each slice, of which the first ones are slow.
	of := func(slice func(i int) (n, slow int)) *Histogram {
		h := NewHistogramOf(measured)
		for i := range numSlices {
			n, late := slice(i)
			for k := range n {
				d := fast
				if k < late {
					d = slow
				}
				h.RecordAt(time.Duration(i)*measured/numSlices, d)
			}
		}
		return h
	}
	for _, c := range []struct {
		name  string
		slice func(i int) (n, slow int)
		want  time.Duration // 0 for none
	}{
		{"1 in a slice", func(int) (int, int) { return 1, 0 }, 0},
		{"24 in a slice, 96 in four", func(int) (int, int) { return 24, 0 }, 0},
		// 2 slow ones of 120 in each four slices: they are in 5 of the 20, and still the p99.
		{"30 in a slice", func(i int) (int, int) {
			if i%4 == 0 {
				return 30, 2
			}
			return 30, 0
		}, slow},
		{"30 in a slice, few slow", func(i int) (int, int) {
			if i%8 == 0 {
				return 30, 1
			}
			return 30, 0
		}, fast},
		{"100 in a slice", func(int) (int, int) { return 100, 1 }, fast},
		// Most of what was due in 8 slices was merged into the events of those before.
		{"few in 8 slices, slow in 4", func(i int) (int, int) {
			switch {
			case i >= 12:
				return 1, 0
			case i >= 8:
				return 200, 200
			}
			return 200, 0
		}, slow},
	} {
		got, ok := of(c.slice).UsualPercentile(99)
		if ok != (c.want > 0) || float64(got) < 0.98*float64(c.want) ||
			float64(got) > 1.02*float64(c.want) {
			t.Errorf("%s: %v (%t), want %v", c.name, got, ok, c.want)
		}
	}
}
