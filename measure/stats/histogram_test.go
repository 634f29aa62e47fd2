package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

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
	if back.Count() != h.Count() || back.Percentile(99) != h.Percentile(99) || back.Max() != h.Max() {
		t.Error("decoding does not give back what was encoded")
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
