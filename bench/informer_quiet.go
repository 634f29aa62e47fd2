package bench

import (
	"fmt"
	"slices"
	"time"

	kruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/informerbench/informerbench/measure"
)

// writing is what a writer has sent: of the objects of its walk up to where it is the
// version of this lap, of the others that of the lap before, if there was one.
type writing struct {
	*walk
	versions [2][]kruntime.Object
}

// sent puts the last version that was sent of each object into all, by position, and
// returns how many events there were.
func (w writing) sent(all []kruntime.Object) int {
	here := int(w.at & w.mask)
	for slot, position := range w.order {
		switch lap := w.lap(); {
		case slot < here:
			all[position] = w.versions[lap&1][slot]
		case lap > 0:
			all[position] = w.versions[(lap-1)&1][slot]
		}
	}
	return int(w.at)
}

// quietTime is how long an informer may take to show what was sent, when nobody writes or
// reads any more. It takes milliseconds.
const quietTime = time.Minute

// quiet is called at the end of the measured time; idle says when writers and readers have
// ended. It counts what was not seen by the end, and then waits until the cache equals the
// source: a writer's rate is worth nothing if what was written is lost.
func (s *informerSubject) quiet(end time.Time, idle <-chan struct{}) {
	s.leave(end)
	if len(s.writers) == 0 || s.current.Load() != s.main {
		return
	}
	check := measure.CheckResult{Name: "the cache equals the source in the end"}
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
		missing := s.differs(s.main, want)
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
