package engine

import (
	"runtime"
	"testing"
	"time"
)

// A Timetable in real time never returns before something is due, also where it is due at once or
// was due before, and it leaves no timer that would cut the next sleep short.
func TestAwaitIsNeverEarly(t *testing.T) {
	t.Parallel()
	table := NewTimetable()
	defer table.Close()
	if runtime.GOOS == "linux" && table.alarm == nil {
		t.Error("it sleeps by the runtime's timers")
	}
	for _, wait := range []time.Duration{-time.Second, 0, 1, time.Microsecond, 100 * time.Microsecond,
		3 * time.Millisecond, -1, 500 * time.Microsecond} {
		due := time.Now().Add(wait)
		from, late := table.Await(due)
		now := time.Now()
		if now.Before(due) || from.Before(due) || from.After(now) || late != from.Sub(due) {
			t.Errorf("due in %s: woke %s after it, from %s, late %s", wait, now.Sub(due), from.Sub(due),
				late)
		}
	}
}
