package mutants

// Stores in shards, which have a lock each and one over all.

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/informerbench/informerbench/contract"
)

// shards are as many as a store has that splits its locks in earnest. With two, what is
// done shard by shard is torn for some nanoseconds only, and hardly ever seen torn.
const shards = 16

// sharded is as sound as its shards, which are client-go's stores. Who reads or
// writes one key shares the lock over all; who looks at several shards, or writes
// to several, has it alone.
type sharded struct {
	all       sync.RWMutex
	shards    [shards]base
	computing sync.Mutex // held during each call of an IndexFunc: shards are written at once
}

func newSharded(ix contract.Indexers) *sharded {
	s := &sharded{}
	for i := range s.shards {
		s.shards[i] = newBase(s.oneAtATime(ix))
	}
	return s
}

// oneAtATime returns the indexers such that none runs beside another.
func (s *sharded) oneAtATime(ix contract.Indexers) contract.Indexers {
	guarded := contract.Indexers{}
	for name, compute := range ix {
		guarded[name] = func(obj any) ([]string, error) {
			s.computing.Lock()
			defer s.computing.Unlock()
			values, err := compute(obj)
			return slices.Clone(values), err
		}
	}
	return guarded
}

// at gives the key's shard.
func (s *sharded) at(key string) int {
	sum := 0
	for _, b := range []byte(key) {
		sum += int(b)
	}
	return sum % len(s.shards)
}

func (s *sharded) of(key string) base { return s.shards[s.at(key)] }

func (s *sharded) Add(key string, obj any) { s.Update(key, obj) }

func (s *sharded) Update(key string, obj any) {
	s.all.RLock()
	defer s.all.RUnlock()
	s.of(key).Update(key, obj)
}

func (s *sharded) Delete(key string) {
	s.all.RLock()
	defer s.all.RUnlock()
	s.of(key).Delete(key)
}

func (s *sharded) Get(key string) (any, bool) {
	s.all.RLock()
	defer s.all.RUnlock()
	return s.of(key).Get(key)
}

// alone runs f with the lock over all shards.
func (s *sharded) alone(f func()) {
	s.all.Lock()
	defer s.all.Unlock()
	f()
}

func (s *sharded) List() (list []any) {
	s.alone(func() { list = s.list() })
	return list
}

func (s *sharded) list() []any { return gathered(s, base.List) }

func (s *sharded) ListKeys() (keys []string) {
	s.alone(func() { keys = s.listKeys() })
	return keys
}

func (s *sharded) listKeys() []string { return gathered(s, base.ListKeys) }

func (s *sharded) Index(index string, obj any) (list []any, err error) {
	s.alone(func() { list, err = s.index(index, obj) })
	return list, err
}

func (s *sharded) index(index string, obj any) ([]any, error) {
	return gatheredOr(s, func(shard base) ([]any, error) { return shard.Index(index, obj) })
}

func (s *sharded) ByIndex(index, value string) (list []any, err error) {
	s.alone(func() { list, err = s.byIndex(index, value) })
	return list, err
}

func (s *sharded) byIndex(index, value string) ([]any, error) {
	return gatheredOr(s, func(shard base) ([]any, error) { return shard.ByIndex(index, value) })
}

func (s *sharded) IndexKeys(index, value string) (keys []string, err error) {
	s.alone(func() { keys, err = s.indexKeys(index, value) })
	slices.Sort(keys)
	return keys, err
}

// indexKeys gives the keys of each shard sorted.
func (s *sharded) indexKeys(index, value string) ([]string, error) {
	return gatheredOr(s, func(shard base) ([]string, error) { return shard.IndexKeys(index, value) })
}

func (s *sharded) ListIndexFuncValues(index string) (values []string) {
	s.alone(func() { values = s.values(index) })
	slices.Sort(values)
	return slices.Compact(values)
}

// values gives a value once for each shard that has it.
func (s *sharded) values(index string) []string {
	return gathered(s, func(shard base) []string { return shard.ListIndexFuncValues(index) })
}

// gathered is what the shards answer, one after the other.
func gathered[E any](s *sharded, ask func(base) []E) (all []E) {
	for _, shard := range s.shards {
		all = append(all, ask(shard)...)
	}
	return all
}

// gatheredOr is gathered, unless a shard has an error.
func gatheredOr[E any](s *sharded, ask func(base) ([]E, error)) (all []E, err error) {
	all = gathered(s, func(shard base) []E {
		part, failed := ask(shard)
		err = errors.Join(err, failed)
		return part
	})
	return all, err
}

func (s *sharded) Replace(items map[string]any, rv string) {
	s.alone(func() { s.replace(items, rv) })
}

func (s *sharded) replace(items map[string]any, rv string) {
	var parts [shards]map[string]any
	for i := range parts {
		parts[i] = map[string]any{}
	}
	for key, obj := range items {
		parts[s.at(key)][key] = obj
	}
	for i, part := range parts {
		s.shards[i].Replace(part, rv)
	}
}

func (s *sharded) Transaction(txns ...contract.StoreTransaction) {
	s.alone(func() { s.transaction(txns) })
}

func (s *sharded) transaction(txns []contract.StoreTransaction) {
	var parts [shards][]contract.StoreTransaction
	for _, txn := range txns {
		i := s.at(txn.Key)
		parts[i] = append(parts[i], txn)
	}
	for i, part := range parts {
		s.shards[i].Transaction(part...)
	}
}

func (s *sharded) AddIndexers(ix contract.Indexers) (err error) {
	s.alone(func() {
		for _, shard := range s.shards {
			err = errors.Join(err, shard.AddIndexers(s.oneAtATime(ix)))
		}
	})
	return err
}

func (s *sharded) GetIndexers() (ix contract.Indexers) {
	s.alone(func() { ix = maps.Clone(s.shards[0].GetIndexers()) })
	return ix
}

func (s *sharded) Resync() error { return nil }

// The mutants: one method each that does without the lock over all shards, or
// forgets that there are several.
type (
	tornList      struct{ *sharded }
	tornKeys      struct{ *sharded }
	tornIndex     struct{ *sharded }
	tornByIndex   struct{ *sharded }
	tornIndexKeys struct{ *sharded }
	tornValues    struct{ *sharded }
	tornReplace   struct{ *sharded }
	tornBatch     struct{ *sharded }
	keysInRuns    struct{ *sharded }
	valuesTwice   struct{ *sharded }
	firstShard    struct{ *sharded }
	byFirstByte   struct{ *sharded }
)

func (s tornList) List() []any { return s.list() }

func (s tornKeys) ListKeys() []string { return s.listKeys() }

func (s tornIndex) Index(index string, obj any) ([]any, error) { return s.index(index, obj) }

func (s tornByIndex) ByIndex(index, value string) ([]any, error) { return s.byIndex(index, value) }

func (s tornIndexKeys) IndexKeys(index, value string) ([]string, error) {
	keys, err := s.indexKeys(index, value)
	slices.Sort(keys)
	return keys, err
}

func (s tornValues) ListIndexFuncValues(index string) []string {
	values := s.values(index)
	slices.Sort(values)
	return slices.Compact(values)
}

func (s tornReplace) Replace(items map[string]any, rv string) {
	for i := range s.shards {
		part := maps.Clone(items)
		maps.DeleteFunc(part, func(key string, _ any) bool { return s.at(key) != i })
		s.shards[i].Replace(part, rv)
	}
}

func (s tornBatch) Transaction(txns ...contract.StoreTransaction) { s.transaction(txns) }

func (s keysInRuns) IndexKeys(index, value string) (keys []string, err error) {
	s.alone(func() { keys, err = s.indexKeys(index, value) })
	return keys, err
}

func (s valuesTwice) ListIndexFuncValues(index string) (values []string) {
	s.alone(func() { values = s.values(index) })
	return values
}

func (s firstShard) AddIndexers(ix contract.Indexers) (err error) {
	s.alone(func() {
		err = s.shards[0].AddIndexers(maps.Clone(ix))
		none := func(any) ([]string, error) { return nil, nil }
		for name := range ix {
			for _, shard := range s.shards[1:] {
				err = errors.Join(err, shard.AddIndexers(contract.Indexers{name: none}))
			}
		}
	})
	return err
}

func (s byFirstByte) Add(key string, obj any) { s.Update(key, obj) }

func (s byFirstByte) Update(key string, obj any) {
	s.all.RLock()
	defer s.all.RUnlock()
	s.shards[key[0]%shards].Update(key, obj)
}

func (s byFirstByte) Get(key string) (any, bool) {
	s.all.RLock()
	defer s.all.RUnlock()
	return s.shards[key[0]%shards].Get(key)
}

func shardedStores() []Mutant {
	on := func(name, mistake, clauses string, wrap func(*sharded) contract.Store) Mutant {
		m := mutant(contract.ComponentStore, name, mistake, clauses)
		m.NewStore = func(ix contract.Indexers) contract.Store { return wrap(newSharded(ix)) }
		return m
	}
	return []Mutant{
		on("list torn between shards", "List reads one shard after the other", "STORE-7 STORE-35",
			func(s *sharded) contract.Store { return tornList{s} }),
		on("keys torn between shards", "ListKeys reads one shard after the other", "STORE-8",
			func(s *sharded) contract.Store { return tornKeys{s} }),
		on("by-index torn between shards", "ByIndex reads one shard after the other", "STORE-9",
			func(s *sharded) contract.Store { return tornByIndex{s} }),
		on("index torn between shards", "Index reads one shard after the other", "STORE-10",
			func(s *sharded) contract.Store { return tornIndex{s} }),
		on("index-keys torn between shards", "IndexKeys reads one shard after the other", "STORE-11",
			func(s *sharded) contract.Store { return tornIndexKeys{s} }),
		on("values torn between shards", "ListIndexFuncValues reads one shard after the other",
			"STORE-12",
			func(s *sharded) contract.Store { return tornValues{s} }),
		on("replace shard by shard", "Replace fills one shard after the other", "STORE-7 STORE-8",
			func(s *sharded) contract.Store { return tornReplace{s} }),
		on("transaction shard by shard", "each shard's part of a batch is applied by itself", "STORE-38",
			func(s *sharded) contract.Store { return tornBatch{s} }),
		on("sorted keys in runs", "the sorted keys of one shard are appended to those of another",
			"STORE-14",
			func(s *sharded) contract.Store { return keysInRuns{s} }),
		on("a value per shard", "a value that objects of several shards have is listed once for each",
			"STORE-16",
			func(s *sharded) contract.Store { return valuesTwice{s} }),
		on("indexers of the first shard", "AddIndexers fills the new indexes from one shard", "STORE-23",
			func(s *sharded) contract.Store { return firstShard{s} }),
		on("shard by the first byte",
			"the shard of a key is found by its first byte, which the empty key has not", "STORE-1",
			func(s *sharded) contract.Store { return byFirstByte{s} }),
	}
}
