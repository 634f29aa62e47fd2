package lockfree_test

// Updates that no preset measures: client-go's store, lockfree and a bare structure take turns.
//
//	go -C core test -run='^$' -bench=InTurns -count=8 ./impl/lockfree

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/core/impl/lockfree"
	"github.com/informerbench/informerbench/core/internal/inturns"
)

// updater is what both stores have.
type updater interface {
	Update(key string, obj any)
	Replace(items map[string]any, resourceVersion string)
}

// BenchmarkUpdateInTurns reports the times of Updates to client-go's. The objects of
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

// inTurns gives a store of each kind, and a bareStore, the same writes.
func inTurns(b *testing.B, indexers contract.Indexers, items map[string]any, write func(s updater, round int)) {
	var runs []inturns.Run
	for _, s := range []struct {
		name  string
		store updater
	}{
		{"clientgo", cache.NewThreadSafeStore(indexers, cache.Indices{})},
		{"lockfree", lockfree.New(indexers)},
		{"bare", newBareStore(indexers)},
	} {
		s.store.Replace(items, "1")
		runs = append(runs, inturns.Run{Name: s.name, Round: func(round int) { write(s.store, round) }})
	}
	inturns.Compare(b, runs...)
}

// bareStore does what an Update must do at least in a store that does not compute the index
// values of the former object again. It finds the key, compares the new values with those of
// the object's buckets, and moves the object if they differ. It has no lock, no version and
// no lists, so one goroutine can use it, and nothing can be read. It has one index, and
// objects give as many values in each write.
type bareStore struct {
	values  contract.IndexFunc
	objects map[string]*bareObject
	buckets map[string]*bareBucket
}

type bareObject struct {
	obj any
	in  []*bareBucket
}

type bareBucket struct {
	value   string
	objects []*bareObject
}

func newBareStore(indexers contract.Indexers) *bareStore {
	s := &bareStore{objects: map[string]*bareObject{}, buckets: map[string]*bareBucket{}}
	for _, s.values = range indexers {
	}
	return s
}

func (s *bareStore) Replace(items map[string]any, _ string) {
	for key, obj := range items {
		s.objects[key] = &bareObject{}
		s.Update(key, obj)
	}
}

func (s *bareStore) Update(key string, obj any) {
	values, _ := s.values(obj)
	o := s.objects[key]
	o.obj = obj
	if o.in == nil {
		o.in = make([]*bareBucket, len(values))
	}
	for i, value := range values {
		former := o.in[i]
		if former != nil && former.value == value {
			continue
		}
		if former != nil {
			at := slices.Index(former.objects, o)
			former.objects[at] = former.objects[len(former.objects)-1]
			if former.objects = former.objects[:len(former.objects)-1]; len(former.objects) == 0 {
				delete(s.buckets, former.value)
			}
		}
		bucket := s.buckets[value]
		if bucket == nil {
			bucket = &bareBucket{value: value}
			s.buckets[value] = bucket
		}
		bucket.objects = append(bucket.objects, o)
		o.in[i] = bucket
	}
}
