package mutants

// Stores whose content is never written to: a write publishes another one.

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/informerbench/informerbench/contract"
)

// chunks is how many maps a content is spread over; a write copies one.
const chunks = 4

// content is what a store holds at one instant.
type content struct {
	chunks   [chunks]map[string]any
	copied   [chunks]bool // since the last publication: no reader has that map
	indexers contract.Indexers
}

// snapshots is a sound store: writers take turns, readers take the newest content
// and look through all of it. Its steps are fields so that a mutant can replace one.
type snapshots struct {
	now     atomic.Pointer[content]
	writers sync.Mutex

	// write publishes what change makes of a copy of the content.
	write func(change func(*content))
	// objects are what readers of several objects look through.
	objects func() []keyed
}

type keyed struct {
	key string
	obj any
}

func newSnapshots(ix contract.Indexers) *snapshots {
	s := &snapshots{}
	empty := &content{indexers: contract.Indexers{}}
	maps.Copy(empty.indexers, ix)
	s.now.Store(empty)
	s.write, s.objects = s.writeInTurn, func() []keyed { return s.newest().objects() }
	return s
}

func (s *snapshots) writeInTurn(change func(*content)) {
	s.writers.Lock()
	defer s.writers.Unlock()
	next := *s.newest()
	change(&next)
	s.publish(&next)
}

func (s *snapshots) newest() *content { return s.now.Load() }

func (s *snapshots) publish(c *content) {
	c.copied = [chunks]bool{}
	s.now.Store(c)
}

func (c *content) objects() (all []keyed) {
	for i := range c.chunks {
		all = append(all, c.chunk(i)...)
	}
	return all
}

func (c *content) chunk(i int) (all []keyed) {
	for key, obj := range c.chunks[i] {
		all = append(all, keyed{key, obj})
	}
	return all
}

func chunkOf(key string) int {
	sum := 0
	for _, b := range []byte(key) {
		sum += int(b)
	}
	return sum % chunks
}

// check panics if an IndexFunc fails on obj.
func (c *content) check(obj any) { valuesUnder(c.indexers, obj) }

func (c *content) put(key string, obj any) {
	c.check(obj)
	c.own(key)[key] = obj
}

// own is the map of a key, copied if a reader may have it.
func (c *content) own(key string) map[string]any {
	i := chunkOf(key)
	if !c.copied[i] {
		fresh := make(map[string]any, len(c.chunks[i])+1)
		maps.Copy(fresh, c.chunks[i])
		c.chunks[i], c.copied[i] = fresh, true
	}
	return c.chunks[i]
}

func (c *content) remove(key string) { delete(c.own(key), key) }

func (s *snapshots) Add(key string, obj any) { s.Update(key, obj) }

func (s *snapshots) Update(key string, obj any) { s.write(func(c *content) { c.put(key, obj) }) }

func (s *snapshots) Delete(key string) { s.write(func(c *content) { c.remove(key) }) }

func (s *snapshots) Replace(items map[string]any, _ string) {
	s.write(func(c *content) {
		var fresh [chunks]map[string]any
		for i := range fresh {
			fresh[i] = map[string]any{}
		}
		for key, obj := range items {
			c.check(obj)
			fresh[chunkOf(key)][key] = obj
		}
		c.chunks = fresh
	})
}

func (s *snapshots) Transaction(txns ...contract.StoreTransaction) {
	s.write(func(c *content) {
		for _, txn := range txns {
			if txn.Type == contract.TransactionTypeDelete {
				c.remove(txn.Key)
			} else {
				c.put(txn.Key, txn.Object)
			}
		}
	})
}

func (s *snapshots) Get(key string) (any, bool) {
	obj, ok := s.newest().chunks[chunkOf(key)][key]
	return obj, ok
}

func (s *snapshots) List() []any {
	list := []any{}
	for _, o := range s.objects() {
		list = append(list, o.obj)
	}
	return list
}

func (s *snapshots) ListKeys() []string {
	keys := []string{}
	for _, o := range s.objects() {
		keys = append(keys, o.key)
	}
	return keys
}

func (s *snapshots) indexFunc(index string) (contract.IndexFunc, error) {
	if f := s.newest().indexers[index]; f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("reading: Index with name %s does not exist", index)
}

// having gives the objects that have one of the values in the index.
func (s *snapshots) having(index string, wanted ...string) ([]keyed, error) {
	f, err := s.indexFunc(index)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(s.objects(), func(o keyed) bool {
		values, _ := f(o.obj)
		return !slices.ContainsFunc(values, func(v string) bool { return slices.Contains(wanted, v) })
	}), nil
}

func (s *snapshots) objectsHaving(index string, wanted ...string) ([]any, error) {
	found, err := s.having(index, wanted...)
	list := []any{}
	for _, o := range found {
		list = append(list, o.obj)
	}
	return list, err
}

func (s *snapshots) Index(index string, obj any) ([]any, error) {
	f, err := s.indexFunc(index)
	if err != nil {
		return nil, err
	}
	values, err := f(obj)
	if err != nil {
		return nil, err
	}
	return s.objectsHaving(index, slices.Clone(values)...) // f is called again meanwhile
}

func (s *snapshots) ByIndex(index, value string) ([]any, error) {
	return s.objectsHaving(index, value)
}

func (s *snapshots) IndexKeys(index, value string) ([]string, error) {
	found, err := s.having(index, value)
	keys := []string{}
	for _, o := range found {
		keys = append(keys, o.key)
	}
	slices.Sort(keys)
	return keys, err
}

func (s *snapshots) ListIndexFuncValues(index string) []string {
	f, err := s.indexFunc(index)
	if err != nil {
		return nil
	}
	var all []string
	for _, o := range s.objects() {
		values, _ := f(o.obj)
		all = append(all, values...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (s *snapshots) GetIndexers() contract.Indexers { return maps.Clone(s.newest().indexers) }

func (s *snapshots) AddIndexers(ix contract.Indexers) (err error) {
	s.write(func(c *content) { err = c.addIndexers(ix) })
	return err
}

func (c *content) addIndexers(ix contract.Indexers) error {
	all := maps.Clone(c.indexers)
	for name, f := range ix {
		if all[name] != nil {
			return fmt.Errorf("adding: indexer conflict over %q", name)
		}
		all[name] = f
	}
	for _, o := range c.objects() {
		valuesUnder(ix, o.obj)
	}
	c.indexers = all
	return nil
}

func (s *snapshots) Resync() error { return nil }

// lostByIndexers takes no turn with the writers.
type lostByIndexers struct{ *snapshots }

func (s lostByIndexers) AddIndexers(ix contract.Indexers) error {
	next := *s.newest()
	err := next.addIndexers(ix)
	runtime.Gosched() // it takes long in a large store
	s.publish(&next)
	return err
}

// torn publishes what a Replace brings chunk by chunk.
type torn struct{ *snapshots }

func (s torn) Replace(items map[string]any, _ string) {
	for i := range chunks {
		s.write(func(c *content) {
			c.chunks[i] = nil
			for key, obj := range items {
				if chunkOf(key) == i {
					c.put(key, obj)
				}
			}
		})
	}
}

func snapshotStores() []Mutant {
	on := func(name, mistake, clauses string, wrap func(*snapshots) contract.Store) Mutant {
		m := mutant(contract.ComponentStore, name, mistake, clauses)
		m.NewStore = func(ix contract.Indexers) contract.Store { return wrap(newSnapshots(ix)) }
		return m
	}
	return []Mutant{
		on("optimistic copy", "a writer copies the content and publishes its copy without asking "+
			"whether another did meanwhile", "STORE-36", func(s *snapshots) contract.Store {
			s.write = func(change func(*content)) {
				next := *s.newest()
				change(&next)
				s.publish(&next)
			}
			return s
		}),
		on("newer version of one chunk",
			"a reader of all chunks takes the last one from the newest content and not from its own",
			"STORE-7 STORE-9 STORE-35", func(s *snapshots) contract.Store {
				s.objects = func() []keyed {
					mine := s.newest()
					var all []keyed
					for i := range chunks - 1 {
						all = append(all, mine.chunk(i)...)
						runtime.Gosched() // so as not to hold the processor for all of a long list
					}
					return append(all, s.newest().chunk(chunks-1)...)
				}
				return s
			}),
		on("lists one write behind",
			"what lists look through is published before the write that publishes it", "STORE-4 STORE-35",
			func(s *snapshots) contract.Store {
				var behind atomic.Pointer[content]
				behind.Store(s.newest())
				s.write = func(change func(*content)) {
					s.writers.Lock()
					defer s.writers.Unlock()
					behind.Store(s.newest())
					next := *s.newest()
					change(&next)
					s.publish(&next)
				}
				s.objects = func() []keyed { return behind.Load().objects() }
				return s
			}),
		on("replace chunk by chunk", "each chunk of a Replace is published by itself", "STORE-7 STORE-29",
			func(s *snapshots) contract.Store { return torn{s} }),
		on("indexers over a lost write", "AddIndexers publishes the content that it began with",
			"STORE-23", func(s *snapshots) contract.Store { return lostByIndexers{s} }),
	}
}
