package record

// Locks is the result of an execution trace of one process: the waits for sync.Mutex and
// sync.RWMutex, not for channels, WaitGroups or Conds. It covers the component's locks and
// the harness's own; a function's name tells them apart. Durations are in ns. A component
// without locks has 0 waits.
type Locks struct {
	// Traced is the part of the measured time that the trace covers.
	Traced float64 `json:"tracedNs"`
	// Full reports that the trace ended because it reached its largest size.
	Full bool `json:"full,omitempty"`
	// Waits counts the times that a goroutine had to wait for a lock. GoingOn of them had
	// not ended at the end of the trace; they count with their time until then.
	Waits   int `json:"waits"`
	GoingOn int `json:"goingOn,omitempty"`
	// Wait is the longest single wait for a lock: from the moment the goroutine blocked
	// until it ran with the lock.
	Wait LockTime `json:"wait"`
	// Hold is an upper bound of the longest single hold of a lock that a goroutine waited
	// for. A trace shows when such a lock was released, not when it was taken. By is the
	// holder.
	Hold LockTime `json:"hold"`
}

// LockTime is one wait or one hold.
type LockTime struct {
	Ns float64 `json:"ns"`
	// the goroutine's series; "" for a goroutine of the component, or if its operation began before
	// the trace
	By string `json:"by,omitempty"`
	// the function that called Lock or Unlock; "" if it began before the trace
	In string `json:"in,omitempty"`
}
