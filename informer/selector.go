package informer

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// matcher is a label selector that is made once and asked of many objects. It gives the
// answers of labels.Selector.Matches.
type matcher struct {
	terms []term
	// selector answers what terms cannot say: other types of selectors, and comparisons of
	// numbers. It is nil if terms say all.
	selector labels.Selector
}

// term asks for one label.
type term struct {
	key    string
	values []string // nil: any value will do
	// absent means that the label must be missing, or have none of the values.
	absent bool
}

// requirements is the type of the selectors that labels.Parse and labels.NewSelector return.
// Of selectors of other types it is not known that Requirements says all that Matches asks.
var requirements = reflect.TypeOf(labels.NewSelector())

func newMatcher(selector labels.Selector) matcher {
	_, isSet := selector.(labels.ValidatedSetSelector)
	if !isSet && reflect.TypeOf(selector) != requirements {
		return matcher{selector: selector}
	}
	all, selectable := selector.Requirements()
	if !selectable {
		return matcher{selector: selector}
	}
	var m matcher
	for _, r := range all {
		t := term{key: r.Key(), values: r.ValuesUnsorted()}
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
		case selection.NotEquals, selection.NotIn:
			t.absent = true
		case selection.Exists:
			t.values = nil
		case selection.DoesNotExist:
			t.values, t.absent = nil, true
		default: // greater and less than
			return matcher{selector: selector}
		}
		m.terms = append(m.terms, t)
	}
	return m
}

// matching appends to found the positions of the sets of labels that match, in their order.
// Each term goes over those that the terms before it have left.
func (m *matcher) matching(sets []map[string]string, found []int) []int {
	if m.selector != nil {
		for i, set := range sets {
			if m.selector.Matches(labels.Set(set)) {
				found = append(found, i)
			}
		}
		return found
	}
	for i := range sets {
		found = append(found, i)
	}
	for i := range m.terms {
		found = m.terms[i].matching(sets, found)
	}
	return found
}

// matching keeps, of the positions, those of sets that have the label with one of the values;
// or of those that have not.
func (t *term) matching(sets []map[string]string, positions []int) []int {
	kept := positions[:0]
	// The commonest terms have a loop of their own, in which nothing is called but the map.
	if len(t.values) == 1 && t.values[0] != "" && !t.absent {
		key, value := t.key, t.values[0]
		for _, i := range positions {
			if sets[i][key] == value {
				kept = append(kept, i)
			}
		}
		return kept
	}
	for _, i := range positions {
		value, there := sets[i][t.key]
		if there && t.values != nil {
			there = slices.Contains(t.values, value)
		}
		if there != t.absent {
			kept = append(kept, i)
		}
	}
	return kept
}
