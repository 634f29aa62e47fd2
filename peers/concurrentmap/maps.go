package concurrentmap

import (
	"sync"

	"github.com/puzpuzpuz/xsync/v4"

	"github.com/informerbench/informerbench/contract"
)

// objectMap has the methods that the store needs of a concurrent map. Load and Range run
// beside writes. Writes come one at a time, because the store locks around them. Range
// visits no key twice, and visits each key that is stored throughout.
type objectMap interface {
	Load(key string) (obj any, exists bool)
	Store(key string, obj any)
	Delete(key string)
	Range(visit func(key string, obj any) bool)
}

// NewSync returns an empty store over sync.Map, with the given indexers, which may
// be nil. The map of indexers is copied.
func NewSync(indexers contract.Indexers) *Store {
	return newStore(indexers, func(int) objectMap { return &syncMap{} })
}

// NewXSync returns an empty store over xsync.Map, with the given indexers, which may
// be nil. The map of indexers is copied.
func NewXSync(indexers contract.Indexers) *Store {
	return newStore(indexers, func(size int) objectMap {
		return xsync.NewMap[string, any](xsync.WithPresize(size))
	})
}

// syncMap gives sync.Map the types of the store.
type syncMap struct{ objects sync.Map }

func (m *syncMap) Load(key string) (obj any, exists bool) { return m.objects.Load(key) }
func (m *syncMap) Store(key string, obj any)              { m.objects.Store(key, obj) }
func (m *syncMap) Delete(key string)                      { m.objects.Delete(key) }

func (m *syncMap) Range(visit func(key string, obj any) bool) {
	m.objects.Range(func(key, obj any) bool { return visit(key.(string), obj) })
}
