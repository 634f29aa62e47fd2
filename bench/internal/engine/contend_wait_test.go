package engine

import (
	"testing"
	"time"
)

// later is a subject with nothing to measure before a time.
type later struct {
	Subject
	earliest time.Time
}

func (l later) Earliest() time.Time { return l.earliest }

// What lies a little ahead is waited for, at most as long again as the warm-up.
func TestMeasuringWaitsForTheSubject(t *testing.T) {
	t.Parallel()
	const warmup = time.Second
	start := time.Now()
	for after, want := range map[time.Duration]time.Duration{
		0: warmup, 900 * time.Millisecond: warmup, 1500 * time.Millisecond: 1500 * time.Millisecond,
		2 * time.Second: 2 * time.Second, 10 * time.Minute: warmup,
	} {
		if got := measuredFrom(later{earliest: start.Add(after)}, start, warmup).Sub(start); got != want {
			t.Errorf("with nothing to measure before %s the measured time begins at %s, want %s", after, got,
				want)
		}
	}
	if got := measuredFrom(nil, start, warmup).Sub(start); got != warmup {
		t.Errorf("of any other subject it begins at %s, want %s", got, warmup)
	}
}
