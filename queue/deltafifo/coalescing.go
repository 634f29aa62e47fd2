package deltafifo

// The FIFO of class coalescing. keyed.go has its reading methods.

import (
	"slices"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/contract"
)

// Coalescing is a contract.FIFO of class contract.Coalescing with the semantics of client-go's
// DeltaFIFO and the whole Queue that it had in v0.17. No producer waits for process. See the package
// comment.
//
// All methods may be called by any number of goroutines. Several may Pop, but the deltas of
// one key are then processed in no certain order, perhaps at once. process may call every
// method but Pop and PopBatch, and List, ListKeys, Get and GetByKey, which may wait for it.
// The transformer runs one call at a time. KnownObjects is consulted only while no process
// runs, and must not call the FIFO.
type Coalescing struct {
	engine
	waiting coalescingBacklog
}

var (
	_ contract.FIFO           = (*Coalescing)(nil)
	_ contract.BatchPopper    = (*Coalescing)(nil)
	_ contract.KeyedQueue     = (*Coalescing)(nil)
	_ cache.QueueWithBatch    = (*Coalescing)(nil)
	_ cache.TransformingStore = (*Coalescing)(nil)
	_ cache.DoneChecker       = (*Coalescing)(nil)
)

// NewCoalescing returns an empty FIFO. It starts no goroutine.
func NewCoalescing(cfg contract.FIFOConfig, opts Options) *Coalescing {
	f := &Coalescing{waiting: coalescingBacklog{known: cfg.KnownObjects, logger: opts.logger(),
		replaced: contract.Replaced}}
	if opts.SyncOnReplace {
		f.waiting.replaced = contract.Sync
	}
	f.coalesces = true
	f.waiting.hashing = &f.hashing
	f.init(cfg, opts, "DeltaFIFO", &f.waiting)
	return f
}

// coalescingBacklog is the backlog of a Coalescing.
type coalescingBacklog struct {
	entries
	out      boxPool
	known    contract.KeyListerGetter
	logger   klog.Logger
	replaced contract.DeltaType // what a Replace emits
	relists  uint32             // number of Replaces so far
}

func (l *coalescingBacklog) adopt(events) bool { return false }

func (l *coalescingBacklog) accept(ev *event, alone bool) bool {
	if ev.hash == 0 && l.indexed {
		ev.hash = ev.key.hash()
	}
	switch ev.kind {
	case deleted:
		// If the key does not wait, a running process may be changing what is known, or may
		// put its Deltas back. If none runs, it is decided here too, at the next Pop: KnownObjects
		// must not lose the object before.
		switch e := l.find(ev.key, ev.hash); {
		case e != nil:
			e.add(ev.delta())
		case !alone:
			return false
		case l.knows(ev.key):
			l.push(ev.key, ev.hash, ev.delta())
		}
		return true
	case relisted, resynced, putBack:
		if !alone {
			return false
		}
		switch ev.kind {
		case relisted:
			l.replace(ev.obj.(*relist))
		case resynced:
			l.resync()
		case putBack:
			if l.find(ev.key, ev.hash) == nil {
				l.pushAll(ev.key, ev.obj.(contract.Deltas))
			}
		}
		return true
	}
	l.enqueue(ev.key, ev.hash, ev.delta())
	return true
}

// enqueue appends d to what waits under key.
func (l *coalescingBacklog) enqueue(key objectKey, hash uint32, d contract.Delta) *entry {
	e := l.find(key, hash)
	if e == nil {
		return l.push(key, hash, d)
	}
	e.add(d)
	return e
}

// pushAll appends deltas, which the backlog owns from then on, under a key that does not wait.
func (l *coalescingBacklog) pushAll(key objectKey, deltas contract.Deltas) {
	e := l.push(key, 0, deltas[0])
	if len(deltas) > 1 {
		e.one, e.more = contract.Delta{}, deltas
	}
}

// knows reports whether a deletion of a key that does not wait is news to the
// consumer. A look-up that fails counts as yes: an extra deletion does no harm.
func (l *coalescingBacklog) knows(key objectKey) bool {
	if l.known == nil {
		return false
	}
	_, exists, err := l.known.GetByKey(key.String())
	return exists || err != nil
}

// replace queues the listed objects, then the deletions of objects that wait or are known
// and are not listed.
func (l *coalescingBacklog) replace(list *relist) {
	l.reserve(len(list.objs))
	l.relists++
	for i, key := range list.keys {
		// The stamp, not a set of keys, tells what was listed: all of it waits now.
		l.enqueue(key, l.hashOf(key),
			contract.Delta{Type: l.replaced, Object: list.objs[i]}).relist = l.relists
	}
	for e := range l.all() {
		if e.relist != l.relists {
			e.add(deletion(e.key.String(), e.newest().Object))
		}
	}
	l.eachKnownIdle(func(key objectKey, hash uint32, name string, obj any, _ bool) {
		l.push(key, hash, deletion(name, obj))
	})
}

func (l *coalescingBacklog) resync() {
	l.eachKnownIdle(func(key objectKey, hash uint32, _ string, obj any, found bool) {
		if found {
			l.push(key, hash, contract.Delta{Type: contract.Sync, Object: obj})
		}
	})
}

// eachKnownIdle calls f with each key that is known and does not wait. f may make the key
// wait. The object is nil if its look-up fails, which is reported, or does not find it.
func (l *coalescingBacklog) eachKnownIdle(
	f func(key objectKey, hash uint32, name string, obj any, found bool)) {
	if l.known == nil {
		return
	}
	for _, name := range l.known.ListKeys() {
		key := parseKey(name)
		hash := l.hashOf(key)
		if l.find(key, hash) != nil {
			continue
		}
		obj, found, err := l.known.GetByKey(name)
		if err != nil || !found {
			reportLookup(l.logger, name, err)
			obj, found = nil, false
		}
		f(key, hash, name, obj, found)
	}
}

func (l *coalescingBacklog) take() (key objectKey, item any) {
	e := l.front()
	key = e.key
	if e.more == nil {
		item = l.out.one(e.one)
	} else {
		item = e.more
	}
	l.pop()
	return key, item
}

// takeBatch takes keys with one delta each. A key with several comes alone, because no
// batch has a key twice.
func (l *coalescingBacklog) takeBatch(limit int) (one any, several []contract.Delta) {
	n := 0
	for e := range l.all() {
		if e.more != nil || n == limit {
			break
		}
		n++
	}
	if n < 2 {
		_, one = l.take()
		return one, nil
	}
	several = make([]contract.Delta, n)
	for i := range several {
		several[i] = l.front().one
		l.pop()
	}
	return nil, several
}

// putBack copies, because the caller of Pop still holds the deltas. Deltas that came while
// they were processed come after them.
func (l *coalescingBacklog) putBack(key objectKey, deltas contract.Deltas) {
	e := l.find(key, 0)
	if e == nil {
		l.pushAll(key, slices.Clone(deltas))
		return
	}
	newer := e.clone()
	e.one, e.more = contract.Delta{}, slices.Clone(deltas)
	for _, d := range newer {
		e.add(d)
	}
}
