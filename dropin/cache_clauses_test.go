package dropin_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/informerbench/informerbench/conformance/fifotest"
	"github.com/informerbench/informerbench/conformance/informertest"
	"github.com/informerbench/informerbench/conformance/storetest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/dropin/cache"
)

// silent is a provider whose metrics ignore what they are told.
type silent struct{}

func (silent) Set(float64)     {}
func (silent) Observe(float64) {}

func (silent) NewQueuedItemMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return silent{}
}
func (silent) NewProcessingLatencyMetric(cache.InformerNameAndResource) cache.HistogramMetric {
	return silent{}
}
func (silent) NewStoreResourceVersionMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return silent{}
}

// brief is the effort of the suites over what stands in for client-go: the catalog's proofs put
// the code behind it to long ones.
var brief = suite.WithEffort(0.1)

// What the constructors return keeps the contract.
func TestCacheKeepsTheClauses(t *testing.T) {
	t.Parallel()
	t.Run("ThreadSafeStore", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(ix contract.Indexers) contract.Store {
			return cache.NewThreadSafeStore(ix, nil)
		}, brief)
	})
	t.Run("ThreadSafeStore with metrics", func(t *testing.T) {
		t.Parallel()
		id := reserved(t, "clauses")
		storetest.Run(t, func(ix contract.Indexers) contract.Store {
			return cache.NewThreadSafeStore(ix, nil, cache.WithThreadSafeStoreMetrics(id, silent{}))
		}, brief)
	})
	t.Run("DeltaFIFO", func(t *testing.T) {
		t.Parallel()
		transforming := func(cfg contract.FIFOConfig, transform contract.TransformFunc) contract.FIFO {
			return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
				KeyFunction: cfg.KeyFunc, KnownObjects: cfg.KnownObjects, EmitDeltaTypeReplaced: true,
				Transformer: transform,
			})
		}
		fifotest.Run(t, func(cfg contract.FIFOConfig) contract.FIFO {
			return transforming(cfg, nil)
		}, brief, fifotest.NewTransforming(transforming))
	})
	t.Run("RealFIFO", func(t *testing.T) {
		t.Parallel()
		transforming := func(cfg contract.FIFOConfig, transform contract.TransformFunc) contract.FIFO {
			if cfg.KnownObjects == nil {
				cfg.KnownObjects = cache.NewStore(cache.MetaNamespaceKeyFunc)
			}
			return cache.NewRealFIFOWithOptions(
				cache.RealFIFOOptions{KeyFunction: cfg.KeyFunc, KnownObjects: cfg.KnownObjects,
					Transformer: transform})
		}
		fifotest.Run(t, func(cfg contract.FIFOConfig) contract.FIFO { return transforming(cfg, nil) },
			brief, fifotest.Class(contract.InOrder), fifotest.NewTransforming(transforming))
	})
	t.Run("RealFIFO with AtomicEvents", func(t *testing.T) {
		t.Parallel()
		id := reserved(t, "fifo-clauses")
		transforming := func(cfg contract.FIFOConfig, transform contract.TransformFunc) contract.FIFO {
			return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
				KeyFunction: cfg.KeyFunc, AtomicEvents: true, UnlockWhileProcessing: true,
				EmitDeltaTypeBookmark: true, Transformer: transform,
				Identifier: id, MetricsProvider: silent{},
			})
		}
		fifotest.Run(t, func(cfg contract.FIFOConfig) contract.FIFO { return transforming(cfg, nil) },
			brief, fifotest.Class(contract.InOrderAtomic), fifotest.Unlocked(),
			fifotest.NewTransforming(transforming))
	})
	t.Run("SharedIndexInformer", func(t *testing.T) {
		t.Parallel()
		informertest.Run(t, cache.NewSharedIndexInformer, brief)
	})
}

// reserved is a name for metrics, until the test has ended.
func reserved(t *testing.T, name string) cache.InformerNameAndResource {
	t.Helper()
	n, err := cache.NewInformerName(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Release)
	return n.WithResource(corev1.SchemeGroupVersion.WithResource("pods"))
}
