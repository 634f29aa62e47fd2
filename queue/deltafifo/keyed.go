package deltafifo

// The methods that client-go v0.17 had for reading the queue.

import (
	"fmt"
	"slices"

	"github.com/informerbench/informerbench/contract"
)

// AddIfNotPresent queues the Deltas that a Pop returned, unless newer ones wait
// under their key. It keeps a copy. The error says that obj is not Deltas, or is
// a KeyError. Clause FIFO-47.
func (f *DeltaFIFO) AddIfNotPresent(obj any) error {
	deltas, ok := obj.(contract.Deltas)
	if !ok {
		return fmt.Errorf("AddIfNotPresent takes the Deltas that Pop returned, not %T", obj)
	}
	key, err := f.KeyOf(deltas)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.initial.begin(0)
	f.putBackLocked(key, deltas)
	return nil
}

// List returns the newest object, or tombstone, of each waiting key, in the order
// in which the keys wait.
func (f *DeltaFIFO) List() []any {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]any, 0, f.mu.order.len())
	for a := range f.mu.order.all() {
		list = append(list, a.deltas.Newest().Object)
	}
	return list
}

// ListKeys returns the waiting keys in the order in which they wait.
func (f *DeltaFIFO) ListKeys() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	keys := make([]string, 0, f.mu.order.len())
	for a := range f.mu.order.all() {
		keys = append(keys, a.key)
	}
	return keys
}

// Get returns a copy of the Deltas that wait under obj's key. The error is a
// KeyError.
func (f *DeltaFIFO) Get(obj any) (item any, exists bool, err error) {
	key, err := f.KeyOf(obj)
	if err != nil {
		return nil, false, err
	}
	return f.GetByKey(key)
}

// GetByKey returns a copy of the Deltas that wait under key; the error is always
// nil.
func (f *DeltaFIFO) GetByKey(key string) (item any, exists bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := f.mu.waiting[key]
	if a == nil {
		return nil, false, nil
	}
	return slices.Clone(a.deltas), true, nil
}

// IsClosed reports whether Close was called.
func (f *DeltaFIFO) IsClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.closed
}
