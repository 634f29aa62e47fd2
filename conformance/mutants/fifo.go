package mutants

// A FIFO of each class: the simple model under a lock. It is sound; fifos.go
// breaks it.

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/internal/fifomodel"
	"github.com/informerbench/informerbench/contract"
)

type (
	model = fifomodel.Model
	group = fifomodel.Group
)

// fifo is a contract.FIFO. Its steps are fields so that a mutant can replace one.
type fifo struct {
	keyFunc contract.KeyFunc
	cond    sync.Cond

	// key is the key of an object or a tombstone.
	key func(obj any) (string, error)
	// listed picks from a list what Replace goes on with.
	listed func(list []any) ([]any, error)

	// The following run with the lock held.
	produce func(kind contract.DeltaType, key string, obj any)
	replace func(list []any, resourceVersion string)
	resync  func()
	// wake is called after each producing call, with how many groups it added.
	wake func(added int)
	// sleep waits for a wake-up.
	sleep func()
	// ended says whether Pop is to return ErrFIFOClosed.
	ended func() bool
	// take takes out what Pop hands to process.
	take func() (g group, isInitial bool)
	// handle calls process.
	handle    func(process contract.PopProcessFunc, g group, isInitial bool) error
	hasSynced func() bool
	wakeAll   func() // called by Close

	mu struct {
		sync.Mutex
		model  model
		closed bool
	}
}

func newFIFO(cfg contract.FIFOConfig, class contract.FIFOClass) *fifo {
	f := &fifo{keyFunc: cfg.KeyFunc}
	if f.keyFunc == nil {
		f.keyFunc = cache.MetaNamespaceKeyFunc
	}
	f.cond.L = &f.mu
	m := &f.mu.model
	m.Class, m.Known = class, cfg.KnownObjects
	m.Key = func(obj any) string {
		key, _ := f.keyFunc(obj) // it did not fail when it was asked first
		return key
	}
	f.key, f.listed = f.soundKey, f.keyedOnly
	f.produce = func(kind contract.DeltaType, _ string, obj any) { m.Event(kind, obj) }
	f.replace, f.resync, f.take = m.Replace, m.Resync, m.Pop
	f.wake, f.wakeAll = func(int) { f.cond.Broadcast() }, f.cond.Broadcast
	f.sleep = f.cond.Wait
	f.ended = func() bool { return f.mu.closed && len(m.Waiting) == 0 }
	f.handle = func(process contract.PopProcessFunc, g group, isInitial bool) error {
		return process(g.Deltas, isInitial)
	}
	f.hasSynced = m.Synced
	return f
}

func (f *fifo) soundKey(obj any) (string, error) {
	if tombstone, ok := obj.(contract.DeletedFinalStateUnknown); ok {
		return tombstone.Key, nil
	}
	key, err := f.keyFunc(obj)
	if err != nil {
		return "", contract.KeyError{Obj: obj, Err: err}
	}
	return key, nil
}

// keyedOnly refuses a list with an object that has no key; where a list is one
// event it needs none.
func (f *fifo) keyedOnly(list []any) ([]any, error) {
	for _, obj := range list {
		if _, err := f.key(obj); err != nil && f.mu.model.Class != contract.InOrderAtomic {
			return nil, err
		}
	}
	return slices.Clone(list), nil
}

func (f *fifo) Add(obj any) error    { return f.add(contract.Added, obj) }
func (f *fifo) Update(obj any) error { return f.add(contract.Updated, obj) }
func (f *fifo) Delete(obj any) error { return f.add(contract.Deleted, obj) }

func (f *fifo) add(kind contract.DeltaType, obj any) error {
	key, err := f.key(obj)
	if err != nil {
		return err
	}
	f.producing(func() { f.produce(kind, key, obj) })
	return nil
}

func (f *fifo) producing(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := len(f.mu.model.Waiting)
	do()
	f.wake(len(f.mu.model.Waiting) - before)
}

func (f *fifo) Replace(list []any, resourceVersion string) error {
	good, err := f.listed(list)
	if err != nil {
		return err
	}
	f.producing(func() { f.replace(good, resourceVersion) })
	return nil
}

func (f *fifo) Resync() error {
	f.producing(func() { f.resync() })
	return nil
}

// waitLocked waits until something can be taken.
func (f *fifo) waitLocked() error {
	for {
		switch {
		case f.ended():
			return contract.ErrFIFOClosed
		case len(f.mu.model.Waiting) > 0:
			return nil
		}
		f.sleep()
	}
}

func (f *fifo) Pop(process contract.PopProcessFunc) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.waitLocked(); err != nil {
		return nil, err
	}
	g, isInitial := f.take()
	return g.Deltas, f.handle(process, g, isInitial)
}

func (f *fifo) HasSynced() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hasSynced()
}

func (f *fifo) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.closed = true
	f.wakeAll()
}

// readable is a fifo of class coalescing that is a contract.KeyedQueue too.
type readable struct {
	*fifo
	addIfNotPresent func(obj any) error
	list            func() []any
	get             func(obj any) (item any, exists bool, err error)
	getByKey        func(key string) (item any, exists bool, err error)
	isClosed        func() bool
}

var _ contract.KeyedQueue = (*readable)(nil)

func newReadable(cfg contract.FIFOConfig) *readable {
	f := &readable{fifo: newFIFO(cfg, contract.Coalescing)}
	f.addIfNotPresent, f.list, f.get, f.getByKey = f.soundAdd, f.newest, f.soundGet, f.find
	f.isClosed = func() bool { return f.mu.closed }
	f.handle = func(process contract.PopProcessFunc, g group, isInitial bool) error {
		return f.requeued(g, process(g.Deltas, isInitial))
	}
	return f
}

// requeued puts back what process asks for with its error.
func (f *readable) requeued(g group, err error) error {
	if requeue, ok := errors.AsType[contract.ErrRequeue](err); ok {
		f.mu.model.PutBack(g.Key, g.Deltas)
		return requeue.Err
	}
	return err
}

func (f *readable) AddIfNotPresent(obj any) error        { return f.addIfNotPresent(obj) }
func (f *readable) Get(obj any) (any, bool, error)       { return f.get(obj) }
func (f *readable) GetByKey(k string) (any, bool, error) { return f.getByKey(k) }

func (f *readable) List() []any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.list()
}

func (f *readable) IsClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.isClosed()
}

func (f *readable) soundAdd(obj any) error {
	deltas, ok := obj.(contract.Deltas)
	if !ok {
		return fmt.Errorf("AddIfNotPresent takes Deltas, not %T", obj)
	}
	if len(deltas) == 0 {
		return contract.KeyError{Obj: obj, Err: cache.ErrZeroLengthDeltasObject}
	}
	if _, err := f.key(deltas.Newest().Object); err != nil {
		return err
	}
	f.producing(func() { f.mu.model.AddIfNotPresent(deltas) })
	return nil
}

func (f *readable) newest() []any {
	list := []any{}
	for _, g := range f.mu.model.Waiting {
		list = append(list, g.Newest().Object)
	}
	return list
}

func (f *readable) ListKeys() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	keys := []string{}
	for _, g := range f.mu.model.Waiting {
		keys = append(keys, g.Key)
	}
	return keys
}

func (f *readable) soundGet(obj any) (item any, exists bool, err error) {
	if deltas, are := obj.(contract.Deltas); are && len(deltas) > 0 {
		obj = deltas.Newest().Object
	}
	key, err := f.key(obj)
	if err != nil {
		return nil, false, err
	}
	return f.GetByKey(key)
}

func (f *readable) find(key string) (item any, exists bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := f.mu.model.Find(key); i >= 0 {
		return slices.Clone(f.mu.model.Waiting[i].Deltas), true, nil
	}
	return nil, false, nil
}
