package lockfree_test

// client-go's store, lockfree and a bare structure (bare_test.go) take turns: in shapes that no
// preset measures, and in operations that presets measure too, to show what locks, versions and
// the like cost. make turns runs these benchmarks and keeps what they print.

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/lockfree"
	"github.com/informerbench/informerbench/internal/inturns"
	"github.com/informerbench/informerbench/load/synthetic"
)

// BenchmarkUpdateInTurns reports the times of Updates to client-go's. The objects of
// shape=strings are 5,000 strings, each with an index value of its own, which stays; in
// shape=strings-change it changes to one that no object had. They lie in memory in another
// order than they are written, and a key is not the string that the store holds. In
// shape=values there is one object with 30,000 index values, which all change.
func BenchmarkUpdateInTurns(b *testing.B) {
	for shape, value := range map[string]func(obj string) string{
		"strings":        func(obj string) string { return obj[:strings.LastIndexByte(obj, '-')] },
		"strings-change": func(obj string) string { return obj },
	} {
		b.Run("shape="+shape, func(b *testing.B) {
			indexers := contract.Indexers{"value": func(obj any) ([]string, error) {
				return []string{value(obj.(string))}, nil
			}}
			const objects, rounds = 5_000, 4
			keys, items, rng := make([]string, objects), map[string]any{}, rand.New(rand.NewPCG(1, 1))
			values := make([][]any, rounds) // boxed before, so the caller's allocations are not measured
			for round := range values {
				values[round] = make([]any, objects)
				for _, i := range rng.Perm(objects) {
					values[round][i] = fmt.Sprint("value-", i, "-", round)
				}
			}
			for _, i := range rng.Perm(objects) {
				keys[i] = fmt.Sprint("namespace/object-", i)
				items[strings.Clone(keys[i])] = values[0][i]
			}
			inTurns(b, indexers, items, func(s turnsStore, round int) {
				for i, key := range keys {
					s.Update(key, values[round%rounds][i])
				}
			})
		})
	}
	b.Run("shape=values", func(b *testing.B) {
		const n, rounds = 30_000, 4
		values := make([][]string, rounds)
		for round := range values {
			for i := range n {
				values[round] = append(values[round], fmt.Sprint("value-", i, "-", round))
			}
		}
		all := contract.Indexers{"all": func(obj any) ([]string, error) {
			return values[*obj.(*int)], nil
		}}
		objects := [rounds]*int{}
		for round := range objects {
			objects[round] = &round
		}
		inTurns(b, all, map[string]any{"namespace/object": objects[0]}, func(s turnsStore, round int) {
			s.Update("namespace/object", objects[round%rounds])
		})
	})
}

// BenchmarkStoreInTurns reports the times of a store's operations to client-go's: pods, indexed
// by namespace (a fiftieth of all in each) and by node (20 on each), in a random order. Each key
// is a copy, not the string that the store holds, as are keys made from watch events. Garbage
// collection counts for the turn in which it happens, unlike in the presets.
func BenchmarkStoreInTurns(b *testing.B) {
	for _, pods := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint("pods=", pods), func(b *testing.B) { storeInTurns(b, pods) })
	}
}

// BenchmarkMillionInTurns is BenchmarkStoreInTurns for 1,000,000 pods. It takes 8 GB.
func BenchmarkMillionInTurns(b *testing.B) { storeInTurns(b, 1_000_000) }

// turn is the work of one round.
type turn = func(s turnsStore, round int)

func storeInTurns(b *testing.B, pods int) {
	inRound := min(pods, 20_000)
	objects := synthetic.Generate(
		synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: pods, Namespaces: 50, Nodes: pods / 20}, 1)
	items, rng := objects.Map(), rand.New(rand.NewPCG(1, 1))
	order := rng.Perm(pods)
	// Keys and versions are in this order. Each lap over all pods takes other copies of the keys.
	var keys [3][]string
	for set := range keys {
		keys[set] = make([]string, pods)
		for _, i := range rng.Perm(pods) {
			keys[set][i] = strings.Clone(objects.Key(order[i]))
		}
	}
	// each calls f with the places of a round and its lap, counted from 0.
	each := func(round int, f func(i, lap int)) {
		from := (round - 1) * inRound
		for n := from; n < from+inRound; n++ {
			f(n%pods, n/pods)
		}
	}
	byIndex := func(index string) turn {
		values := objects.IndexedValues(index)
		rng.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		return func(s turnsStore, _ int) {
			for _, value := range values {
				if found, err := s.ByIndex(index, value); err != nil || len(found) == 0 {
					panic(fmt.Sprintf("ByIndex(%q, %q): %d objects, %v", index, value, len(found), err))
				}
			}
		}
	}
	// versions are the objects and their successors, which move to another namespace or node or not.
	versions := func(move bool) [2][]any {
		var of [2][]any
		for _, i := range order {
			of[0] = append(of[0], objects.At(i))
			of[1] = append(of[1], objects.Mutate(objects.At(i), rng, move))
		}
		return of
	}
	update := func(move bool) turn {
		of := versions(move)
		return func(s turnsStore, round int) {
			each(round, func(i, lap int) { s.Update(keys[lap%2][i], of[(lap+1)%2][i]) })
		}
	}
	for _, c := range []struct {
		op   string
		work func() turn // makes its input first
	}{
		{"get", func() turn {
			return func(s turnsStore, round int) {
				each(round, func(i, lap int) {
					if _, ok := s.Get(keys[lap%2][i]); !ok {
						panic(keys[lap%2][i] + " is not there")
					}
				})
			}
		}},
		{"by-index-namespace", func() turn { return byIndex(synthetic.IndexNamespace) }},
		{"by-index-node", func() turn { return byIndex(synthetic.IndexNode) }},
		{"update", func() turn { return update(false) }},
		{"update-index", func() turn { return update(true) }},
		{"add-delete", func() turn {
			return func(s turnsStore, round int) {
				// A store holds the string that Add got; Delete gets another one in each lap.
				each(round, func(i, lap int) {
					s.Delete(keys[2*lap%3][i])
					s.Add(keys[(2*lap+1)%3][i], objects.At(order[i]))
				})
			}
		}},
		{"replace", func() turn {
			return func(s turnsStore, _ int) { s.Replace(items, "1") }
		}},
	} {
		b.Run("op="+c.op, func(b *testing.B) { inTurns(b, synthetic.Indexers(), items, c.work()) })
	}
}

// inTurns gives a store of each kind, and a bareStore, the same work.
func inTurns(b *testing.B, indexers contract.Indexers, items map[string]any, work turn) {
	var runs []inturns.Run
	for _, s := range []struct {
		name  string
		store turnsStore
	}{
		{"clientgo", cache.NewThreadSafeStore(indexers, cache.Indices{})},
		{"lockfree", lockfree.New(indexers)},
		{"bare", newBareStore(indexers)},
	} {
		s.store.Replace(items, "1")
		runs = append(runs, inturns.Run{Name: s.name, Round: func(round int) { work(s.store, round) }})
	}
	inturns.Compare(b, runs...)
}
