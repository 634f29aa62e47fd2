package storetest

import (
	"runtime/debug"
	"sync"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/core/contract"
)

// together runs the functions at once, each on a goroutine of its own, and waits for all. A
// panic in one fails the case instead of ending the process. They may call t.Errorf but not
// t.Fatalf.
func together(t *suite.T, functions ...func()) {
	var wg sync.WaitGroup
	for _, f := range functions {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("panic: %v\n%s", p, debug.Stack())
				}
			}()
			f()
		})
	}
	wg.Wait()
}

// transactor skips the case if the store has no Transaction.
func transactor(t *suite.T, s contract.Store) contract.Transactor {
	b, ok := s.(contract.Transactor)
	if !ok {
		t.Skipf("no Transaction")
	}
	return b
}
