package contract

// ErrRequeue is what the process function of a [KeyedQueue] returns to have the
// Deltas that it was given put back, as AddIfNotPresent would: at the end, and
// not at all if newer ones wait under their key. Pop then returns Err.
//
// client-go had this type until it dropped the readable queue; the module keeps
// it here because v0.37 has none. Clause FIFO-46.
type ErrRequeue struct {
	// Err is what Pop returns; nil lets Pop succeed.
	Err error
}

// Error is the text of Err, or says that there is none.
func (e ErrRequeue) Error() string {
	if e.Err == nil {
		return "put back what was popped: no error given"
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e ErrRequeue) Unwrap() error { return e.Err }
