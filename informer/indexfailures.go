package informer

// How an informer tells a failed IndexFunc from a bug in the store.

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/informerbench/informerbench/contract"
)

// indexFailures notes the errors that the IndexFuncs of a store return during a write.
//
// A store panics if an IndexFunc returns an error. This project's stores panic with an error
// that wraps the IndexFunc's; client-go's store panics with one that quotes it. To recognise
// both, indexFailures wraps each IndexFunc before the store gets it. Any goroutine may call
// the wrapped functions. One goroutine at a time may call attempt.
type indexFailures struct {
	watching atomic.Bool // an attempt is under way
	mu       struct {
		sync.Mutex
		errs []error
	}
}

// around returns the indexers with functions that note their errors. They answer as the
// given ones do.
func (f *indexFailures) around(indexers contract.Indexers) contract.Indexers {
	noting := make(contract.Indexers, len(indexers))
	for name, compute := range indexers {
		if compute == nil {
			noting[name] = nil
			continue
		}
		noting[name] = func(obj any) ([]string, error) {
			values, err := compute(obj)
			if err != nil && f.watching.Load() {
				f.note(err)
			}
			return values, err
		}
	}
	return noting
}

func (f *indexFailures) note(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.errs = append(f.mu.errs, err)
}

// attempt calls write, which writes to the store. It returns nil if write returns. If
// write panics because an IndexFunc returned an error, attempt returns the panic's value.
// Every other panic passes through, and its trace still shows where it began. So
// does runtime.Goexit. A panic of an IndexFunc itself is such a panic, as in client-go.
func (f *indexFailures) attempt(write func()) (failure any) {
	f.watching.Store(true)
	returned := false
	defer func() {
		noted := f.end()
		if returned {
			return
		}
		failure = recover() // nil: runtime.Goexit, which goes on
		if failure != nil && !isFailure(failure, noted) {
			panic(failure)
		}
	}()
	write()
	returned = true
	return nil
}

// end ends an attempt and returns what was noted.
func (f *indexFailures) end() []error {
	f.watching.Store(false)
	f.mu.Lock()
	defer f.mu.Unlock()
	noted := f.mu.errs
	f.mu.errs = nil
	return noted
}

// isFailure reports whether a store panicked because of one of these errors. The panic must
// wrap or quote the error: an error alone may come from a reader that calls Index meanwhile.
func isFailure(panicked any, errs []error) bool {
	said, isError := panicked.(error)
	if _, bug := panicked.(runtime.Error); bug || !isError {
		return false
	}
	for _, err := range errs {
		if errors.Is(said, err) || strings.Contains(said.Error(), err.Error()) {
			return true
		}
	}
	return false
}
