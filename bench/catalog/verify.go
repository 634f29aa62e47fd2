package catalog

import (
	"fmt"

	"github.com/informerbench/informerbench/conformance/delaytest"
	"github.com/informerbench/informerbench/conformance/fifotest"
	"github.com/informerbench/informerbench/conformance/informertest"
	"github.com/informerbench/informerbench/conformance/keepertest"
	"github.com/informerbench/informerbench/conformance/limittest"
	"github.com/informerbench/informerbench/conformance/queuetest"
	"github.com/informerbench/informerbench/conformance/storetest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// BriefEffort is the effort (suite.WithEffort) of verifying before measuring: every case runs,
// the random ones on fewer histories. benchrun verify does all.
const BriefEffort = 0.2

// Verify runs the conformance suite of e's component over it, with e's waivers,
// and returns what suite.Check returns: nil, or an error that joins a
// *suite.Failure per failed case. Use suite.WithObserver to see each result.
func Verify(e Entry, opts ...suite.Option) error {
	opts = append(e.options(), opts...)
	switch e.Component {
	case contract.ComponentStore:
		return storetest.Check(e.NewStore, opts...)
	case contract.ComponentFIFO:
		return fifotest.Check(e.NewFIFO, opts...)
	case contract.ComponentDelay:
		return delaytest.Check(e.NewDelay, opts...)
	case contract.ComponentQueue:
		return queuetest.Check(e.NewQueue, opts...)
	case contract.ComponentLimiter:
		return limittest.Check(e.NewLimiter, opts...)
	case contract.ComponentObjects:
		return keepertest.Check(e.NewKeeper, opts...)
	case contract.ComponentInformer:
		return informertest.Check(e.NewInformer, opts...)
	}
	return fmt.Errorf("%s: no suite for component %q", e.ID(), e.Component)
}

// options returns the options that e's conformance suite needs.
func (e Entry) options() []suite.Option {
	var opts []suite.Option
	if e.FIFOClass != "" {
		opts = append(opts, fifotest.Class(e.FIFOClass))
	}
	if e.Unlocked {
		opts = append(opts, fifotest.Unlocked())
	}
	if e.NewTransformingFIFO != nil {
		opts = append(opts, fifotest.NewTransforming(e.NewTransformingFIFO))
	}
	if e.Granularity > 0 {
		opts = append(opts, delaytest.Granularity(e.Granularity))
	}
	if e.OwnClock {
		opts = append(opts, queuetest.OwnClock())
	}
	if e.NewConfiguredQueue != nil {
		opts = append(opts, queuetest.NewConfigured(e.NewConfiguredQueue))
	}
	if e.MutationDetecting != nil {
		opts = append(opts, informertest.MutationDetecting(e.MutationDetecting))
	}
	for _, w := range e.Waivers {
		opts = append(opts, suite.Waive(w.Clause, w.Reason))
	}
	return opts
}
