package synthetic

import (
	"fmt"
	"maps"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
)

// armedFault is a fault with its counts so far.
type armedFault struct {
	Fault
	seen   int       // occasions
	struck int       // strikes
	due    time.Time // of the next strike, if the fault goes by time
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
		// Strikes that were due while no occasion came are not made up for.
		late := now.Sub(f.due)
		f.due = f.due.Add((late/f.Every + 1) * f.Every)
	}
	f.struck++
	return true
}

// FaultSchedule decides at each occasion whether a fault strikes, and counts the strikes. A
// Source has one. A server of a Source over a network has another, with kinds of its own.
// Its methods are safe for concurrent use.
type FaultSchedule struct {
	clock clock.PassiveClock

	mu struct {
		sync.Mutex
		faults []armedFault
		struck map[FaultKind]int
		synced bool
	}
}

// NewFaultSchedule arms faults; their times count from now. The faults must be valid.
func NewFaultSchedule(faults []Fault, c clock.PassiveClock) *FaultSchedule {
	s := &FaultSchedule{clock: c}
	s.mu.struck = map[FaultKind]int{}
	start := c.Now()
	for _, f := range faults {
		s.mu.faults = append(s.mu.faults, armedFault{Fault: f, due: start.Add(f.After)})
	}
	return s
}

// Strike counts an occasion of a kind. It returns the fault that strikes, or nil. If
// several strike, it returns the last; all of them count.
func (s *FaultSchedule) Strike(kind FaultKind) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	var hit *Fault
	for i := range s.mu.faults {
		f := &s.mu.faults[i]
		if f.Kind == kind && (s.mu.synced || !f.AfterSync) && f.strikes(s.clock.Now()) {
			hit = &f.Fault
			s.mu.struck[kind]++
		}
	}
	return hit
}

// Synced tells that a watch has caught up, for the faults with AfterSync.
func (s *FaultSchedule) Synced() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.synced = true
}

// Struck returns how often each kind has struck so far. The map belongs to the caller.
func (s *FaultSchedule) Struck() map[FaultKind]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.mu.struck)
}

// eventFault decides about an event that is about to be sent: whether the watch ends
// instead, with which status if any, and how long the event is delayed.
func (s *Source) eventFault() (end bool, status *apierrors.StatusError, delay time.Duration) {
	if len(s.options.Faults) == 0 {
		return false, nil, 0
	}
	if f := s.faults.Strike(FaultDelay); f != nil {
		delay = f.Delay
	}
	switch {
	case s.faults.Strike(FaultGone) != nil:
		// Without the history the 410 is true: a watch from the same version gets it again.
		s.mu.Lock()
		s.mu.history, s.mu.floor = nil, s.mu.version
		s.mu.Unlock()
		return true, apierrors.NewResourceExpired(errAsked(FaultGone).Error()), delay
	case s.faults.Strike(FaultCacheRestart) != nil:
		s.mu.Lock()
		s.mu.cacheFloor = s.mu.version
		s.mu.Unlock()
		return true, nil, delay
	case s.faults.Strike(FaultError) != nil:
		return true, apierrors.NewInternalError(errAsked(FaultError)), delay
	default:
		return s.faults.Strike(FaultClose) != nil, nil, delay
	}
}

func errAsked(kind FaultKind) error {
	return fmt.Errorf("the workload asks for the fault %s", kind)
}
