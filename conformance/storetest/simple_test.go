package storetest

import (
	"errors"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/informerbench/informerbench/contract"
)

// simple is a store of plain maps for one goroutine. It is healthy unless it is given a bug
// by name.
type simple struct {
	bug      string
	items    map[string]any
	indexers contract.Indexers
	sets     map[string]map[string]map[string]bool // index -> value -> keys
	version  string
	listed   []any           // of the bug "shared slice"
	fresh    bool            // whether listed is up to date
	replaced map[string]bool // of the bug "lost after a relist"
	hang     chan struct{}   // of the bug "hangs"
}

func newSimple(bug string) func(contract.Indexers) contract.Store {
	return func(ix contract.Indexers) contract.Store { return makeSimple(bug, ix) }
}

func makeSimple(bug string, ix contract.Indexers) *simple {
	s := &simple{bug: bug, items: map[string]any{}, indexers: maps.Clone(ix),
		sets: map[string]map[string]map[string]bool{}}
	for name := range ix {
		s.sets[name] = map[string]map[string]bool{}
	}
	return s
}

var errSimple = errors.New("simple: the index is taken or unknown")

// values returns an object's values in each index, and panics if an IndexFunc fails.
func (s *simple) values(ix contract.Indexers, obj any) map[string][]string {
	out := map[string][]string{}
	if obj == nil {
		return out
	}
	for name, f := range ix {
		values, err := f(obj)
		if err != nil {
			panic(err)
		}
		out[name] = values
	}
	return out
}

func (s *simple) see(obj any) {
	if m, err := meta.Accessor(obj); err == nil {
		s.version = m.GetResourceVersion()
	}
}

func (s *simple) move(key string, from, to map[string][]string) {
	for name := range s.sets {
		for _, v := range from[name] {
			delete(s.sets[name][v], key)
			if len(s.sets[name][v]) == 0 && s.bug != "empty sets stay" {
				delete(s.sets[name], v)
			}
		}
		for _, v := range to[name] {
			if s.sets[name][v] == nil {
				s.sets[name][v] = map[string]bool{}
			}
			s.sets[name][v][key] = true
		}
	}
}

func (s *simple) Add(key string, obj any) { s.Update(key, obj) }

func (s *simple) Update(key string, obj any) {
	from := s.values(s.indexers, s.items[key])
	if s.bug == "half a write" {
		s.items[key] = obj
	}
	to := s.values(s.indexers, obj)
	s.items[key] = obj
	s.fresh = false
	s.see(obj)
	if s.bug == "lost after a relist" && s.replaced[key] && len(from) == 0 {
		return
	}
	if s.bug == "old values stay" {
		from = nil
	}
	s.move(key, from, to)
}

func (s *simple) Delete(key string) { s.remove(key) }

func (s *simple) DeleteWithObject(key string, obj any) {
	s.remove(key)
	if obj != nil && s.bug != "deletions have no version" {
		s.see(obj)
	}
}

func (s *simple) remove(key string) {
	if _, there := s.items[key]; !there && s.hang != nil {
		<-s.hang
	}
	s.move(key, s.values(s.indexers, s.items[key]), nil)
	delete(s.items, key)
	s.fresh = false
}

func (s *simple) Get(key string) (any, bool) {
	obj, ok := s.items[key]
	return obj, ok
}

func (s *simple) List() []any {
	if s.bug == "shared slice" && s.fresh {
		return s.listed
	}
	s.listed, s.fresh = slices.Collect(maps.Values(s.items)), true
	if s.bug == "list stops at three" && len(s.listed) > 3 {
		return s.listed[:3]
	}
	return s.listed
}

func (s *simple) ListKeys() []string { return slices.Collect(maps.Keys(s.items)) }

func (s *simple) Replace(items map[string]any, version string) {
	fresh := makeSimple("", s.indexers)
	for key, obj := range items {
		fresh.move(key, nil, s.values(s.indexers, obj))
		fresh.items[key] = obj
	}
	if s.bug == "replace merges" {
		for key, obj := range s.items {
			if _, there := fresh.items[key]; !there {
				fresh.Update(key, obj)
			}
		}
	}
	s.items, s.sets, s.version, s.fresh = fresh.items, fresh.sets, version, false
	s.replaced = map[string]bool{}
	for key := range items {
		s.replaced[key] = true
	}
}

func (s *simple) Transaction(txns ...contract.StoreTransaction) {
	before := maps.Clone(s.items)
	for _, t := range txns {
		if t.Type != contract.TransactionTypeDelete && s.bug != "half a transaction" {
			s.values(s.indexers, t.Object) // all that can fail, before anything is written
		}
	}
	version := s.version
	for _, t := range txns {
		if t.Type == contract.TransactionTypeDelete {
			s.remove(t.Key)
			continue
		}
		if _, there := before[t.Key]; there && t.Type == contract.TransactionTypeAdd &&
			s.bug == "transaction adds once" {
			continue
		}
		s.Update(t.Key, t.Object)
	}
	s.version = version
	if n := len(txns); n > 0 && txns[n-1].Object != nil {
		s.see(txns[n-1].Object)
	}
}

func (s *simple) find(index string, values ...string) (map[string]bool, error) {
	sets, ok := s.sets[index]
	if !ok {
		return nil, errSimple
	}
	keys := map[string]bool{}
	for _, v := range values {
		maps.Copy(keys, sets[v])
	}
	return keys, nil
}

func (s *simple) ByIndex(index, value string) ([]any, error) {
	keys, err := s.find(index, value)
	var out []any
	for key := range keys {
		out = append(out, s.items[key])
	}
	return out, err
}

func (s *simple) IndexKeys(index, value string) ([]string, error) {
	keys, err := s.find(index, value)
	return slices.Sorted(maps.Keys(keys)), err
}

func (s *simple) Index(index string, obj any) ([]any, error) {
	f := s.indexers[index]
	if f == nil {
		return nil, errSimple
	}
	values, err := f(obj)
	if err != nil {
		return nil, err
	}
	if s.bug == "index panics without values" {
		_ = values[0]
	}
	keys, err := s.find(index, values...)
	var out []any
	for key := range keys {
		out = append(out, s.items[key])
	}
	return out, err
}

func (s *simple) ListIndexFuncValues(index string) []string {
	return slices.Collect(maps.Keys(s.sets[index]))
}

func (s *simple) GetIndexers() contract.Indexers {
	if s.bug == "its own indexers" {
		return s.indexers
	}
	return maps.Clone(s.indexers)
}

func (s *simple) AddIndexers(added contract.Indexers) error {
	for name := range added {
		if s.indexers[name] != nil && s.bug != "takes names twice" {
			return errSimple
		}
	}
	places := map[string]map[string][]string{}
	for key, obj := range s.items {
		places[key] = s.values(added, obj)
	}
	for name, f := range added {
		s.indexers[name], s.sets[name] = f, map[string]map[string]bool{}
	}
	if s.bug != "no back-fill" {
		for key, to := range places {
			s.move(key, nil, to)
		}
	}
	return nil
}

func (s *simple) Resync() error { return nil }

func (s *simple) Bookmark(version string) { s.version = version }

func (s *simple) LastStoreSyncResourceVersion() string { return s.version }
