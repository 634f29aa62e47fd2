package informer

// How an informer tells an IndexFunc that fails from a bug.

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/informerbench/informerbench/contract"
)

// indexFailures knows which errors the IndexFuncs of an informer's store have returned
// during a write. A store panics then, each in its own words: ours with an error that wraps
// the IndexFunc's, client-go's with one that quotes it. So the functions are wrapped before
// any store gets them. Any goroutine may call them; attempt is for one at a time.
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

// attempt calls write, which writes to the store. It returns nil if write has returned, and
// what write panicked with if that is the failure of an IndexFunc. Every other panic goes
// on, above the stack on which it arose, and so does runtime.Goexit: those are bugs. An
// IndexFunc that panics itself is one too, as in client-go.
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

// isFailure reports whether a panic is of a store that met one of these errors. Readers that
// call Index may have met one meanwhile, so that there are errors is not enough.
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
