package subject

import (
	"fmt"
	"slices"
	"time"

	kruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/measure/record"
)

// writing is what a writer has sent: the versions of each pass of its walk.
type writing struct {
	*engine.Walk
	versions [2][]kruntime.Object
}

// sent puts the version of each object that was sent last into all, by position. It returns
// the number of events sent.
func (w writing) sent(all []kruntime.Object) int {
	events := w.Steps()
	for slot, pass := range w.Visited {
		if events > 0 { // Visited begins with what was visited first
			all[w.Order[slot]] = w.versions[pass][slot]
			events--
		}
	}
	return int(w.Steps())
}

// quietTime bounds how long an informer may take to show all events after the writers and
// readers have ended. Normally that takes milliseconds.
const quietTime = time.Minute

// Quiet is called at the end of the measured time; idle is closed when writers and readers
// have ended. It counts the events that were not seen by the end, and then waits until the
// cache equals the source: a write rate is worth nothing if writes are lost.
func (s *Informer) Quiet(end time.Time, idle <-chan struct{}) {
	s.Leave(end)
	if len(s.writers) == 0 || s.Current.Load() != s.Main {
		return
	}
	check := record.CheckResult{Name: "the cache equals the source in the end"}
	defer func() { s.checks = append(s.checks, check) }()
	limit := time.NewTimer(quietTime + window*s.longestWork)
	defer limit.Stop()
	select {
	case <-idle:
	case <-limit.C:
		check.Detail = fmt.Sprintf("a writer still waits %s after the end", quietTime)
		return
	}
	want, events := slices.Clone(s.first), 0
	for _, w := range s.writers {
		events += w.sent(want)
	}
	for {
		missing := s.differs(s.Main, want)
		if missing == "" {
			check.Passed, check.Detail = true, fmt.Sprintf("%d objects after %d events", len(want), events)
			return
		}
		select {
		case <-limit.C:
			check.Detail = fmt.Sprintf("%s, %s after the end", missing, quietTime)
			return
		case <-time.After(time.Millisecond):
		}
	}
}
