// Package witness judges the calls that an informer makes to an event handler: whether they
// are a legal history of the objects, one call after the other.
//
// A [View] holds the rules. It does not need the server's state, so it also works in a program
// that runs against a real API server, as the handler of e2e does. Each problem names its clause
// of package contract. Package informertest adds rules that need the source's history.
//
// A call costs one lookup and one write of a map. A View keeps one entry for each live
// object.
package witness

import (
	"fmt"
	"maps"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kind is the kind of a call of a handler.
type Kind string

// The kinds of calls.
const (
	Added     Kind = "add"
	Updated   Kind = "update"
	Deleted   Kind = "delete"
	Tombstone Kind = "tombstone" // OnDelete with a DeletedFinalStateUnknown
)

// Call is one call of a handler. For a deletion New is the deleted object. Only updates
// have an Old.
type Call[T metav1.Object] struct {
	Kind     Kind
	Key      string
	Old, New T
}

// Problem is a breach of a clause.
type Problem struct {
	Clause, Text string
}

func (p Problem) String() string { return p.Clause + ": " + p.Text }

// View is the state that a handler knows from its calls so far. One goroutine may use it at
// a time.
type View[T metav1.Object] struct {
	same    func(a, b T) bool
	objects map[string]T
	lacking map[string]bool // keys of Lack
}

// NewView returns an empty view. same reports whether two objects are equal. By it the view
// decides whether the old object of an update is the one that the handler was told last.
func NewView[T metav1.Object](same func(a, b T) bool) *View[T] {
	return &View[T]{same: same, objects: map[string]T{}, lacking: map[string]bool{}}
}

// Lack says that the store does not hold an object that the source has, so that one deletion may
// come without an add (INFORMER-37).
func (v *View[T]) Lack(key string) { v.lacking[key] = true }

// Tell advances the view by a call and returns the clauses that the call breaks.
func (v *View[T]) Tell(c Call[T]) (problems []Problem) {
	problem := func(clause, format string, args ...any) {
		problems = append(problems, Problem{clause, fmt.Sprintf(format, args...)})
	}
	seen, known := v.objects[c.Key]
	switch {
	case c.Kind == Added && known:
		problem("INFORMER-3", "it knows that object at %d", Version(seen))
	case c.Kind == Deleted && !known && v.lacking[c.Key]:
	case c.Kind != Added && !known:
		problem("INFORMER-3", "it knows no such object")
	case c.Kind == Updated && !v.same(c.Old, seen):
		problem("INFORMER-5", "the old object is not as it was given before, at %d", Version(seen))
	case c.Kind == Updated && Version(c.New) < Version(seen):
		problem("INFORMER-5", "it has a newer one, at %d", Version(seen))
	case c.Kind == Deleted && Version(c.New) < Version(seen):
		problem("INFORMER-6", "it was given a newer state, at %d", Version(seen))
	case c.Kind == Tombstone && !v.same(c.New, seen):
		problem("INFORMER-7", "the object is not the one last known, at %d", Version(seen))
	}
	if c.Kind == Added || c.Kind == Updated {
		v.objects[c.Key] = c.New
	} else {
		delete(v.objects, c.Key)
		delete(v.lacking, c.Key)
	}
	return problems
}

// Objects returns a copy of the state: the last object that the handler was told, by key.
func (v *View[T]) Objects() map[string]T { return maps.Clone(v.objects) }

// Version returns an object's resourceVersion as a number, 0 if it is none.
func Version(obj metav1.Object) uint64 {
	v, err := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return v
}
