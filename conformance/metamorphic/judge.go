package metamorphic

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// problem is a difference between a store's answer and the model's.
type problem struct {
	clause string
	text   string
}

func problemf(clause, format string, args ...any) *problem {
	return &problem{clause, fmt.Sprintf(format, args...)}
}

// scales compare the objects or keys that a store returned with those that it must return,
// in time linear in both. One goroutine owns them.
type scales struct {
	objects []int32        // by the objects' ids; all 0 between two comparisons
	number  map[string]int // the number of each key that a history may use
	keys    []int32        // by the keys' numbers; all 0 between two comparisons
}

func newScales(h history) *scales {
	s := &scales{objects: make([]int32, h.objects), number: make(map[string]int, len(h.keys)),
		keys: make([]int32, len(h.keys))}
	for i, key := range h.keys {
		s.number[key] = i
	}
	return s
}

// weighObjects returns how got differs from want as a multiset, or "" if they are equal.
func (s *scales) weighObjects(got []any, want []*object) string {
	for _, o := range want {
		s.objects[o.id]++
	}
	same := len(got) == len(want)
	for _, g := range got {
		o := objectOf(g)
		if o == nil || o.stored != g {
			same = false // an object of no history, or a copy
			continue
		}
		s.objects[o.id]--
		same = same && s.objects[o.id] >= 0
	}
	if same {
		return ""
	}
	for _, o := range want {
		s.objects[o.id] = 0
	}
	for _, g := range got {
		if o := objectOf(g); o != nil {
			s.objects[o.id] = 0
		}
	}
	return difference(texts(got, nameOf), texts(want, (*object).name))
}

// weighKeys is weighObjects for keys.
func (s *scales) weighKeys(got, want []string) string {
	for _, k := range want {
		s.keys[s.number[k]]++
	}
	same := len(got) == len(want)
	for _, k := range got {
		n, ok := s.number[k]
		if !ok {
			same = false
			continue
		}
		s.keys[n]--
		same = same && s.keys[n] >= 0
	}
	if same {
		return ""
	}
	clear(s.keys)
	return difference(got, want)
}

// nameOf names an object that a store returned. Any other value is printed with its type.
func nameOf(got any) string {
	o := objectOf(got)
	switch {
	case got == nil:
		return "nil"
	case o == nil:
		return fmt.Sprintf("%T(%v)", got, got)
	case o.stored != got:
		return "a copy of " + o.name()
	}
	return o.name()
}

func texts[T any](of []T, text func(T) string) []string {
	out := make([]string, len(of))
	for i, v := range of {
		out[i] = text(v)
	}
	return out
}

// atMost is how many names a difference lists.
const atMost = 8

// difference describes which elements are missing from got and which are too many, as
// multisets.
func difference(got, want []string) string {
	count := map[string]int{}
	for _, w := range want {
		count[w]++
	}
	var extra, missing []string
	for _, g := range got {
		if count[g]--; count[g] < 0 {
			extra = append(extra, g)
		}
	}
	for _, w := range want {
		if count[w] > 0 {
			count[w]--
			missing = append(missing, w)
		}
	}
	var parts []string
	if len(missing) > 0 {
		parts = append(parts, "lacks "+some(missing))
	}
	if len(extra) > 0 {
		parts = append(parts, "has "+some(extra)+" too much")
	}
	if len(parts) == 0 {
		return fmt.Sprintf("gave %s in another order than %s", some(got), some(want))
	}
	return fmt.Sprintf("gave %d where %d are right: %s", len(got), len(want),
		strings.Join(parts, ", "))
}

func some(names []string) string {
	if len(names) > atMost {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:atMost], " "), len(names)-atMost)
	}
	return strings.Join(names, " ")
}

// sameSet returns how got differs from the sorted values, in any order; "" if it does not.
func sameSet(got, sorted []string) string {
	if own := slices.Sorted(slices.Values(got)); !slices.Equal(own, sorted) {
		return difference(quoted(got), quoted(sorted))
	}
	return ""
}

// quoted quotes the values, so that an empty one can be seen.
func quoted(values []string) []string {
	return texts(values, func(v string) string { return fmt.Sprintf("%q", v) })
}

// overwrite clears a returned slice up to its capacity, as its owner may: append could
// write there.
func overwrite[T any](got []T) {
	clear(got[:cap(got)])
}

// ended judges how a call ended: the value it panicked with, if it did, and its error.
func ended(op *operation, how outcome, panicked bool, value any, err error) *problem {
	m := methods[op.kind]
	switch how {
	case panics, passesOn:
		if !panicked {
			return problemf("STORE-27", "%s returned, where an IndexFunc fails and it must panic", m.name)
		}
		if _, own := value.(errIndex); how == passesOn && !own {
			return problemf("STORE-27", "%s panics with %v, and not with what the IndexFunc panicked with",
				m.name, value)
		}
		return nil
	}
	switch {
	case panicked:
		return problemf(m.clause, "%s panics: %v", m.name, value)
	case how == errs && err == nil:
		return problemf(m.clause, "%s gave no error", m.name)
	case how == returns && err != nil:
		return problemf(m.clause, "%s gave the error %v", m.name, err)
	}
	return nil
}

// endedAsk is ended for Index, whose IndexFunc may fail on the object that Index is given.
func endedAsk(op *operation, how outcome, panicked bool, value any, err error) *problem {
	_, own := value.(errIndex)
	switch {
	case how == passesOn && (!panicked || !own):
		return problemf("STORE-31", "Index does not pass on the panic of the IndexFunc: panic %v, "+
			"error %v", value, err)
	case how == passesOn:
		return nil
	case how == errsOn && (panicked || !errors.As(err, new(errIndex))):
		return problemf("STORE-31", "Index does not return the error of the IndexFunc: panic %v, "+
			"error %v", value, err)
	case how == errsOn:
		return nil
	case how == errs && !panicked && err == nil:
		return problemf("STORE-17", "%s gave no error where there is no index %q", methods[op.kind].name,
			op.index)
	}
	return ended(op, how, panicked, value, err)
}

// caught runs f and returns the value it panicked with.
func caught(f func()) (panicked bool, value any) {
	panicked = true
	defer func() {
		if panicked {
			value = recover()
		}
	}()
	f()
	return false, nil
}
