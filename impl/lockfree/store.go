package lockfree

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/indexing"
)

// Store is a contract.Store and has every optional power: it satisfies
// cache.ThreadSafeStoreWithTransaction. All methods may be called by any number of
// goroutines at once. An IndexFunc may read the store that it indexes; it must not
// write to it. Make one with New.
type Store struct {
	writer sync.Mutex // held by the one writer; no reader takes it
	view   atomic.Pointer[view]
}

// view is the core and the indexes over it, as readers load them. A view never changes.
// Replace publishes a view with another core, AddIndexers one with more indexes over the
// same core. Indexes are only ever added, at the end.
type view struct {
	*core
	indexes []*index
	byName  map[string]*index
}

var (
	_ cache.ThreadSafeStoreWithTransaction = (*Store)(nil)
	_ contract.Store                       = (*Store)(nil)
	_ contract.Transactor                  = (*Store)(nil)
	_ contract.Appender                    = (*Store)(nil)
	_ contract.ObjectDeleter               = (*Store)(nil)
	_ contract.ResourceVersioner           = (*Store)(nil)
)

// New returns an empty store with the given indexers, which may be nil. The map is
// copied.
func New(indexers contract.Indexers) *Store {
	v := &view{core: newCore()}
	for name, compute := range indexers {
		v = v.with(newIndex(name, compute, len(v.indexes)))
	}
	s := &Store{}
	s.view.Store(v)
	return s
}

// with returns v and one more index, which the core then has. Writer only.
func (v *view) with(x *index) *view {
	byName := make(map[string]*index, len(v.byName)+1)
	maps.Copy(byName, v.byName)
	byName[x.name] = x
	v.core.indexes = append(slices.Clip(v.indexes), x)
	return &view{core: v.core, indexes: v.core.indexes, byName: byName}
}

func (v *view) find(indexName string) (*index, error) {
	x, ok := v.byName[indexName]
	if !ok {
		return nil, indexing.ErrUnknown(indexName)
	}
	return x, nil
}

// Get returns the object under key. O(1), no allocation, no waiting. It is linearized as
// values.go says, or, where it calls look, as look says.
func (s *Store) Get(key string) (item any, exists bool) {
	// This is table.find, inlined by hand: the call would add a tenth to Get's time.
	c := s.view.Load().core
	word := c.keys.word(key)
	dir := c.keys.dir.Load()
	entries := dir.entries[word>>(64-dir.depth)]
	for i := home(entries, word); ; {
		e := &entries[i]
		switch e.word.Load() {
		case word:
			if e.is(word, key) {
				if data := atomic.LoadPointer(&e.data); data != nil {
					return objectOf(c.shown.kind, data), true
				}
				return c.look(e.record())
			}
		case 0:
			return nil, false
		}
		if i++; i == len(entries) {
			i = 0
		}
	}
}

// look returns the object of r, for a Get that found none beside the key: a write of the key is
// under way, or the object is of another type than the first one of the store. It opens a
// snapshot.
func (c *core) look(r *record) (item any, exists bool) {
	slot, seq := c.readers.acquire(&c.committed)
	item = r.object(seq, &c.shown)
	slot.release(0)
	if isAbsent(item) {
		return nil, false
	}
	return item, true
}

// List returns all objects, in no order, in a slice that is the caller's. O(n). It waits for no
// write; from 4,096 objects on it may let other such lists end first, of any store.
func (s *Store) List() []any {
	v := s.view.Load()
	n := v.enter()
	return v.list(roomFor[any](n), n)
}

// AppendList appends all objects to dst, in no order. O(n). It waits as List does.
func (s *Store) AppendList(dst []any) []any {
	v := s.view.Load()
	n := v.enter()
	dst = slices.Grow(dst, n+n/64)
	return append(dst, v.list(dst[len(dst):], n)...) // in place if they fit
}

// enter begins a read of everything and returns about how many objects there are.
func (v *view) enter() (n int) {
	n = int(v.objects.used.Load())
	admit(n)
	return n
}

// list ends a read that enter began: the objects of a snapshot, in room if they fit there.
func (v *view) list(room []any, n int) []any {
	slot, seq := v.readers.acquire(&v.committed)
	list := v.objects.objects(room, seq, &v.shown)
	slot.end(n)
	return list
}

// ListKeys returns all keys, in no order, in a slice that is the caller's. O(n). It waits as
// List does.
func (s *Store) ListKeys() []string {
	v := s.view.Load()
	n := v.enter()
	room := roomFor[string](n)
	slot, seq := v.readers.acquire(&v.committed)
	keys := v.objects.keys(room, seq, &v.shown)
	slot.end(n)
	return keys
}

// ByIndex returns the objects that have the value in the index, in no order, in a
// slice that is the caller's. An index that the store does not have is an error; a
// value that no object has is not. O(matches), no waiting.
func (s *Store) ByIndex(indexName, indexedValue string) ([]any, error) {
	return s.AppendByIndex(nil, indexName, indexedValue)
}

// AppendByIndex appends what ByIndex returns to dst; with an error it returns dst. O(matches),
// no waiting.
func (s *Store) AppendByIndex(dst []any, indexName, indexedValue string) ([]any, error) {
	v := s.view.Load()
	x, err := v.find(indexName)
	if err != nil {
		return dst, err
	}
	slot, seq := v.readers.acquire(&v.committed)
	b := x.bucketAt(indexedValue, seq)
	n := b.size()
	begin(n)
	list := b.list(dst[len(dst):], seq, &v.shown)
	slot.end(n)
	if len(dst) == 0 {
		return list, nil
	}
	return append(dst, list...), nil // in place if they fit
}

// Index returns the objects that share a value of the index with obj, each once. The
// errors are those of ByIndex and of the IndexFunc. O(matches), no waiting.
func (s *Store) Index(indexName string, obj any) ([]any, error) {
	v := s.view.Load()
	x, err := v.find(indexName)
	if err != nil {
		return nil, err
	}
	values, err := x.compute(obj)
	if err != nil {
		return nil, err
	}
	if len(values) == 1 {
		return s.ByIndex(indexName, values[0])
	}
	slot, seq := v.readers.acquire(&v.committed)
	list := []any{}
	seen := map[*record]bool{}
	for _, value := range values {
		b := x.bucketAt(value, seq)
		if b == nil {
			continue
		}
		for _, r := range b.objects.records(seq, &v.shown) {
			if !seen[r] {
				seen[r] = true
				list = append(list, r.object(seq, &v.shown))
			}
		}
	}
	slot.release(len(list))
	return list, nil
}

// IndexKeys returns the keys of the objects that have the value in the index,
// sorted. The errors are those of ByIndex. O(matches log matches), no waiting.
func (s *Store) IndexKeys(indexName, indexedValue string) ([]string, error) {
	v := s.view.Load()
	x, err := v.find(indexName)
	if err != nil {
		return nil, err
	}
	slot, seq := v.readers.acquire(&v.committed)
	keys := []string{}
	b := x.bucketAt(indexedValue, seq)
	n := b.size()
	begin(n)
	if b != nil {
		keys = b.objects.keys(nil, seq, &v.shown)
	}
	slot.end(n)
	slices.Sort(keys)
	return keys, nil
}

// ListIndexFuncValues returns the values that stored objects have in the index, in no
// order; an index that the store does not have has none. O(values), and a little for each three
// values that there once were; no waiting.
func (s *Store) ListIndexFuncValues(indexName string) []string {
	v := s.view.Load()
	x, err := v.find(indexName)
	if err != nil {
		return []string{}
	}
	slot, seq := v.readers.acquire(&v.committed)
	values := x.values(seq)
	slot.release(len(values))
	return values
}

// GetIndexers returns a copy of the indexers, which is the caller's.
func (s *Store) GetIndexers() contract.Indexers {
	v := s.view.Load()
	indexers := make(contract.Indexers, len(v.indexes))
	for _, x := range v.indexes {
		indexers[x.name] = x.compute
	}
	return indexers
}

// LastStoreSyncResourceVersion returns the resource version of the newest write that
// had one (STORE-40), in O(1), without waiting. Unlike client-go's it heeds no feature gate.
func (s *Store) LastStoreSyncResourceVersion() string {
	v := s.view.Load()
	slot, _ := v.readers.acquire(&v.committed)
	rv := v.resourceVersion.last(&v.committed)
	slot.release(1)
	return rv
}

// Resync does nothing; it is there for cache.ThreadSafeStore.
func (s *Store) Resync() error { return nil }
