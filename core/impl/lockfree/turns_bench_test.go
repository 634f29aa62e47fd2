package lockfree_test

// Updates that no preset measures: lockfree and client-go's store take turns.
//
//	go -C core test -run='^$' -bench=InTurns -count=8 ./impl/lockfree

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/core/impl/lockfree"
)

// updater is what both stores have.
type updater interface {
	Update(key string, obj any)
	Replace(items map[string]any, resourceVersion string)
}

// BenchmarkUpdateInTurns reports lockfree's time for an Update to client-go's. The objects of
// shape=strings are 5,000 strings, each with an index value of its own, which stays; in
// shape=strings-change it changes to one that no object had. In shape=values there is one
// object with 30,000 index values, which all change.
func BenchmarkUpdateInTurns(b *testing.B) {
	for shape, value := range map[string]func(obj string) string{
		"strings":        func(obj string) string { return obj[:strings.LastIndexByte(obj, '-')] },
		"strings-change": func(obj string) string { return obj },
	} {
		b.Run("shape="+shape, func(b *testing.B) {
			indexers := contract.Indexers{"value": func(obj any) ([]string, error) { return []string{value(obj.(string))}, nil }}
			const objects, rounds = 5_000, 4
			keys := make([]string, objects)
			values := make([][]any, rounds) // boxed before, so the caller's allocations are not measured
			items := map[string]any{}
			for i := range keys {
				keys[i] = fmt.Sprint("namespace/object-", i)
				for round := range values {
					values[round] = append(values[round], fmt.Sprint("value-", i, "-", round))
				}
				items[keys[i]] = values[0][i]
			}
			inTurns(b, indexers, items, func(s updater, round int) {
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
		all := contract.Indexers{"all": func(obj any) ([]string, error) { return values[*obj.(*int)], nil }}
		objects := [rounds]*int{}
		for round := range objects {
			objects[round] = &round
		}
		inTurns(b, all, map[string]any{"namespace/object": objects[0]}, func(s updater, round int) {
			s.Update("namespace/object", objects[round%rounds])
		})
	})
}

// inTurns runs write on a store of each kind, one after the other, in the order ABBA. It
// reports the mean of the logarithms of the ratios, without the highest and lowest quarter.
func inTurns(b *testing.B, indexers contract.Indexers, items map[string]any, write func(s updater, round int)) {
	stores := [2]updater{cache.NewThreadSafeStore(indexers, cache.Indices{}), lockfree.New(indexers)}
	for _, s := range stores {
		s.Replace(items, "1")
	}
	var ratios []float64
	round := 0
	for b.Loop() {
		var took [2]time.Duration
		round++
		for _, which := range [...]int{round & 1, 1 - round&1} {
			start := time.Now()
			write(stores[which], round)
			took[which] = time.Since(start)
		}
		ratios = append(ratios, math.Log(took[1].Seconds()/took[0].Seconds()))
	}
	slices.Sort(ratios)
	middle := ratios[len(ratios)/4 : len(ratios)-len(ratios)/4]
	sum := 0.0
	for _, r := range middle {
		sum += r
	}
	b.ReportMetric(math.Exp(sum/float64(len(middle))), "x-clientgo")
}
