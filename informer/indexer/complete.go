package indexer

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// Complete returns store itself if it has every method of
// cache.ThreadSafeStoreWithTransaction, and otherwise a wrapper that supplies the missing
// ones, as [New] says.
func Complete(store contract.Store) cache.ThreadSafeStoreWithTransaction {
	if whole, ok := store.(cache.ThreadSafeStoreWithTransaction); ok {
		return whole
	}
	versions, kept := store.(contract.ResourceVersioner)
	if !kept {
		versions = &lastVersion{}
	}
	return &completed{Store: store, ResourceVersioner: versions, storeKeepsVersion: kept}
}

// completed adds to a store the methods that it lacks. It uses those that the store has.
type completed struct {
	contract.Store
	contract.ResourceVersioner
	// storeKeepsVersion means that the store keeps the versions of objects written to it. It
	// must be told those of deletions only.
	storeKeepsVersion bool
}

func (c *completed) Add(key string, obj any) {
	c.Store.Add(key, obj)
	c.noteWrite(obj)
}

func (c *completed) Update(key string, obj any) {
	c.Store.Update(key, obj)
	c.noteWrite(obj)
}

func (c *completed) DeleteWithObject(key string, obj any) {
	if d, ok := c.Store.(contract.ObjectDeleter); ok {
		d.DeleteWithObject(key, obj)
		c.noteWrite(obj)
		return
	}
	c.Store.Delete(key)
	c.note(obj)
}

func (c *completed) Replace(items map[string]any, resourceVersion string) {
	c.Store.Replace(items, resourceVersion)
	if !c.storeKeepsVersion {
		c.Bookmark(resourceVersion)
	}
}

func (c *completed) Transaction(txns ...contract.StoreTransaction) {
	if len(txns) == 0 {
		return
	}
	if b, ok := c.Store.(contract.Transactor); ok {
		b.Transaction(txns...)
		c.noteWrite(txns[len(txns)-1].Object)
		return
	}
	for _, txn := range txns {
		switch txn.Type {
		case contract.TransactionTypeAdd:
			c.Add(txn.Key, txn.Object)
		case contract.TransactionTypeUpdate:
			c.Update(txn.Key, txn.Object)
		case contract.TransactionTypeDelete:
			c.DeleteWithObject(txn.Key, txn.Object)
		}
	}
}

// noteWrite notes the version of an object that was given to the store, if the store does not.
func (c *completed) noteWrite(obj any) {
	if !c.storeKeepsVersion {
		c.note(obj)
	}
}

// note takes the version of an object that has metadata. It runs after the write,
// so the version is never newer than what readers find.
func (c *completed) note(obj any) {
	if obj == nil {
		return
	}
	if m, err := meta.Accessor(obj); err == nil {
		c.Bookmark(m.GetResourceVersion())
	}
}

// lastVersion keeps the resource version for a store that keeps none.
type lastVersion struct {
	mu struct {
		sync.Mutex
		rv string
	}
}

func (v *lastVersion) Bookmark(rv string) {
	v.mu.Lock()
	v.mu.rv = rv
	v.mu.Unlock()
}

func (v *lastVersion) LastStoreSyncResourceVersion() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.mu.rv
}
