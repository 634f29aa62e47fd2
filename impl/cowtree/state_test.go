package cowtree

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/indexing"
)

// instant is a published state and what it must show for ever.
type instant struct {
	state *state
	want  map[string]any
}

func (in instant) check() error {
	if got := in.state.objects.Len(); got != len(in.want) {
		return fmt.Errorf("%d objects; had %d", got, len(in.want))
	}
	postings := 0
	for key, obj := range in.want {
		if got, ok := in.state.get(key); !ok || got != obj {
			return fmt.Errorf("%q holds %v; held %v", key, got, obj)
		}
		for _, value := range in.state.set.AppendValues(indexing.Values{}, 0, key, obj).List(0) {
			postings++
			if !in.state.indexes[0].Has(posting{value, key}) {
				return fmt.Errorf("the index no longer has %q under %q", key, value)
			}
		}
	}
	if got := in.state.indexes[0].Len(); got != postings {
		return fmt.Errorf("%d postings; had %d", got, postings)
	}
	return nil
}

// A published state never changes, whatever is written after it.
func TestPublishedStatesStay(t *testing.T) {
	t.Parallel()
	words := func(obj any) ([]string, error) { return strings.Fields(obj.(string)), nil }
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 0))
		s, model := New(contract.Indexers{"words": words}), map[string]any{}
		var instants []instant
		for step := range 3000 {
			key := fmt.Sprint(r.IntN(300))
			if deletes := step/1000%2 == 1; r.IntN(4) == 0 != deletes {
				s.Delete(key)
				delete(model, key)
			} else {
				obj := any(strings.Repeat(fmt.Sprintf("w%d ", r.IntN(3)), 2) +
					fmt.Sprintf("x%d %d", r.IntN(20), step))
				s.Update(key, obj)
				model[key] = obj
			}
			if step%100 != 0 {
				continue
			}
			instants = append(instants, instant{s.current.Load(), maps.Clone(model)})
			for i, in := range instants {
				if err := in.check(); err != nil {
					t.Fatalf("seed %d, at step %d, the state of step %d: %v", seed, step, i*100, err)
				}
			}
		}
	}
}
