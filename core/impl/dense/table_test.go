package dense

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/core/impl/indexing"
)

// verify checks that every record's places lead to its object and back, and that
// nothing else stands anywhere.
func (t *table) verify() error {
	if len(t.objects) != len(t.keys) || len(t.records) != len(t.keys) {
		return fmt.Errorf("%d objects, %d keys, %d records", len(t.objects), len(t.keys), len(t.records))
	}
	places := 0
	for key, r := range t.records {
		if t.keys[r.at] != key || t.objects[r.at] != r.object {
			return fmt.Errorf("the record of %q says %d, where %q stands with %v", key, r.at, t.keys[r.at], t.objects[r.at])
		}
		for _, p := range r.places.Append(nil) {
			if t.indexes[p.Bucket.index][p.Bucket.value] != p.Bucket || p.Bucket.records[p.At] != r || p.Bucket.objects[p.At] != r.object {
				return fmt.Errorf("place %d of value %q is not %q's", p.At, p.Bucket.value, key)
			}
		}
		places += len(r.places.Append(nil))
	}
	for _, buckets := range t.indexes {
		for value, b := range buckets {
			if len(b.records) == 0 || len(b.records) != len(b.objects) {
				return fmt.Errorf("value %q has %d records and %d objects", value, len(b.records), len(b.objects))
			}
			places -= len(b.records)
		}
	}
	if places != 0 {
		return fmt.Errorf("the buckets lack %d places that records have", places)
	}
	return nil
}

// Removal moves another object into the hole: after thousands of random writes each record
// must still know its places.
func TestPlacesStayTrue(t *testing.T) {
	t.Parallel()
	words := func(obj any) ([]string, error) { return strings.Fields(obj.(string)), nil }
	first := func(obj any) ([]string, error) { return strings.Fields(obj.(string))[:1], nil }
	set := indexing.NewSet(contract.Indexers{"words": words, "first": first})
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 0))
		tab, model := newTable(set.Len(), 0), map[string]any{}
		for step := range 4000 {
			// The number of objects swells to hundreds and shrinks again.
			key := fmt.Sprint(r.IntN(400))
			if deletes := step/500%2 == 1; r.IntN(4) == 0 != deletes {
				tab.remove(key)
				delete(model, key)
			} else {
				obj := any(strings.Repeat(fmt.Sprintf("w%d ", r.IntN(3)), 2) + fmt.Sprintf("x%d y%d %d", r.IntN(5), r.IntN(50), step) + severalWords(r))
				tab.store(key, obj, set.AppendValues(indexing.Values{}, 0, key, obj))
				model[key] = obj
			}
			if step%20 != 0 {
				continue
			}
			if err := tab.verify(); err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
			if len(model) != len(tab.keys) {
				t.Fatalf("seed %d, step %d: %d keys; want %d", seed, step, len(tab.keys), len(model))
			}
		}
		for key, obj := range model {
			if tab.records[key].object != obj {
				t.Fatalf("seed %d: %q holds %v; want %v", seed, key, tab.records[key].object, obj)
			}
			tab.remove(key)
		}
		if err := tab.verify(); err != nil {
			t.Fatalf("seed %d, emptied: %v", seed, err)
		}
		if len(tab.indexes[0])+len(tab.indexes[1]) != 0 || cap(tab.objects) > smallRoom {
			t.Errorf("seed %d: the emptied table keeps %d and %d values, and room for %d objects", seed, len(tab.indexes[0]), len(tab.indexes[1]), cap(tab.objects))
		}
	}
}

func TestShortenFreesWhatItDrops(t *testing.T) {
	t.Parallel()
	list := []any{"a", "b"}
	if short := shorten(list); len(short) != 1 || list[1] != nil {
		t.Errorf("%v of %v: what was dropped is still reachable", short, list)
	}
}

// severalWords returns no words for most objects. For some it returns more than
// indexing.Few words, so that their places are looked up in a map.
func severalWords(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(8) == 0 {
		for range indexing.Few + r.IntN(8) {
			fmt.Fprintf(&b, " v%d", r.IntN(60))
		}
	}
	return b.String()
}
