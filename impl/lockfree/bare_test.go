package lockfree_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// turnsStore is what the stores have that take turns.
type turnsStore interface {
	Get(key string) (any, bool)
	ByIndex(index, value string) ([]any, error)
	Add(key string, obj any)
	Update(key string, obj any)
	Delete(key string)
	Replace(items map[string]any, resourceVersion string)
}

// bareStore does what an indexed store must do, in a plain way: a Go map leads from the key to the
// object, another one from each value of an index to a list of objects, and an object knows its
// places in these lists. It does not compute the index values of the former object again. It
// has no lock and no version, so only one goroutine may use it. Update needs a key that is
// there, Add one that is not. Every write of an object must give the same number of values for
// each index.
type bareStore struct {
	indexes []bareIndex
	objects map[string]*bareObject
}

type bareIndex struct {
	name    string
	values  contract.IndexFunc
	buckets map[string]*bareBucket
}

type bareObject struct {
	obj any
	in  []barePlace // of the values of all indexes
}

// barePlace is a place in a bucket.
type barePlace struct {
	index  *bareIndex
	bucket *bareBucket // nil before the first write
	at     int
}

type bareBucket struct {
	value   string
	members []bareMember
}

// bareMember leads back to the place that leads to it.
type bareMember struct {
	object *bareObject
	place  int
}

func newBareStore(indexers contract.Indexers) *bareStore {
	s := &bareStore{}
	for name, values := range indexers {
		s.indexes = append(s.indexes, bareIndex{name: name, values: values})
	}
	s.Replace(nil, "")
	return s
}

func (s *bareStore) Replace(items map[string]any, _ string) {
	s.objects = make(map[string]*bareObject, len(items))
	for i := range s.indexes {
		s.indexes[i].buckets = map[string]*bareBucket{}
	}
	for key, obj := range items {
		s.Add(key, obj)
	}
}

func (s *bareStore) Get(key string) (any, bool) {
	o := s.objects[key]
	if o == nil {
		return nil, false
	}
	return o.obj, true
}

func (s *bareStore) ByIndex(index, value string) ([]any, error) {
	for i := range s.indexes {
		if s.indexes[i].name != index {
			continue
		}
		bucket := s.indexes[i].buckets[value]
		if bucket == nil {
			return nil, nil
		}
		list := make([]any, len(bucket.members))
		for i, m := range bucket.members {
			list[i] = m.object.obj
		}
		return list, nil
	}
	return nil, nil
}

func (s *bareStore) Add(key string, obj any) {
	o := &bareObject{}
	s.objects[key] = o
	s.write(o, obj)
}

func (s *bareStore) Update(key string, obj any) { s.write(s.objects[key], obj) }

// write gives the object its new state, and moves it to other buckets where values differ.
func (s *bareStore) write(o *bareObject, obj any) {
	o.obj = obj
	place := 0
	for i := range s.indexes {
		index := &s.indexes[i]
		values, _ := index.values(obj)
		for _, value := range values {
			if place == len(o.in) {
				o.in = append(o.in, barePlace{index: index})
			}
			if in := o.in[place].bucket; in == nil || in.value != value {
				o.leave(place)
				o.enter(place, value)
			}
			place++
		}
	}
}

func (s *bareStore) Delete(key string) {
	o := s.objects[key]
	delete(s.objects, key)
	for place := range o.in {
		o.leave(place)
	}
}

// leave moves the last member of the bucket into the object's place.
func (o *bareObject) leave(place int) {
	p := o.in[place]
	if p.bucket == nil {
		return
	}
	last := len(p.bucket.members) - 1
	moved := p.bucket.members[last]
	p.bucket.members[p.at] = moved
	moved.object.in[moved.place].at = p.at
	p.bucket.members[last] = bareMember{}
	if p.bucket.members = p.bucket.members[:last]; last == 0 {
		delete(p.index.buckets, p.bucket.value)
	}
}

func (o *bareObject) enter(place int, value string) {
	p := &o.in[place]
	bucket := p.index.buckets[value]
	if bucket == nil {
		bucket = &bareBucket{value: value}
		p.index.buckets[value] = bucket
	}
	p.bucket, p.at = bucket, len(bucket.members)
	bucket.members = append(bucket.members, bareMember{o, place})
}

// Random writes leave in bareStore what they leave in client-go's store, or the benchmarks
// would compare different work.
func TestBareStoreIsAStore(t *testing.T) {
	t.Parallel()
	type object struct{ key, color string }
	indexers := contract.Indexers{"color": func(obj any) ([]string, error) {
		return []string{obj.(object).color, "any"}, nil
	}}
	bare, reference := newBareStore(indexers), cache.NewThreadSafeStore(indexers, cache.Indices{})
	rng := rand.New(rand.NewPCG(1, 1))
	const keys, colors = 40, 5
	for step := range 5_000 {
		o := object{fmt.Sprint("key-", rng.IntN(keys)), fmt.Sprint("color-", rng.IntN(colors))}
		_, there := reference.Get(o.key)
		switch {
		case !there:
			bare.Add(o.key, o)
			reference.Add(o.key, o)
		case rng.IntN(3) > 0:
			bare.Update(o.key, o)
			reference.Update(o.key, o)
		default:
			bare.Delete(o.key)
			reference.Delete(o.key)
		}
		if step%500 == 499 {
			items := map[string]any{}
			for _, obj := range reference.List() {
				items[obj.(object).key] = obj
			}
			bare.Replace(items, "1")
		}
		for _, key := range []string{o.key, "key-0"} {
			got, ok := bare.Get(key)
			want, there := reference.Get(key)
			if got != want || ok != there {
				t.Fatalf("step %d: Get(%s) = %v, %v; want %v, %v", step, key, got, ok, want, there)
			}
		}
		for _, color := range []string{o.color, "color-0", "any", "none"} {
			got, _ := bare.ByIndex("color", color)
			want, _ := reference.ByIndex("color", color)
			byKey := func(a, b any) int { return cmp.Compare(a.(object).key, b.(object).key) }
			slices.SortFunc(got, byKey)
			slices.SortFunc(want, byKey)
			if !slices.Equal(got, want) {
				t.Fatalf("step %d: ByIndex(%s) = %v; want %v", step, color, got, want)
			}
		}
	}
}
