package mutants

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"

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

// Mutant is one broken implementation. The constructor of its component is set;
// it may be called by many goroutines at once.
type Mutant struct {
	Component contract.Component
	// Name is unique within the component.
	Name string
	// Mistake is one line: what was done, or forgotten.
	Mistake string
	// Clauses are the numbers of those that must catch it, each by itself. Others
	// may catch it too.
	Clauses []string
	// Link is where the mistake was made in the field; "" if it is made up.
	Link string
	// Hangs says that the mistake shows as a call that never returns, which suite.Guard
	// finds and nothing else.
	Hangs bool
	// FIFOClass is the class that a FIFO claims to be.
	FIFOClass contract.FIFOClass
	// Granularity is what a delay heap claims to round times up to; 0 if it claims to
	// keep them.
	Granularity time.Duration
	// Steps reads how many steps a delay heap has taken; nil if it does not count.
	Steps func(contract.DelayHeap[string]) uint64
	// Unlocked says that a FIFO claims that producers never wait for process.
	Unlocked bool

	NewStore   func(contract.Indexers) contract.Store
	NewFIFO    func(contract.FIFOConfig) contract.FIFO
	NewDelay   func() contract.DelayHeap[string]
	NewQueue   func(clock.WithTicker) contract.DelayingQueue[string]
	NewLimiter func() contract.RateLimiter[string]
	NewKeeper  func() contract.ObjectKeeper
	// NewConfiguredQueue is set for queues whose mistake is in what they do with their
	// configuration.
	NewConfiguredQueue func(contract.QueueConfig) contract.DelayingQueue[string]
	// NewInformer is set for informers.
	NewInformer contract.NewInformer
	// MutationDetecting is set for informers whose mistake is in how they look for changed
	// objects.
	MutationDetecting func(found func(message string)) contract.NewInformer
	// NewTransformingFIFO is set for FIFOs whose mistake is in how they transform.
	NewTransformingFIFO func(contract.FIFOConfig, contract.TransformFunc) contract.FIFO
}

// ID is component/name.
func (m Mutant) ID() string { return string(m.Component) + "/" + m.Name }

// All returns every mutant, component by component. The slice belongs to the caller.
func All() []Mutant {
	return slices.Concat(Stores(), FIFOs(), Heaps(), Queues(), Limiters(), Informers(), Keepers())
}

// Check runs the suite of the mutant's component over it, as that suite's Check
// does. The error names what was caught; nil means that nothing was.
func (m Mutant) Check(opts ...suite.Option) error {
	switch m.Component {
	case contract.ComponentStore:
		return storetest.Check(m.NewStore, opts...)
	case contract.ComponentFIFO:
		if m.NewTransformingFIFO != nil {
			opts = append(slices.Clone(opts), fifotest.NewTransforming(m.NewTransformingFIFO))
		}
		if m.Unlocked {
			opts = append(slices.Clone(opts), fifotest.Unlocked())
		}
		return fifotest.Check(m.NewFIFO, append(slices.Clone(opts), fifotest.Class(m.FIFOClass))...)
	case contract.ComponentDelay:
		if m.Granularity > 0 {
			opts = append(slices.Clone(opts), delaytest.Granularity(m.Granularity))
		}
		if m.Steps != nil {
			opts = append(slices.Clone(opts), delaytest.CountedWork(m.Steps, delaytest.LogSteps(4)))
		}
		return delaytest.Check(m.NewDelay, opts...)
	case contract.ComponentQueue:
		if m.NewConfiguredQueue != nil {
			opts = append(slices.Clone(opts), queuetest.NewConfigured(m.NewConfiguredQueue))
		}
		return queuetest.Check(m.NewQueue, opts...)
	case contract.ComponentLimiter:
		return limittest.Check(m.NewLimiter, opts...)
	case contract.ComponentObjects:
		return keepertest.Check(m.NewKeeper, opts...)
	case contract.ComponentInformer:
		if m.MutationDetecting != nil {
			opts = append(slices.Clone(opts), informertest.MutationDetecting(m.MutationDetecting))
		}
		for _, clause := range brokenByClientGo {
			if !slices.Contains(m.Clauses, clause) {
				opts = append(slices.Clone(opts),
					informertest.Waive(clause,
						"client-go's informer, which the mutants are made of, does not keep it"))
			}
		}
		return informertest.Check(m.NewInformer, opts...)
	}
	return fmt.Errorf("%s: no suite for component %q", m.ID(), m.Component)
}

// brokenByClientGo are the clauses that client-go's informer does not keep.
var brokenByClientGo = []string{"INFORMER-31", "INFORMER-33", "INFORMER-36"}

// caseTimeout bounds one case. A case that gets no further gives up after a tenth of
// it, and rapid has a quarter of it to shrink what it found.
const caseTimeout = 10 * time.Second

// Where the real mistakes were made. GitHub leads from the number of an issue to
// the pull request of that number too.
const (
	inKubernetes        = "https://github.com/kubernetes/kubernetes/issues/"
	inControllerRuntime = "https://github.com/kubernetes-sigs/controller-runtime/issues/"
	inFabric8           = "https://github.com/fabric8io/kubernetes-client/issues/"
)

// real notes where the mistake was made.
func (m Mutant) real(where, number string) Mutant {
	m.Link = where + number
	return m
}

// hangs notes that the mistake shows as a call that does not return.
func (m Mutant) hangs() Mutant {
	m.Hangs = true
	return m
}

// mutant fills in what all have; clauses are separated by spaces.
func mutant(c contract.Component, name, mistake, clauses string) Mutant {
	return Mutant{Component: c, Name: name, Mistake: mistake, Clauses: strings.Fields(clauses)}
}
