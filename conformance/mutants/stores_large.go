package mutants

// client-go's store with a mistake in contents that are large enough to be divided between
// goroutines.

import (
	"maps"
	"slices"
	"sync/atomic"

	"github.com/informerbench/informerbench/contract"
)

func wrongFills() []Mutant {
	short := mutant(contract.ComponentStore, "large contents are indexed in part",
		"Replace and AddIndexers index the first parts of a content, and forget the last one",
		"STORE-20 STORE-23")
	short.NewStore = newShortFill
	return []Mutant{
		store("replace of many swaps two",
			"a Replace of more than 4,096 objects gives two keys each other's object", "STORE-20",
			func(s base) contract.Store { return swapsInMany{s} }),
		short,
	}
}

type swapsInMany struct{ base }

func (s swapsInMany) Replace(items map[string]any, rv string) {
	if len(items) > share {
		items = maps.Clone(items)
		keys := slices.Sorted(maps.Keys(items))
		first, last := keys[0], keys[len(keys)-1]
		items[first], items[last] = items[last], items[first]
	}
	s.base.Replace(items, rv)
}

// share is the number of objects from which stores divide their work between goroutines.
const share = 4096

// shortFill indexes a part of a large content only.
type shortFill struct {
	base
	left *atomic.Int64 // calls that are to be made, while a content is indexed; below 0 at other times
}

func newShortFill(ix contract.Indexers) contract.Store {
	left := new(atomic.Int64)
	left.Store(-1)
	return shortFill{newBase(shortened(ix, left)), left}
}

// shortened are indexers whose functions return nothing once left has come to 0.
func shortened(ix contract.Indexers, left *atomic.Int64) contract.Indexers {
	out := contract.Indexers{}
	for name, of := range ix {
		out[name] = func(obj any) ([]string, error) {
			switch n := left.Load(); {
			case n == 0:
				return nil, nil
			case n > 0:
				left.Add(-1)
			}
			return of(obj)
		}
	}
	return out
}

func (s shortFill) Replace(items map[string]any, rv string) {
	s.left.Store(3 * share)
	defer s.left.Store(-1)
	s.base.Replace(items, rv)
}

func (s shortFill) AddIndexers(ix contract.Indexers) error {
	s.left.Store(3 * share)
	defer s.left.Store(-1)
	return s.base.AddIndexers(shortened(ix, s.left))
}
