package record

import (
	"testing"
	"time"
)

// Two runs are one pair only if they began together, and a half is none with itself.
func TestHalvesOfAPair(t *testing.T) {
	t.Parallel()
	half := func(name string, started time.Time, pair bool) *Run {
		r := sampleRun()
		r.Name, r.Started, r.Settings.Pair = name, started, pair
		return r
	}
	began := time.Unix(1, 7)
	head := half("p/head", began, true)
	for _, c := range []struct {
		what string
		base *Run
		want bool
	}{
		{"its base", half("p/base", began.UTC(), true), true},
		{"the base of another pair of that name", half("p/base", began.Add(time.Nanosecond), true),
			false},
		{"a run", half("p/base", began, false), false},
		{"itself", head, false},
	} {
		if got := Halves(c.base, head); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}
