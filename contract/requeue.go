package contract

// ErrRequeue is the error by which the process function of a [KeyedQueue] puts its Deltas
// back. The queue appends them at the end, as AddIfNotPresent does. Where newer Deltas wait
// under their key, it drops them or puts them before those. Pop then returns Err.
//
// client-go had this type until it dropped the readable queue. The module keeps it here
// because v0.37 has none. Clause FIFO-46.
type ErrRequeue struct {
	// Err is the error that Pop returns; nil lets Pop succeed.
	Err error
}

// Error returns the text of Err, or says that Err is nil.
func (e ErrRequeue) Error() string {
	if e.Err == nil {
		return "put back what was popped: no error given"
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e ErrRequeue) Unwrap() error { return e.Err }
