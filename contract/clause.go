package contract

import (
	_ "embed" // the clauses
	"fmt"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"
)

// Component names a kind of exchangeable part. It is the first segment of every benchmark's
// name.
type Component string

// The components that the catalog holds.
const (
	ComponentStore   Component = "store"
	ComponentFIFO    Component = "fifo"
	ComponentDelay   Component = "delay"
	ComponentQueue   Component = "queue"
	ComponentLimiter Component = "limiter"
	// ComponentInformer is the whole informer, from list and watch to the handlers.
	ComponentInformer Component = "informer"
	// ComponentObjects is how a cache keeps objects: an ObjectKeeper.
	ComponentObjects Component = "objects"
)

// Capability names the capability that a clause is about. Core clauses hold for every
// implementation of the component. The others hold for implementations that have the
// interface or the class named beside the constant.
type Capability string

// The capabilities that clauses are grouped by.
const (
	CapCore            Capability = "core"
	CapTransaction     Capability = "transaction"      // Transactor
	CapResourceVersion Capability = "resource-version" // ResourceVersioner, ObjectDeleter
	CapAppend          Capability = "append"           // Appender
	CapCoalescing      Capability = "coalescing"       // FIFOClass Coalescing
	CapInOrder         Capability = "in-order"         // FIFOClass InOrder and InOrderAtomic
	CapAtomic          Capability = "atomic"           // FIFOClass InOrderAtomic
	CapBatch           Capability = "batch"            // BatchPopper
	CapKeyedQueue      Capability = "keyed-queue"      // KeyedQueue
	CapTransform       Capability = "transform"        // cache.TransformingStore
	// FIFOs that claim it: no lock is held while process runs
	CapUnlocked     Capability = "unlocked"
	CapRateLimiting Capability = "rate-limiting" // RateLimitingQueue
	CapPriority     Capability = "priority"      // PriorityQueue
	CapPausable     Capability = "pausable"      // Pausable
	CapConfigured   Capability = "configured"    // queues that are made with a QueueConfig
	// CapExactTime marks a heap that keeps times exactly.
	CapExactTime Capability = "exact-time"
	// CapGranular marks a heap that rounds times up to a granularity that it states, as a
	// timing wheel does. It has these clauses in place of those of CapExactTime.
	CapGranular Capability = "granular-time"
	// CapCountedWork marks a heap that counts the steps that its operations take.
	CapCountedWork  Capability = "counted-work"
	CapAddMany      Capability = "add-many"      // BatchDelayHeap
	CapRemove       Capability = "remove"        // RemovingDelayHeap
	CapArrivalOrder Capability = "arrival-order" // ArrivalOrdered
	// CapMutationDetection marks an informer that reports objects that were changed after it
	// handed them out.
	CapMutationDetection Capability = "mutation-detection"
)

// Clause is one numbered rule of the contract.
type Clause struct {
	ID         string     `json:"id"`    // "STORE-7"
	Component  Component  `json:"-"`     // the component that must keep it
	Capability Capability `json:"about"` // the capability that it is about
	Rule       string     `json:"rule"`  // one sentence
	// where the rule comes from: upstream behaviour, issue, paper
	Source string `json:"source"`
}

//go:embed clauses.yaml
var clausesYAML []byte

// clauses are read when they are first asked for: a program that only runs an informer never asks.
var clauses = sync.OnceValue(func() (all []Clause) {
	if err := yaml.UnmarshalStrict(clausesYAML, &all); err != nil {
		panic(fmt.Sprintf("contract: clauses.yaml: %v", err))
	}
	of := map[string]Component{"STORE": ComponentStore, "FIFO": ComponentFIFO,
		"DELAY": ComponentDelay, "QUEUE": ComponentQueue, "LIMIT": ComponentLimiter,
		"INFORMER": ComponentInformer, "OBJECT": ComponentObjects}
	for i := range all {
		prefix, _, _ := strings.Cut(all[i].ID, "-")
		all[i].Component = of[prefix]
	}
	return all
})

// String returns the clause as messages quote it: its number and its rule.
func (c Clause) String() string { return c.ID + ": " + c.Rule }

// Clauses returns every clause of the contract in the order of their numbers,
// component by component. The slice belongs to the caller.
func Clauses() []Clause { return slices.Clone(clauses()) }

// ClausesOf returns the clauses of one component.
func ClausesOf(c Component) []Clause {
	return slices.DeleteFunc(Clauses(), func(cl Clause) bool { return cl.Component != c })
}

// LookupClause finds a clause by its number, such as "STORE-7". The error names
// the numbers that the component has.
func LookupClause(id string) (Clause, error) {
	all := Clauses()
	if i := slices.IndexFunc(all, func(c Clause) bool { return c.ID == id }); i >= 0 {
		return all[i], nil
	}
	prefix, _, _ := strings.Cut(id, "-")
	var have []string
	for _, c := range all {
		if strings.HasPrefix(c.ID, prefix+"-") {
			have = append(have, c.ID)
		}
	}
	if len(have) == 0 {
		return Clause{}, fmt.Errorf(
			"unknown clause %q: numbers start with STORE-, FIFO-, DELAY-, QUEUE-, LIMIT- or INFORMER-", id)
	}
	return Clause{}, fmt.Errorf("unknown clause %q: have %s to %s", id, have[0], have[len(have)-1])
}
