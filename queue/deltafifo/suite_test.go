package deltafifo_test

import (
	"testing"

	"github.com/informerbench/informerbench/conformance/fifotest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

type suiteConstruct func(contract.FIFOConfig, deltafifo.Options) contract.FIFO

// suiteFIFOs are Coalescing and InOrder. Small batches end within every case.
var suiteFIFOs = []struct {
	name           string
	class          contract.FIFOClass
	opts           deltafifo.Options
	suiteConstruct suiteConstruct
}{
	{"Coalescing", contract.Coalescing, deltafifo.Options{}, newCoalescing},
	{"Coalescing-batches-of-3", contract.Coalescing, deltafifo.Options{MaxBatch: 3}, newCoalescing},
	{"InOrder", contract.InOrder, deltafifo.Options{}, newInOrder},
	{"InOrder-batches-of-3", contract.InOrder, deltafifo.Options{MaxBatch: 3}, newInOrder},
	{"InOrder-atomic", contract.InOrderAtomic, deltafifo.Options{Atomic: true}, newInOrder},
	{"InOrder-repeated-keys", contract.InOrderAtomic,
		deltafifo.Options{Atomic: true, RepeatKeys: true}, newInOrder},
}

func newCoalescing(cfg contract.FIFOConfig, opts deltafifo.Options) contract.FIFO {
	return deltafifo.NewCoalescing(cfg, opts)
}

func newInOrder(cfg contract.FIFOConfig, opts deltafifo.Options) contract.FIFO {
	return deltafifo.NewInOrder(cfg, opts)
}

func TestIntakesKeepTheClauses(t *testing.T) {
	t.Parallel()
	for _, v := range suiteFIFOs {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			options := []fifotest.Option{
				fifotest.Class(v.class), fifotest.Unlocked(), suite.WithEffort(0.2),
				fifotest.NewTransforming(func(cfg contract.FIFOConfig, f contract.TransformFunc) contract.FIFO {
					opts := v.opts
					opts.Transformer = f
					return v.suiteConstruct(cfg, opts)
				}),
			}
			if v.opts.MaxBatch != 0 {
				options = append(options, fifotest.Waive("FIFO-62", "MaxBatch is below its bound"))
			}
			fifotest.Run(t, func(cfg contract.FIFOConfig) contract.FIFO {
				return v.suiteConstruct(cfg, v.opts)
			}, options...)
		})
	}
}

func FuzzCoalescing(f *testing.F) {
	fifotest.Fuzz(f, func(cfg contract.FIFOConfig) contract.FIFO {
		return newCoalescing(cfg, deltafifo.Options{})
	})
}

func FuzzInOrder(f *testing.F) {
	fifotest.Fuzz(f, func(cfg contract.FIFOConfig) contract.FIFO {
		return newInOrder(cfg, deltafifo.Options{})
	},
		fifotest.Class(contract.InOrder))
}
