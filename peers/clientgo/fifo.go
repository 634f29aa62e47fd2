package clientgo

import (
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// NewDeltaFIFO returns client-go's DeltaFIFO, emitting Replaced deltas as its
// informers have it do.
func NewDeltaFIFO(cfg contract.FIFOConfig) contract.FIFO {
	return NewTransformingDeltaFIFO(cfg, nil)
}

// NewTransformingDeltaFIFO is NewDeltaFIFO with a transformer.
func NewTransformingDeltaFIFO(cfg contract.FIFOConfig,
	transformer contract.TransformFunc) contract.FIFO {
	return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KeyFunction:           cfg.KeyFunc,
		KnownObjects:          cfg.KnownObjects,
		EmitDeltaTypeReplaced: true,
		Transformer:           transformer,
	})
}

// RealFIFOMode selects one of the ways in which client-go runs its RealFIFO.
type RealFIFOMode int

// The modes of RealFIFO, in the order in which its feature gates came.
const (
	// RealFIFOPlain: one event per object on Replace (InOrderInformers, 1.33).
	RealFIFOPlain RealFIFOMode = iota
	// RealFIFOAtomic: one ReplacedAll event (AtomicFIFO, 1.36).
	RealFIFOAtomic
	// RealFIFOUnlocked: atomic, and the lock is released while the consumer
	// works (UnlockWhileProcessingFIFO, 1.36); client-go's default since.
	RealFIFOUnlocked
)

// NewRealFIFO returns a constructor of client-go's RealFIFO in the given mode.
// RealFIFO panics without known objects in the plain mode and with them in the
// atomic ones: the constructor gives it an empty view, or none.
func NewRealFIFO(mode RealFIFOMode) func(contract.FIFOConfig) contract.FIFO {
	transforming := NewTransformingRealFIFO(mode)
	return func(cfg contract.FIFOConfig) contract.FIFO { return transforming(cfg, nil) }
}

// NewTransformingRealFIFO is NewRealFIFO with a transformer.
func NewTransformingRealFIFO(mode RealFIFOMode) func(contract.FIFOConfig,
	contract.TransformFunc) contract.FIFO {
	return func(cfg contract.FIFOConfig, transformer contract.TransformFunc) contract.FIFO {
		opts := cache.RealFIFOOptions{
			KeyFunction:           cfg.KeyFunc,
			KnownObjects:          cfg.KnownObjects,
			Transformer:           transformer,
			AtomicEvents:          mode >= RealFIFOAtomic,
			UnlockWhileProcessing: mode == RealFIFOUnlocked,
		}
		switch {
		case opts.AtomicEvents:
			opts.KnownObjects = nil
		case opts.KnownObjects == nil:
			opts.KnownObjects = cache.NewStore(cache.MetaNamespaceKeyFunc)
		}
		return cache.NewRealFIFOWithOptions(opts)
	}
}
