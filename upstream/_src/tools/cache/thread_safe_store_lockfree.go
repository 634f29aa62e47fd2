/*
Copyright The Kubernetes Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package cache

import (
	"sync"
	"time"

	clientgofeaturegate "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache/internal/lockfree"
	utiltrace "k8s.io/utils/trace"
)

var (
	_ ThreadSafeStoreWithTransaction = &lockFreeStore{}
	_ ThreadSafeStoreWithTransaction = &measuredLockFreeStore{}
)

// newLockFreeStore returns what NewThreadSafeStore returns with the feature gate
// LockFreeThreadSafeStore on. The map of indexers is copied.
func newLockFreeStore(indexers Indexers, metrics *storeMetrics) ThreadSafeStore {
	store := lockFreeStore{lockfree.New(lockFreeIndexers(indexers))}
	if _, off := metrics.storeResourceVersion.(noopMetric); off {
		return &store
	}
	return &measuredLockFreeStore{lockFreeStore: store, resourceVersion: metrics.storeResourceVersion}
}

// lockFreeStore gives the store of package lockfree the types of this package. The methods
// that need no other types are the store's own.
type lockFreeStore struct {
	*lockfree.Store
}

// Transaction applies the writes at one instant: readers see all of them or none.
func (s *lockFreeStore) Transaction(txns ...ThreadSafeStoreTransaction) {
	if len(txns) == 0 {
		return
	}
	trace := utiltrace.New("Lock-free store transaction",
		utiltrace.Field{Key: "size", Value: len(txns)})
	defer trace.LogIfLong(min(500*time.Millisecond*time.Duration(len(txns)), 5*time.Second))

	writes := make([]lockfree.KeyedTransaction, len(txns))
	for i, txn := range txns {
		writes[i] = lockfree.KeyedTransaction{
			Transaction: lockfree.Transaction{Object: txn.Object, Type: lockfree.TransactionType(txn.Type)},
			Key:         txn.Key,
		}
	}
	s.Store.Transaction(writes...)
}

// LastStoreSyncResourceVersion returns the newest resource version that the store was
// given, and nothing with the feature gate AtomicFIFO off.
func (s *lockFreeStore) LastStoreSyncResourceVersion() string {
	if !clientgofeaturegate.FeatureGates().Enabled(clientgofeaturegate.AtomicFIFO) {
		return ""
	}
	return s.Store.LastStoreSyncResourceVersion()
}

// GetIndexers returns a copy, which is the caller's.
func (s *lockFreeStore) GetIndexers() Indexers {
	indexers := Indexers{}
	for name, f := range s.Store.GetIndexers() {
		indexers[name] = f
	}
	return indexers
}

// AddIndexers adds indexes, and indexes what is stored. Readers do not wait for it.
func (s *lockFreeStore) AddIndexers(newIndexers Indexers) error {
	return s.Store.AddIndexers(lockFreeIndexers(newIndexers))
}

func lockFreeIndexers(indexers Indexers) lockfree.Indexers {
	converted := make(lockfree.Indexers, len(indexers))
	for name, f := range indexers {
		converted[name] = f
	}
	return converted
}

// measuredLockFreeStore also sets the gauge of the resource version. Its lock keeps the
// values of the gauge in the order of the writes; readers do not take it.
type measuredLockFreeStore struct {
	lockFreeStore
	resourceVersion GaugeMetric
	lock            sync.Mutex
}

// measure makes one write and sets the gauge to the resource version that the write
// brought, if it brought one.
func (s *measuredLockFreeStore) measure(rv string, brought bool, write func()) {
	value, err := parseRVForMetricsWithTruncation(rv)
	s.lock.Lock()
	defer s.lock.Unlock()
	write()
	if brought && err == nil {
		s.resourceVersion.Set(float64(value))
	}
}

// measureObject measures a write that brought the resource version of an object.
func (s *measuredLockFreeStore) measureObject(obj interface{}, write func()) {
	rv, err := rvFromObject(obj)
	s.measure(rv, err == nil, write)
}

func (s *measuredLockFreeStore) Add(key string, obj interface{}) {
	s.measureObject(obj, func() { s.Store.Add(key, obj) })
}

func (s *measuredLockFreeStore) Update(key string, obj interface{}) {
	s.measureObject(obj, func() { s.Store.Update(key, obj) })
}

func (s *measuredLockFreeStore) DeleteWithObject(key string, obj interface{}) {
	s.measureObject(obj, func() { s.Store.DeleteWithObject(key, obj) })
}

func (s *measuredLockFreeStore) Replace(items map[string]interface{}, rv string) {
	s.measure(rv, true, func() { s.Store.Replace(items, rv) })
}

func (s *measuredLockFreeStore) Bookmark(rv string) {
	s.measure(rv, true, func() { s.Store.Bookmark(rv) })
}

func (s *measuredLockFreeStore) Transaction(txns ...ThreadSafeStoreTransaction) {
	if len(txns) > 0 {
		s.measureObject(txns[len(txns)-1].Object, func() { s.lockFreeStore.Transaction(txns...) })
	}
}
