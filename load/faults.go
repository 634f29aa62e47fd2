package load

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// armedFault is a fault of a source and what it has seen so far.
type armedFault struct {
	Fault
	seen   int       // occasions
	struck int       // strikes
	due    time.Time // of the next strike, if it goes by time
}

// strikes counts an occasion and reports whether the fault strikes at it.
func (f *armedFault) strikes(now time.Time) bool {
	f.seen++
	limit := f.Count
	if limit == 0 && f.EveryEvents == 0 && f.Every == 0 {
		limit = 1
	}
	if limit > 0 && f.struck >= limit || now.Before(f.due) {
		return false
	}
	n := f.seen - 1 - f.AfterEvents // 0 at the first occasion that counts
	if n < 0 || f.EveryEvents > 0 && n%f.EveryEvents != 0 {
		return false
	}
	if f.Every > 0 {
		// A strike that nobody was there for is not made up for.
		late := now.Sub(f.due)
		f.due = f.due.Add((late/f.Every + 1) * f.Every)
	}
	f.struck++
	return true
}

// strikesLocked counts an occasion of a kind. It returns the fault that strikes, or nil.
func (s *Source) strikesLocked(kind FaultKind) *Fault {
	var hit *Fault
	for i := range s.mu.faults {
		f := &s.mu.faults[i]
		if f.Kind == kind && f.strikes(s.options.Clock.Now()) {
			hit = &f.Fault
			s.mu.struck[kind]++
		}
	}
	return hit
}

// eventFault decides what becomes of an event that is about to be sent: whether
// the watch ends in its place, with which status if any, and how long the event
// is held back.
func (s *Source) eventFault() (end bool, status *apierrors.StatusError, delay time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.mu.faults) == 0 {
		return false, nil, 0
	}
	if f := s.strikesLocked(FaultDelay); f != nil {
		delay = f.Delay
	}
	switch {
	case s.strikesLocked(FaultGone) != nil:
		// Forgetting makes the 410 true: a watch from the same version gets it again.
		s.mu.history, s.mu.floor = nil, s.mu.version
		return true, apierrors.NewResourceExpired(errAsked(FaultGone).Error()), delay
	case s.strikesLocked(FaultError) != nil:
		return true, apierrors.NewInternalError(errAsked(FaultError)), delay
	default:
		return s.strikesLocked(FaultClose) != nil, nil, delay
	}
}

func (s *Source) dropsBookmark() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.strikesLocked(FaultDropBookmarks) != nil
}

func errAsked(kind FaultKind) error { return fmt.Errorf("the workload asks for the fault %s", kind) }
