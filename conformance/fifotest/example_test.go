package fifotest_test

import (
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/fifotest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// neverReady is client-go's DeltaFIFO with one mistake.
type neverReady struct{ contract.FIFO }

func (neverReady) HasSynced() bool { return false }

// A broken FIFO is named by the clause that it breaks.
func ExampleCheck() {
	err := fifotest.Check(func(cfg contract.FIFOConfig) contract.FIFO {
		return neverReady{cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
			KeyFunction: cfg.KeyFunc, KnownObjects: cfg.KnownObjects, EmitDeltaTypeReplaced: true,
		})}
	}, suite.Only("FIFO-15"))
	var failure *suite.Failure
	if errors.As(err, &failure) {
		fmt.Println(failure.Clause.ID, failure.Case)
	}
	// Output: FIFO-15 empty-first-replace
}
