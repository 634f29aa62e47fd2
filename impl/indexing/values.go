package indexing

import (
	"slices"

	"github.com/informerbench/informerbench/contract"
)

// Values is the index values of objects: a list for each index of each object, in the
// order of the calls of Append or Add. A list of Append has no value twice; for those of Add see
// there. The zero value has no lists.
//
// The lists are copies, because a store keeps values beyond the next call of an IndexFunc,
// and an IndexFunc may return the same slice each time (STORE-47). They lie one behind the
// other in memory that is reused. Append can use a Room on the writer's stack, in a store
// that computes values without a lock of its own. Add and Empty use the memory of a
// Values that the store keeps under its lock. They are quicker, since no call copies the
// seven words of a Values.
type Values struct {
	texts []string
	ends  []int // where in texts each list ends
	start int   // where the first one starts
}

// Room is memory for the values of an object that has few of them.
type Room struct {
	texts [8]string
	ends  [8]int
}

// Values returns no lists, with the Room's memory for more.
func (r *Room) Values() Values { return Values{texts: r.texts[:0], ends: r.ends[:0]} }

// MakeValues returns no lists, with memory for this many lists of one value each.
func MakeValues(lists int) Values {
	return Values{texts: make([]string, 0, lists), ends: make([]int, 0, lists)}
}

// Emptied returns no lists, with the memory of v. The lists of v must not be used any more.
func (v Values) Emptied() Values { return Values{texts: v.texts[:0], ends: v.ends[:0]} }

// Len returns the number of lists.
func (v Values) Len() int { return len(v.ends) }

// List returns the i-th list. It is valid until v's memory is reused.
func (v Values) List(i int) []string {
	start := v.start
	if i > 0 {
		start = v.ends[i-1]
	}
	return v.texts[start:v.ends[i]:v.ends[i]]
}

// Object returns the lists of the i-th object. lists is the number of lists of each object.
func (v Values) Object(i, lists int) Values {
	start := v.start
	if i > 0 && lists > 0 {
		start = v.ends[i*lists-1]
	}
	return Values{v.texts, v.ends[i*lists:][:lists:lists], start}
}

// Count returns the number of values in all lists.
func (v Values) Count() int {
	if len(v.ends) == 0 {
		return 0
	}
	return v.ends[len(v.ends)-1] - v.start
}

// Append appends the list of obj's values in the named index; a nil object has none, as
// in client-go. It panics if the IndexFunc fails, so it must run before anything is
// touched; a panic of the IndexFunc passes through. O(values); it allocates only when the
// memory of v is full.
func (v Values) Append(name string, compute contract.IndexFunc, key string, obj any) Values {
	v.texts = appendDistinct(v.texts, ValuesOf(name, compute, key, obj))
	v.ends = append(v.ends, len(v.texts))
	return v
}

// Add appends a copy of the list, each value once. A list of more than Few values keeps those
// that it has twice: a store that marks the buckets finds them as it looks the values up, in
// less time than a set of the values takes. O(values); it allocates only when the memory of v
// is full.
func (v *Values) Add(list []string) {
	switch {
	case len(list) == 1:
		v.texts = append(v.texts, list[0])
	case len(list) > Few:
		v.texts = append(v.texts, list...)
	default:
		v.texts = appendDistinct(v.texts, list)
	}
	v.ends = append(v.ends, len(v.texts))
}

// Empty removes all lists. Memory for more than mostKept values is given back; up to Few
// values stay alive until others take their place, since clearing them is a percent of a
// write's time.
func (v *Values) Empty() {
	if max(cap(v.texts), cap(v.ends)) > mostKept {
		*v = Values{}
		return
	}
	if len(v.texts) > Few {
		clear(v.texts)
	}
	v.texts, v.ends = v.texts[:0], v.ends[:0]
}

// Shrink drops the memory of lists that are empty, if it is for more than most values.
func (v *Values) Shrink(most int) {
	if len(v.ends) == 0 && max(cap(v.texts), cap(v.ends)) > most {
		*v = Values{}
	}
}

// mostKept values, of 24 bytes each, are enough for the 1,000 writes that client-go's
// informer commits at once, with four indexes.
const mostKept = 4096

// appendDistinct appends the values, each once, in their order.
func appendDistinct(texts, values []string) []string {
	if len(values) > Few {
		return appendManyDistinct(texts, values)
	}
	start := len(texts)
	for _, value := range values {
		if !slices.Contains(texts[start:], value) {
			texts = append(texts, value)
		}
	}
	return texts
}

func appendManyDistinct(texts, values []string) []string {
	texts = slices.Grow(texts, len(values))
	seen := make(map[string]struct{}, len(values))
	for _, value := range values {
		if _, again := seen[value]; !again {
			seen[value] = struct{}{}
			texts = append(texts, value)
		}
	}
	return texts
}

// Few is the largest number of values or places for a linear search. For more of them a
// write builds a map or marks buckets, so no write costs more than O(values) (STORE-49).
const Few = 16

// Wanted is the set of buckets, by index and value, that an object of many values must be in.
type Wanted map[indexed]struct{}

type indexed struct {
	index int
	value string
}

// NewWanted returns the buckets of an object's values.
func NewWanted(values Values) Wanted {
	w := make(Wanted, values.Count())
	for index := range values.Len() {
		for _, value := range values.List(index) {
			w[indexed{index, value}] = struct{}{}
		}
	}
	return w
}

// Take removes a bucket, and reports whether it was there.
func (w Wanted) Take(index int, value string) bool {
	b := indexed{index, value}
	_, there := w[b]
	delete(w, b)
	return there
}
