package synthetic

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// FaultKind is the kind of a failure of a [Source].
type FaultKind string

// The faults, each with its occasion: AfterEvents and EveryEvents count the occasions.
const (
	// FaultGone ends a watch with a 410 ERROR event and forgets the history, so
	// that the client must list again. Occasion: an event about to be sent.
	FaultGone FaultKind = "gone"
	// FaultClose closes a watch without an event, as a load balancer does. Occasion: an
	// event about to be sent; the event itself stays in the history.
	FaultClose FaultKind = "close"
	// FaultError ends a watch with a 500 ERROR event. Occasion: an event about to be sent.
	FaultError FaultKind = "error"
	// FaultDelay delays an event and the events behind it by Delay. Occasion: an event
	// about to be sent.
	FaultDelay FaultKind = "delay"
	// FaultDropBookmarks drops a bookmark, except the one that ends the initial events.
	// Occasion: such a bookmark.
	FaultDropBookmarks FaultKind = "drop-bookmarks"
	// FaultExpireContinue answers a list that continues with 410. Occasion: such a list.
	FaultExpireContinue FaultKind = "expire-continue"
	// FaultTooLarge answers "too large resource version", as a lagging cache does.
	// Occasion: a list or a watch that asks for a version other than "" and "0".
	FaultTooLarge FaultKind = "too-large"
	// FaultListError answers a list with 500. Occasion: a list.
	FaultListError FaultKind = "list-error"
	// FaultWatchRefused answers a watch with 429. Occasion: the start of a watch.
	FaultWatchRefused FaultKind = "watch-refused"
	// FaultCacheRestart restarts the watch cache at the present version, while the storage
	// keeps its history. The watch ends, and each watch from an older version is answered
	// 410, although a list at exactly that version is still served. This happens when a
	// server is restarted and when a custom resource definition changes. Occasion: an event
	// about to be sent; the event itself stays in the history.
	FaultCacheRestart FaultKind = "cache-restart"
	// FaultCacheFilling answers a list at version "0" from the storage, in pages of its
	// limit, as a server does whose watch cache is not filled yet. Occasion: a list at
	// version "0" that has more objects than its limit.
	FaultCacheFilling FaultKind = "cache-filling"
)

// FaultKinds lists the kinds, for messages and checks.
func FaultKinds() []FaultKind {
	return []FaultKind{FaultGone, FaultClose, FaultError, FaultDelay, FaultDropBookmarks,
		FaultExpireContinue, FaultTooLarge, FaultListError, FaultWatchRefused,
		FaultCacheRestart, FaultCacheFilling}
}

// Fault says when a [Source] fails, and how. It strikes by count (AfterEvents, EveryEvents)
// or by time (After, Every), not both. With only a Kind it strikes once, at the first
// occasion.
type Fault struct {
	Kind FaultKind `yaml:"kind"`
	// AfterEvents is the number of occasions before the first strike.
	AfterEvents int `yaml:"after_events,omitempty"`
	// EveryEvents strikes again at each EveryEvents-th occasion after the first strike.
	EveryEvents int `yaml:"every_events,omitempty"`
	// After is when the first strike is due, counted from the source's start. The fault
	// strikes at the first occasion from then on.
	After time.Duration `yaml:"after,omitempty"`
	// Every is the time from one strike's due time to the next.
	Every time.Duration `yaml:"every,omitempty"`
	// Count is the most strikes; 0 means one, or no limit if EveryEvents or Every is given.
	Count int `yaml:"count,omitempty"`
	// AfterSync leaves out what comes before a watch has caught up: a client can then sync once,
	// and the faults strike it later.
	AfterSync bool `yaml:"after_sync,omitempty"`
	// Delay is the length of the fault's delay.
	Delay time.Duration `yaml:"delay,omitempty"`
}

// The bounds of a fault's numbers: they are there to find a number in the wrong field.
const (
	mostOccasions = math.MaxInt32
	longestWait   = 24 * time.Hour
)

// FaultProblem is one mistake in a Fault.
type FaultProblem struct {
	Field   string // as in YAML: "every_events"
	Problem string // "-1 is out of range"
	Allowed string // "0 to 2147483647"
}

// Error gives "FIELD: PROBLEM: use ALLOWED".
func (p FaultProblem) Error() string {
	return fmt.Sprintf("%s: %s: use %s", p.Field, p.Problem, p.Allowed)
}

// DelayedFaultKinds lists the kinds that have a Delay.
func DelayedFaultKinds() []FaultKind { return []FaultKind{FaultDelay} }

// Validate reports every mistake of a fault of a Source as FaultProblems, joined, or nil.
func (f Fault) Validate() error {
	var errs []error
	for _, p := range f.Problems(FaultKinds(), DelayedFaultKinds()) {
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

// Problems returns every mistake of a fault whose kind is to be one of kinds. delayed are
// the kinds that need a Delay; the others must have none.
func (f Fault) Problems(kinds, delayed []FaultKind) (problems []FaultProblem) {
	add := func(field, problem, allowed string) {
		problems = append(problems, FaultProblem{field, problem, allowed})
	}
	if !slices.Contains(kinds, f.Kind) {
		add("kind", fmt.Sprintf("unknown fault %q", f.Kind), "one of "+listed(kinds))
	}
	for _, n := range []struct {
		field string
		value int
	}{{"after_events", f.AfterEvents}, {"every_events", f.EveryEvents}, {"count", f.Count}} {
		if n.value < 0 || n.value > mostOccasions {
			add(n.field, fmt.Sprintf("%d is out of range", n.value), fmt.Sprintf("0 to %d", mostOccasions))
		}
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"after", f.After}, {"every", f.Every}, {"delay", f.Delay}} {
		if d.value < 0 || d.value > longestWait {
			add(d.field, fmt.Sprintf("%v is out of range", d.value), fmt.Sprintf("0s to %v", longestWait))
		}
	}
	if (f.AfterEvents != 0 || f.EveryEvents != 0) && (f.After != 0 || f.Every != 0) {
		add("kind", "the fault counts both events and time",
			"after_events and every_events, or after and every")
	}
	if (f.Delay > 0) != slices.Contains(delayed, f.Kind) {
		add("delay", fmt.Sprintf("a %s fault with a delay of %v", f.Kind, f.Delay),
			"a delay above 0 with kind "+listed(delayed)+", and none with the others")
	}
	return problems
}

func listed(kinds []FaultKind) string {
	return joined(kinds, func(k FaultKind) string { return string(k) })
}

func joined[T any](list []T, name func(T) string) string {
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = name(v)
	}
	return strings.Join(names, ", ")
}
