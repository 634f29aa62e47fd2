package fifotest_test

// client-go's own FIFOs.

import (
	"testing"

	"go.uber.org/goleak"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/fifotest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type noObjects struct{}

func (noObjects) ListKeys() []string                 { return nil }
func (noObjects) GetByKey(string) (any, bool, error) { return nil, false, nil }

func newDeltaFIFO(cfg contract.FIFOConfig, transform contract.TransformFunc) contract.FIFO {
	return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KeyFunction: cfg.KeyFunc, KnownObjects: cfg.KnownObjects, EmitDeltaTypeReplaced: true,
		Transformer: transform,
	})
}

// realFIFO constructs RealFIFO with the KnownObjects that its mode requires.
func realFIFO(atomicEvents, unlock bool) func(contract.FIFOConfig,
	contract.TransformFunc) contract.FIFO {
	return func(cfg contract.FIFOConfig, transform contract.TransformFunc) contract.FIFO {
		switch {
		case atomicEvents:
			cfg.KnownObjects = nil
		case cfg.KnownObjects == nil:
			cfg.KnownObjects = noObjects{}
		}
		return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
			KeyFunction: cfg.KeyFunc, KnownObjects: cfg.KnownObjects, Transformer: transform,
			AtomicEvents: atomicEvents, UnlockWhileProcessing: unlock,
		})
	}
}

var deltaFIFOWaiver = fifotest.Waive("FIFO-18",
	"client-go's DeltaFIFO closes the channel of HasSyncedChecker before process is called for the "+
		"last initial item (tools/cache/delta_fifo.go, Pop)")

var unlockedWaiver = fifotest.Waive("FIFO-60",
	"client-go's RealFIFO counts the end of any process as one of the initial list popped, also if "+
		"that list came while it ran (tools/cache/the_real_fifo.go, Pop)")

func TestUpstream(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name      string
		construct func(contract.FIFOConfig, contract.TransformFunc) contract.FIFO
		opts      []fifotest.Option
	}{
		{"DeltaFIFO", newDeltaFIFO, []fifotest.Option{deltaFIFOWaiver}},
		{"RealFIFO", realFIFO(false, false), []fifotest.Option{fifotest.Class(contract.InOrder)}},
		{"RealFIFO-atomic", realFIFO(true, false),
			[]fifotest.Option{fifotest.Class(contract.InOrderAtomic)}},
		{"RealFIFO-atomic-unlock", realFIFO(true, true),
			[]fifotest.Option{fifotest.Class(contract.InOrderAtomic), unlockedWaiver}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			plain := func(cfg contract.FIFOConfig) contract.FIFO { return tc.construct(cfg, nil) }
			fifotest.Run(t, plain, append(tc.opts, suite.WithEffort(0.2),
				fifotest.NewTransforming(tc.construct))...)
		})
	}
}
