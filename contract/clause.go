package contract

import (
	"fmt"
	"slices"
	"strings"
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
	CapConfigured   Capability = "configured"    // queues that are made with a QueueConfig
)

// Clause is one numbered rule of the contract.
type Clause struct {
	ID         string     // "STORE-7"
	Component  Component  // the component that must keep it
	Capability Capability // the capability that it is about
	Rule       string     // one sentence
	Source     string     // where the rule comes from: upstream behaviour, issue, paper
}

// String returns the clause as messages quote it: its number and its rule.
func (c Clause) String() string { return c.ID + ": " + c.Rule }

// Clauses returns every clause of the contract in the order of their numbers,
// component by component. The slice belongs to the caller.
func Clauses() []Clause {
	return slices.Concat(storeClauses, fifoClauses, delayClauses, queueClauses, limiterClauses,
		informerClauses)
}

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
