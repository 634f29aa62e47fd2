package informer

// A list of all objects, as one write of the store and the notifications of what it changes.

import (
	"errors"
	"fmt"
	"slices"

	"github.com/informerbench/informerbench/contract"
)

// mostKeyless is how many objects without a key the error of a list names.
const mostKeyless = 10

// replaceAll makes a list the whole content of the store in one write. Then it publishes
// the deletions that the list implies and the list's objects in order. Of several objects
// with one key the last counts. Objects without a key are left out: the error joins their
// contract.KeyErrors.
func (c *content) replaceAll(info contract.ReplacedAllInfo, isInInitialList bool) (leftOut error) {
	defer c.release() // the next list may be far
	list, items, leftOut := c.relist(info.Objects)
	version := c.store.LastStoreSyncResourceVersion()
	if c.failures.attempt(func() { c.store.Replace(items, info.ResourceVersion) }) == nil {
		c.ordered.Store(true)
		c.wrote()
		for _, tombstone := range list.gone {
			c.note(notification{nil, tombstone, onDelete})
		}
		for i := range list.objs {
			c.note(list.change(i, isInInitialList))
		}
		c.flush()
		return leftOut
	}

	// An IndexFunc failed, as in commit. Client-go's store has the list by now, and the
	// indexes of half of it. It gets its former content back, then one write for each object.
	former := list.former()
	c.failures.attempt(func() { c.store.Replace(former, version) })
	for _, tombstone := range list.gone {
		c.stageWrite(contract.TransactionTypeDelete, tombstone.Key,
			notification{nil, tombstone, onDelete})
	}
	for i, key := range c.keysOf(list.objs) {
		c.stageWrite(contract.TransactionTypeUpdate, key, list.change(i, isInInitialList))
	}
	c.writeOneByOne()
	c.store.Bookmark(info.ResourceVersion)
	c.ordered.Store(true)
	c.wrote()
	c.flush()
	return leftOut
}

// relist is a list of all objects beside what the store had when it came.
type relist struct {
	objs []any // the last of each key; those without a key are left out
	gone []contract.DeletedFinalStateUnknown
	// Of objs, with nil for what is new. A first list does not need them and has neither.
	keys []string
	olds []any
}

// relist also returns the objects by key; the relist does not keep that map alive. It reads
// the store's former state, so it must come before the write. The error joins those of the
// first mostKeyless objects without a key.
func (c *content) relist(objs []any) (_ *relist, _ map[string]any, leftOut error) {
	known := c.store.ListKeys()
	l, items := &relist{objs: objs}, make(map[string]any, len(objs))
	if len(known) > 0 {
		l.keys = make([]string, 0, len(objs))
	}
	var failed []error
	keyless := 0
	for i, obj := range objs {
		key, err := c.key(obj)
		if err != nil {
			if keyless++; keyless == 1 {
				l.objs = slices.Clone(objs[:i])
			}
			if keyless <= mostKeyless {
				failed = append(failed, err)
			}
			continue
		}
		if keyless > 0 {
			l.objs = append(l.objs, obj)
		}
		items[key] = obj
		if len(known) > 0 {
			l.keys = append(l.keys, key)
		}
	}
	if more := keyless - len(failed); more > 0 {
		failed = append(failed, fmt.Errorf("and %d more objects of the list", more))
	}
	leftOut = errors.Join(failed...)
	if len(items) < len(l.objs) {
		l.keys, l.objs = lastOfEach(c.keysOf(l.objs), l.objs)
	}
	if len(known) == 0 {
		return l, items, leftOut
	}
	for _, key := range known {
		if _, listed := items[key]; !listed {
			old, _ := c.store.Get(key)
			l.gone = append(l.gone, contract.DeletedFinalStateUnknown{Key: key, Obj: old})
		}
	}
	l.olds = make([]any, len(l.objs))
	for i, key := range l.keys {
		l.olds[i], _ = c.store.Get(key)
	}
	return l, items, leftOut
}

// change is the notification of object i.
func (l *relist) change(i int, isInInitialList bool) notification {
	if l.olds == nil || l.olds[i] == nil {
		return notification{nil, l.objs[i], kindOfAdd(isInInitialList)}
	}
	return notification{l.olds[i], l.objs[i], kindOfUpdate(l.olds[i], l.objs[i])}
}

// former is what the store had.
func (l *relist) former() map[string]any {
	items := make(map[string]any, len(l.gone)+len(l.olds))
	for _, tombstone := range l.gone {
		items[tombstone.Key] = tombstone.Obj
	}
	for i, old := range l.olds {
		if old != nil {
			items[l.keys[i]] = old
		}
	}
	return items
}

// keysOf are the keys of objects that are known to have one.
func (c *content) keysOf(objs []any) []string {
	keys := make([]string, len(objs))
	for i, obj := range objs {
		keys[i], _ = c.key(obj)
	}
	return keys
}

// lastOfEach keeps the last object of each key, in order.
func lastOfEach(keys []string, objs []any) ([]string, []any) {
	last := make(map[string]int, len(keys))
	for i, key := range keys {
		last[key] = i
	}
	var k []string
	var o []any
	for i, key := range keys {
		if last[key] == i {
			k, o = append(k, key), append(o, objs[i])
		}
	}
	return k, o
}
