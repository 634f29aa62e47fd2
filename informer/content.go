package informer

// Applying deltas from a FIFO to the store, and the notifications of what changed.

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/objects"
)

// chunk is how many notifications of a list or a resync are published at once.
const chunk = 1024

// content applies deltas to a store and publishes the changes. A batch is one write of the
// store, and is published after the write. So a handler that is notified finds the store as
// new as the notification, or newer. One goroutine at a time may use it.
//
// Handlers are told of a deletion though the store does not hold the object, as client-go's are:
// who waits to see an object go (controller-runtime's EnableReadYourWritesConsistency) sees it.
type content struct {
	keyFunc contract.KeyFunc
	store   cache.ThreadSafeStoreWithTransaction
	// failures tells the store's panics over a failed IndexFunc from its other panics.
	failures *indexFailures
	logger   klog.Logger
	// publish must not keep the batch.
	publish  func(batch []notification)
	detector cache.MutationDetector // nil: none
	objects  contract.ObjectKeeper  // nil: the store has objects themselves
	// onlyChanges and recreations are Options.OnlyChanges and Options.Recreations.
	onlyChanges, recreations bool
	// ordered is set by the first list that comes as one delta: a FIFO that gives a list so hands
	// out all events in their order. Any other may hand out an event while older ones of other keys
	// wait, and the store's version would promise what it does not hold yet.
	ordered atomic.Bool
	// publishVersion publishes the store's resource version after each write; nil: no metrics.
	publishVersion func(version string)

	// The staged writes and, at the same index, their notifications.
	writes []contract.StoreTransaction
	notes  []notification
	// newest is where in writes the newest write of each key is, if a batch is staged.
	newest   map[string]int
	last     []contract.StoreTransaction // of each key, if one has several
	batching bool
	// small counts the batches in a row that needed little of the room in writes.
	small int
}

// process is a contract.PopProcessFunc. It clears the Deltas that it is given.
func (c *content) process(obj any, isInInitialList bool) error {
	deltas, ok := obj.(contract.Deltas)
	if !ok {
		return fmt.Errorf("a FIFO handed out a %T, and not Deltas", obj)
	}
	defer c.forget()
	defer clear(deltas) // a FIFO may keep the slice, and with a list in it every object of the list
	var errs []error
	for i := range deltas {
		if err := c.one(&deltas[i], isInInitialList); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// processBatch is a contract.ProcessBatchFunc. Of several deltas of one key handlers are told of
// each, and the store takes the last. The error joins those of the deltas that could not be
// applied; the others were applied.
func (c *content) processBatch(deltas []contract.Delta, isInInitialList bool) error {
	if !slices.ContainsFunc(deltas, comesAlone) {
		defer c.forget()
		c.batching = true
		var errs []error
		for i := range deltas {
			if err := c.stage(&deltas[i], isInInitialList); err != nil {
				errs = append(errs, err)
			}
		}
		c.commit()
		return errors.Join(errs...)
	}
	return c.process(contract.Deltas(deltas), isInInitialList)
}

// one applies one delta.
func (c *content) one(d *contract.Delta, isInInitialList bool) error {
	switch d.Type {
	case contract.ReplacedAll:
		info, ok := d.Object.(contract.ReplacedAllInfo)
		if !ok {
			return fmt.Errorf("a delta of type %s carries a %T, and not a ReplacedAllInfo", d.Type, d.Object)
		}
		return c.replaceAll(info, isInInitialList)
	case contract.SyncAll:
		c.syncAll()
		return nil
	case contract.Bookmark:
		info, ok := d.Object.(cache.BookmarkInfo)
		if !ok {
			return fmt.Errorf("a delta of type %s carries a %T, and not a BookmarkInfo", d.Type, d.Object)
		}
		c.store.Bookmark(info.ResourceVersion)
		c.wrote()
		return nil
	}
	if comesAlone(*d) {
		return fmt.Errorf("a delta of unknown type %q with a %T was dropped", d.Type, d.Object)
	}
	err := c.stage(d, isInInitialList)
	c.commit()
	return err
}

// comesAlone reports whether a delta is not about one object.
func comesAlone(d contract.Delta) bool {
	switch d.Type {
	case contract.Added, contract.Updated, contract.Replaced, contract.Sync, contract.Deleted:
		return false
	}
	return true
}

// commit applies the staged writes as one, and publishes them. If an IndexFunc fails, it
// applies them one by one, so that only the object of the failure is lost.
func (c *content) commit() {
	// The failure of the batch is dropped: the write that caused it fails again below.
	if len(c.writes) < 2 ||
		c.failures.attempt(func() { c.store.Transaction(c.lastOfEachKey()...) }) != nil {
		c.writeOneByOne()
	}
	c.wrote()
	c.flush()
}

// lastOfEachKey is what the staged writes leave in the store.
func (c *content) lastOfEachKey() []contract.StoreTransaction {
	if len(c.newest) == len(c.writes) {
		return c.writes
	}
	for i := range c.writes {
		if c.newest[c.writes[i].Key] == i {
			c.last = append(c.last, c.writes[i])
		}
	}
	return c.last
}

// wrote publishes the store's version after a write. client-go's store tells none with the
// feature gate AtomicFIFO off.
func (c *content) wrote() {
	if c.publishVersion == nil {
		return
	}
	if version := c.store.LastStoreSyncResourceVersion(); version != "" {
		c.publishVersion(version)
	}
}

// writeOneByOne applies the staged writes one by one, and drops the notifications of those
// that fail. A Transaction may have failed half-way before, which client-go's store does
// not undo. The notifications refer to the store before it. Over a store that has changed when an
// IndexFunc panics, as client-go's has, they are not told of the object that it keeps. If
// a write panics otherwise, those before it are published.
func (c *content) writeOneByOne() {
	kept, panics := c.notes[:0], true
	defer func() {
		clear(c.notes[len(kept):])
		c.notes = kept
		if panics {
			c.flush()
		}
	}()
	for i := range c.writes {
		if c.write(&c.writes[i]) {
			kept = append(kept, c.notes[i])
		} else if c.batching {
			c.leaveOut(i)
		}
	}
	panics = false
}

// leaveOut makes the next write of the key of write i follow what i was to follow.
func (c *content) leaveOut(i int) {
	for j := i + 1; j < len(c.writes); j++ {
		if c.writes[j].Key != c.writes[i].Key {
			continue
		}
		if n := &c.notes[j]; n.kind != onDelete {
			if n.old = c.notes[i].old; n.old == nil {
				n.kind = c.notes[i].kind
			} else {
				n.kind = kindOfUpdate(n.old, n.obj)
			}
		}
		return
	}
}

// write applies one write. An IndexFunc that fails is handled as a crash: it is logged and
// the object is left out, or the process ends (utilruntime.ReallyCrash).
func (c *content) write(w *contract.StoreTransaction) (ok bool) {
	failure := c.failures.attempt(func() {
		switch w.Type {
		case contract.TransactionTypeAdd:
			c.store.Add(w.Key, w.Object)
		case contract.TransactionTypeUpdate:
			c.store.Update(w.Key, w.Object)
		case contract.TransactionTypeDelete:
			c.store.DeleteWithObject(w.Key, w.Object)
		}
	})
	if failure == nil {
		return true
	}
	defer utilruntime.HandleCrashWithLogger(c.logger)
	panic(failure)
}

// stage appends the write that a delta asks for and, at the same index, its notification.
func (c *content) stage(d *contract.Delta, isInInitialList bool) error {
	key, err := c.key(d.Object)
	if err != nil {
		return err
	}
	if d.Type == contract.Deleted {
		c.stageWrite(contract.TransactionTypeDelete, key, notification{nil, d.Object, onDelete})
		return nil
	}
	if old, exists := c.former(key); exists {
		c.stageWrite(contract.TransactionTypeUpdate, key,
			notification{old, d.Object, kindOfUpdate(old, d.Object)})
	} else {
		c.stageWrite(contract.TransactionTypeAdd, key,
			notification{nil, d.Object, kindOfAdd(isInInitialList)})
	}
	return nil
}

// former is the object under a key after what is staged.
func (c *content) former(key string) (obj any, exists bool) {
	if i, staged := c.newest[key]; staged {
		return c.writes[i].Object, c.writes[i].Type != contract.TransactionTypeDelete
	}
	return c.store.Get(key)
}

func (c *content) stageWrite(t contract.TransactionType, key string, n notification) {
	if c.batching {
		if c.newest == nil {
			c.newest = map[string]int{}
		}
		c.newest[key] = len(c.writes)
	}
	c.writes = append(c.writes, contract.StoreTransaction{
		Transaction: contract.Transaction{Type: t, Object: n.obj}, Key: key,
	})
	c.notes = append(c.notes, n)
}

func (c *content) key(obj any) (string, error) {
	if tombstone, ok := obj.(contract.DeletedFinalStateUnknown); ok {
		return tombstone.Key, nil
	}
	key, err := c.keyFunc(obj)
	if err != nil {
		return "", &keylessError{contract.KeyError{Obj: obj, Err: err}}
	}
	return key, nil
}

// hidesVersion reports whether the store's version means nothing yet, or ever.
func (c *content) hidesVersion() bool { return !c.ordered.Load() }

// keylessError is the KeyError of an object. Its text names the object's type only: it goes to
// the log, and the object may be large, or a secret.
type keylessError struct{ contract.KeyError }

func (e *keylessError) Error() string {
	return fmt.Sprintf("couldn't create key for object of type %T: %v", e.Obj, e.Err)
}

func (e *keylessError) Unwrap() error { return e.KeyError }

func kindOfAdd(isInInitialList bool) notificationKind {
	if isInInitialList {
		return onInitialAdd
	}
	return onAdd
}

// kindOfUpdate tells an update from a resync. An update with the version of the old object,
// be it from a resync or a relist, is a resync: handlers have seen the object. An object
// without metadata counts as new.
func kindOfUpdate(old, obj any) notificationKind {
	a, err := meta.Accessor(obj)
	if err != nil {
		return onUpdate
	}
	b, err := meta.Accessor(old)
	if err != nil || a.GetResourceVersion() != b.GetResourceVersion() {
		return onUpdate
	}
	return onResync
}

// flush publishes the staged notifications.
func (c *content) flush() {
	if c.detector != nil {
		for i := range c.notes {
			if c.notes[i].kind != onDelete {
				c.detector.AddObject(objects.Open(c.objects, c.notes[i].obj))
			}
		}
	}
	if told := c.told(); len(told) > 0 {
		c.publish(told)
	}
	c.forget()
}

// told is what handlers are told of the staged notifications.
func (c *content) told() []notification {
	if !c.onlyChanges && !c.recreations {
		return c.notes
	}
	told := make([]notification, 0, len(c.notes))
	for _, n := range c.notes {
		switch {
		case c.onlyChanges && n.kind == onResync && n.old != n.obj: // a list's, for a resync has no other
		case c.recreations && n.kind == onUpdate && isAnother(n.old, n.obj):
			key, _ := c.key(n.obj) // it has one, as it is stored
			gone := contract.DeletedFinalStateUnknown{Key: key, Obj: n.old}
			told = append(told, notification{nil, gone, onDelete}, notification{nil, n.obj, onAdd})
		default:
			told = append(told, n)
		}
	}
	return told
}

// isAnother reports whether two objects of one name are not the same one.
func isAnother(old, obj any) bool {
	a, errOld := meta.Accessor(old)
	b, err := meta.Accessor(obj)
	return errOld == nil && err == nil && a.GetUID() != b.GetUID()
}

// forget empties the staged writes and notifications, so that they keep nothing alive.
func (c *content) forget() {
	c.batching = false
	if len(c.writes) == 0 && len(c.notes) == 0 {
		return
	}
	if c.small++; len(c.writes) >= cap(c.writes)/4 || cap(c.writes) <= littleRoom {
		c.small = 0
	}
	if cap(c.notes) > 4*chunk || c.small == smallBatches {
		c.release()
		return
	}
	clear(c.writes)
	clear(c.notes)
	clear(c.last)
	clear(c.newest)
	c.writes, c.notes, c.last = c.writes[:0], c.notes[:0], c.last[:0]
}

// The slices of staged writes are used again for the next batch. If smallBatches batches in a row
// use less than a quarter of them, the slices are dropped, unless they have at most littleRoom
// elements. Otherwise an informer of few objects would keep for ever what one burst needed.
const (
	littleRoom   = 16
	smallBatches = 8
)

// release drops the slices of staged writes. Nothing must be staged.
func (c *content) release() {
	c.writes, c.notes, c.last, c.newest, c.small = nil, nil, nil, nil, 0
}

// note stages one notification, and publishes when there are chunk of them.
func (c *content) note(n notification) {
	if c.notes = append(c.notes, n); len(c.notes) == chunk {
		c.flush()
	}
}

// syncAll publishes a resync of every object.
func (c *content) syncAll() {
	for _, obj := range c.store.List() {
		c.note(notification{old: obj, obj: obj, kind: kindOfUpdate(obj, obj)})
	}
	c.flush()
	c.release()
}
