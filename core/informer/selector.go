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

func (m *matcher) matches(set map[string]string) bool {
	if m.selector != nil {
		return m.selector.Matches(labels.Set(set))
	}
	for i := range m.terms {
		if t := &m.terms[i]; t.matches(set) == t.absent {
			return false
		}
	}
	return true
}

// matches reports whether the label is there with one of the values.
func (t *term) matches(set map[string]string) bool {
	value, there := set[t.key]
	switch {
	case !there || t.values == nil:
		return there
	case len(t.values) == 1:
		return t.values[0] == value
	default:
		return slices.Contains(t.values, value)
	}
}
