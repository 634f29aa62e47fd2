package measure

// Locks is what an execution trace of one process shows of the waiting for
// sync.Mutex and sync.RWMutex: of the component's locks, of the harness's own (a
// function's name tells them apart), and of no channel, WaitGroup or Cond.
// Durations are in ns. A component without locks shows 0 waits.
type Locks struct {
	// Traced is how much of the measured time the trace covers.
	Traced float64 `json:"tracedNs"`
	// Full reports that the trace ended because it had grown to its largest size.
	Full bool `json:"full,omitempty"`
	// Waits is how often a goroutine had to wait for a lock. Going on are those
	// that the end of the trace cut off: they count with what they had by then.
	Waits   int `json:"waits"`
	GoingOn int `json:"goingOn,omitempty"`
	// Wait is the longest single wait for a lock: from when the goroutine was
	// blocked until it ran with the lock.
	Wait LockTime `json:"wait"`
	// Hold is the longest single hold of a lock that somebody waited for, as an
	// upper bound: a trace shows when such a lock was released, not when it was
	// taken. By is the holder.
	Hold LockTime `json:"hold"`
}

// LockTime is one wait or one hold.
type LockTime struct {
	Ns float64 `json:"ns"`
	By string  `json:"by,omitempty"` // the series whose goroutine it was; "" for one of the component's own, or if its operation began before the trace
	In string  `json:"in,omitempty"` // the function that called Lock or Unlock; "" if it began before the trace
}
