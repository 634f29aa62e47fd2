//go:build explore

package linear

import (
	"slices"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/explore"
)

// Stepped makes each call of a store one step for internal/explore. If a broken store is
// built from such calls, the explorer can switch threads between them.
func Stepped(s cache.ThreadSafeStoreWithTransaction) cache.ThreadSafeStoreWithTransaction {
	return stepped{s}
}

type stepped struct {
	cache.ThreadSafeStoreWithTransaction
}

func (s stepped) base(call string) cache.ThreadSafeStoreWithTransaction {
	explore.Point(call)
	return s.ThreadSafeStoreWithTransaction
}

func (s stepped) Add(key string, obj any)    { s.base("Add").Add(key, obj) }
func (s stepped) Update(key string, obj any) { s.base("Update").Update(key, obj) }
func (s stepped) Delete(key string)          { s.base("Delete").Delete(key) }
func (s stepped) DeleteWithObject(key string, obj any) {
	s.base("Delete").DeleteWithObject(key, obj)
}
func (s stepped) Get(key string) (any, bool) { return s.base("Get").Get(key) }
func (s stepped) List() []any                { return s.base("List").List() }

// ListKeys sorts the keys: client-go's order is random, and a schedule must always give the
// same run.
func (s stepped) ListKeys() []string {
	return slices.Sorted(slices.Values(s.base("ListKeys").ListKeys()))
}

func (s stepped) Replace(items map[string]any, rv string) { s.base("Replace").Replace(items, rv) }
func (s stepped) Transaction(txns ...contract.StoreTransaction) {
	s.base("Transaction").Transaction(txns...)
}
func (s stepped) Bookmark(rv string)             { s.base("Bookmark").Bookmark(rv) }
func (s stepped) GetIndexers() contract.Indexers { return s.base("GetIndexers").GetIndexers() }
func (s stepped) AddIndexers(ix contract.Indexers) error {
	return s.base("AddIndexers").AddIndexers(ix)
}
func (s stepped) ListIndexFuncValues(index string) []string {
	return s.base("Values").ListIndexFuncValues(index)
}
func (s stepped) ByIndex(index, value string) ([]any, error) {
	return s.base("ByIndex").ByIndex(index, value)
}
func (s stepped) Index(index string, obj any) ([]any, error) {
	return s.base("Index").Index(index, obj)
}
func (s stepped) IndexKeys(index, value string) ([]string, error) {
	keys, err := s.base("IndexKeys").IndexKeys(index, value)
	slices.Sort(keys)
	return keys, err
}
func (s stepped) LastStoreSyncResourceVersion() string {
	return s.base("LastStoreSyncResourceVersion").LastStoreSyncResourceVersion()
}
