package deltafifo

// The methods that client-go v0.17 had for reading the queue.

import (
	"fmt"
	"slices"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// AddIfNotPresent queues the Deltas that a Pop returned, unless newer ones wait
// under their key. It keeps a copy. The error says that obj is not Deltas, or is
// a KeyError. Clause FIFO-47.
func (f *Coalescing) AddIfNotPresent(obj any) error {
	deltas, ok := obj.(contract.Deltas)
	if !ok {
		return fmt.Errorf("AddIfNotPresent takes the Deltas that Pop returned, not %T", obj)
	}
	if len(deltas) == 0 {
		return contract.KeyError{Obj: obj, Err: cache.ErrZeroLengthDeltasObject}
	}
	key, err := f.keys.of(deltas.Newest().Object)
	if err != nil {
		return err
	}
	f.put(event{key: key, obj: slices.Clone(deltas), kind: putBack})
	return nil
}

// List returns the newest object, or tombstone, of each waiting key, in the order
// in which the keys wait.
func (f *Coalescing) List() (list []any) {
	f.read(func() {
		list = make([]any, 0, f.waiting.len())
		for e := range f.waiting.all() {
			list = append(list, e.newest().Object)
		}
	})
	return list
}

// ListKeys returns the waiting keys in the order in which they wait.
func (f *Coalescing) ListKeys() (keys []string) {
	f.read(func() {
		keys = make([]string, 0, f.waiting.len())
		for e := range f.waiting.all() {
			keys = append(keys, e.key.String())
		}
	})
	return keys
}

// Get returns a copy of the Deltas that wait under obj's key. Of Deltas, such as a Pop
// returned, that is the key of the newest. The error is a KeyError.
func (f *Coalescing) Get(obj any) (item any, exists bool, err error) {
	if deltas, ok := obj.(contract.Deltas); ok && len(deltas) > 0 {
		obj = deltas.Newest().Object
	}
	key, err := f.keys.of(obj)
	if err != nil {
		return nil, false, err
	}
	return f.get(key)
}

// GetByKey returns a copy of the Deltas that wait under key; the error is always
// nil.
func (f *Coalescing) GetByKey(key string) (item any, exists bool, err error) {
	return f.get(parseKey(key))
}

func (f *Coalescing) get(key objectKey) (item any, exists bool, err error) {
	f.read(func() {
		if e := f.waiting.find(key, 0); e != nil {
			item, exists = e.clone(), true
		}
	})
	return item, exists, nil
}
