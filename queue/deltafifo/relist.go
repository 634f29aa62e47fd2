package deltafifo

// Replace and Resync of a DeltaFIFO.

import (
	"fmt"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/contract"
)

// Replace queues a Replaced delta for each object of list and a Deleted delta,
// with a tombstone, for each key that waits or is known and is not listed. The
// tombstone has the newest object that waited, or else the known one. The list
// is not kept. The error is a KeyError or wraps the transformer's, and then
// nothing is queued. Clauses FIFO-32 to FIFO-34.
func (f *DeltaFIFO) Replace(list []any, _ string) error {
	keys := make([]string, len(list))
	for i, obj := range list {
		key, err := f.KeyOf(obj)
		if err != nil {
			return err
		}
		keys[i] = key
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	objs, err := f.transformListLocked(list)
	if err != nil {
		return err
	}
	f.reserveLocked(len(objs))
	f.mu.relists++
	for i, key := range keys {
		// The stamp, not a set of keys, tells what was listed: all of it waits now.
		f.enqueueLocked(key, contract.Delta{Type: f.replaced, Object: objs[i]}).relist = f.mu.relists
	}
	for a := range f.mu.order.all() {
		if a.relist != f.mu.relists {
			a.add(deletion(a.key, a.deltas.Newest().Object))
		}
	}
	f.deleteKnownLocked()
	f.mu.initial.begin(f.mu.order.len())
	return nil
}

func (f *DeltaFIFO) transformListLocked(list []any) ([]any, error) {
	if f.transformer == nil {
		return list, nil
	}
	objs := make([]any, len(list))
	for i, obj := range list {
		var err error
		if objs[i], err = f.transformLocked(obj); err != nil {
			return nil, fmt.Errorf("transforming object %d of a list of %d: %w", i, len(list), err)
		}
	}
	return objs, nil
}

// reserveLocked spares a large list the growth of the map and the ring.
func (f *DeltaFIFO) reserveLocked(n int) {
	f.mu.order.reserve(n)
	if len(f.mu.waiting) == 0 {
		f.mu.waiting = make(map[string]*accumulator, n)
	}
}

// deleteKnownLocked queues deletions of the known keys that do not wait. It runs
// when all listed keys wait, and all unlisted waiting keys have their deletion.
func (f *DeltaFIFO) deleteKnownLocked() {
	if f.known == nil {
		return
	}
	for _, key := range f.known.ListKeys() {
		if f.mu.waiting[key] != nil {
			continue
		}
		obj, exists, err := f.known.GetByKey(key)
		if err != nil || !exists {
			obj = nil
			reportLookup(f.logger, key, err)
		}
		f.enqueueLocked(key, deletion(key, obj))
	}
}

// deletion is the delta of an object whose deletion was missed. A tombstone that
// waited is unwrapped: the consumer looks for the object inside.
func deletion(key string, obj any) contract.Delta {
	if tombstone, ok := obj.(contract.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	return contract.Delta{Type: contract.Deleted,
		Object: contract.DeletedFinalStateUnknown{Key: key, Obj: obj}}
}

// Resync queues a Sync delta for each known object whose key does not wait: waiting deltas
// are newer than the known object. The error is always nil. Clause FIFO-35.
func (f *DeltaFIFO) Resync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		return nil
	}
	for _, key := range f.known.ListKeys() {
		if f.mu.waiting[key] != nil {
			continue
		}
		obj, exists, err := f.known.GetByKey(key)
		if err != nil || !exists {
			reportLookup(f.logger, key, err)
			continue
		}
		f.enqueueLocked(key, contract.Delta{Type: contract.Sync, Object: obj})
	}
	return nil
}

// reportLookup hands a failed look-up to apimachinery's handlers, because a
// Reflector could do nothing with the error. A key that is merely gone is no error:
// the store may have been changed from elsewhere.
func reportLookup(logger klog.Logger, key string, err error) {
	if err != nil {
		utilruntime.HandleErrorWithLogger(logger, err, "Looking up a known object", "key", key)
	}
}
