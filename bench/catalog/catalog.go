// Package catalog is the one table of everything that can be compared: name, component,
// constructor, description, guarantees, waivers. Nothing registers itself. To add an
// implementation to this project, add a line to tables.go. A program adds its own by one call
// of Extend, before anything reads the catalog; benchcmd.Main does so.
package catalog

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
)

// The constructors, by component. Each may be called by many goroutines at once.
type (
	// NewStore makes a store with the given indexers.
	NewStore = func(contract.Indexers) contract.Store
	// NewFIFO makes a FIFO.
	NewFIFO = func(contract.FIFOConfig) contract.FIFO
	// NewDelay makes a delay heap.
	NewDelay = func() contract.DelayHeap[string]
	// NewQueue makes a delaying queue on a clock.
	NewQueue = func(clock.WithTicker) contract.DelayingQueue[string]
	// NewLimiter makes a rate limiter.
	NewLimiter = func() contract.RateLimiter[string]
	// NewKeeper makes an object keeper.
	NewKeeper = func() contract.ObjectKeeper
	// NewInformer makes an informer over a list/watch source.
	NewInformer = contract.NewInformer
)

// Waiver names a clause that an implementation does not keep, and why. Every
// list, verification and report prints it.
type Waiver struct {
	Clause string
	Reason string
}

// Entry is one implementation. Of the constructors, only that of its component is set.
type Entry struct {
	Component contract.Component
	Name      string
	// Module is the module of the code: "informerbench" or a module path.
	Module string
	// Description is one line: how it works, what it is good at, what it costs.
	Description string
	// Guarantees is one line: what it promises beyond the contract, or less than it.
	Guarantees string
	// Reference marks the entry that the others of its component are compared with.
	Reference bool
	// FIFOClass is the class of a FIFO.
	FIFOClass contract.FIFOClass
	// Unlocked says that a FIFO holds no lock while the process function runs, so that no
	// producer waits for it.
	Unlocked bool
	// Study marks an entry that is there to be studied rather than used: a design that
	// lost, a baseline that is surpassed, a variant of another entry. A brief preset
	// measures it only if it is named.
	Study bool
	// Granularity is the duration to which a delay heap rounds times up; 0 if it keeps
	// times exactly.
	Granularity time.Duration
	// OwnClock says that a queue reads the system's clock and ignores the one that it is
	// given.
	OwnClock bool
	Waivers  []Waiver

	NewStore    NewStore
	NewFIFO     NewFIFO
	NewDelay    NewDelay
	NewQueue    NewQueue
	NewLimiter  NewLimiter
	NewKeeper   NewKeeper
	NewInformer NewInformer
	// Under makes the store that an object keeper is measured under.
	Under NewStore
	// MutationDetecting makes an informer that reports changed objects to found; nil if the
	// informer cannot.
	MutationDetecting func(found func(message string)) contract.NewInformer
	// NewConfiguredQueue makes the same queue with a configuration; nil if the constructor
	// takes none.
	NewConfiguredQueue func(contract.QueueConfig) contract.DelayingQueue[string]
	// NewLimitedQueue makes the same queue on the system's clock with a limiter. It is for a
	// queue without NewConfiguredQueue: without both, its add-rate-limited is measured with the
	// limiter that NewQueue gives it. nil if the constructor takes none.
	NewLimitedQueue func(contract.RateLimiter[string]) contract.DelayingQueue[string]
	// NewTransformingFIFO makes a FIFO with a transformer; nil if it takes none.
	NewTransformingFIFO func(contract.FIFOConfig, contract.TransformFunc) contract.FIFO
}

// ID returns "component/name".
func (e Entry) ID() string { return string(e.Component) + "/" + e.Name }

// All returns every entry, component by component: references first, entries of Extend last.
// The slice belongs to the caller. The first call seals the catalog.
func All() []Entry {
	all := slices.Concat(builtIn(), extra.read())
	slices.SortStableFunc(all, func(a, b Entry) int { return order(a.Component) - order(b.Component) })
	return all
}

// builtIn returns this project's own table.
func builtIn() []Entry {
	return slices.Concat(stores(), fifos(), delays(), queues(), limiters(), informers(), keepers())
}

// components are all components, in the order of lists and reports.
var components = []contract.Component{
	contract.ComponentStore, contract.ComponentFIFO, contract.ComponentDelay,
	contract.ComponentQueue, contract.ComponentLimiter, contract.ComponentInformer,
	contract.ComponentObjects,
}

// order is the place of a component among all; -1 if there is none of that name.
func order(c contract.Component) int { return slices.Index(components, c) }

// Components lists the components in the order of lists and reports. Each has entries.
func Components() []contract.Component { return slices.Clone(components) }

// Lookup finds one entry. The error lists the names that the component has.
func Lookup(c contract.Component, name string) (Entry, error) {
	for _, e := range All() {
		if e.Component == c && e.Name == name {
			return e, nil
		}
	}
	return Entry{}, fmt.Errorf("unknown %s %q: %s", c, name, have(names([]contract.Component{c})))
}

// Select returns the entries of the given components whose names match one of the patterns.
// No components means all, and no patterns means all. A pattern is a glob as in path.Match,
// on the name or on component/name. A component or a pattern that matches nothing is an
// error that lists the valid names.
func Select(components, patterns []string) ([]Entry, error) {
	var wanted []contract.Component
	for _, c := range components {
		if !slices.Contains(Components(), contract.Component(c)) {
			return nil, fmt.Errorf("unknown component %q: %s", c, have(asStrings(Components())))
		}
		wanted = append(wanted, contract.Component(c))
	}
	if len(wanted) == 0 {
		wanted = Components()
	}
	used := make([]bool, len(patterns))
	var out []Entry
	for _, e := range All() {
		if !slices.Contains(wanted, e.Component) {
			continue
		}
		matched := len(patterns) == 0
		for i, p := range patterns {
			ok, err := matches(p, e)
			if err != nil {
				return nil, fmt.Errorf("implementation pattern %q: %w", p, err)
			}
			if ok {
				used[i], matched = true, true
			}
		}
		if matched {
			out = append(out, e)
		}
	}
	if i := slices.Index(used, false); i >= 0 {
		return nil, fmt.Errorf("no implementation matches %q: %s", patterns[i], have(names(wanted)))
	}
	return out, nil
}

func matches(pattern string, e Entry) (bool, error) {
	ok, err := path.Match(pattern, e.Name)
	if ok || err != nil {
		return ok, err
	}
	return path.Match(pattern, e.ID())
}

func names(components []contract.Component) []string {
	var out []string
	for _, e := range All() {
		if slices.Contains(components, e.Component) && !slices.Contains(out, e.Name) {
			out = append(out, e.Name)
		}
	}
	return out
}

func asStrings[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

// have lists the names that an error offers in place of an unknown one.
func have(names []string) string { return "have " + strings.Join(names, ", ") }
