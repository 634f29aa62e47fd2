package deltafifo

// The FIFO that hands out every event.

import (
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/contract"
)

// InOrder is a contract.FIFO that hands out every event by itself in the order of
// arrival, of class contract.InOrder or contract.InOrderAtomic ([Options].Atomic),
// and in which no producer waits for process. See the package comment.
//
// All methods may be called by any number of goroutines. Several may Pop, but
// events are then processed in no certain order. process may call every method but
// Pop, PopBatch and, without [Options].Atomic, Waiting. The transformer runs one call at a time.
// KnownObjects is
// consulted only while no process runs, and must not call the FIFO.
type InOrder struct {
	engine
	waiting   inOrderBacklog
	bookmarks bool
}

var (
	_ contract.FIFO           = (*InOrder)(nil)
	_ contract.BatchPopper    = (*InOrder)(nil)
	_ cache.QueueWithBatch    = (*InOrder)(nil)
	_ cache.TransformingStore = (*InOrder)(nil)
	_ cache.DoneChecker       = (*InOrder)(nil)

	_ cache.ReflectorBookmarkStore = (*InOrder)(nil)
)

// NewInOrder returns an empty FIFO. It starts no goroutine. With Options.Atomic,
// cfg.KnownObjects is not used.
func NewInOrder(cfg contract.FIFOConfig, opts Options) *InOrder {
	if opts.Atomic {
		cfg.KnownObjects = nil
	}
	f := &InOrder{waiting: inOrderBacklog{known: cfg.KnownObjects, logger: opts.logger()},
		bookmarks: opts.Bookmarks}
	f.waiting.emptied, f.waiting.repeatKeys = &f.mu.emptied, opts.RepeatKeys
	f.atomicLists = opts.Atomic
	f.init(cfg, opts, "InOrderFIFO", &f.waiting)
	return f
}

// Bookmark queues a Bookmark delta with a cache.BookmarkInfo, in its place among the events
// and for no key, if Options.Bookmarks is set. It tells the consumer that it has all events
// up to this version. HasSynced does not heed it. The error is always nil.
func (f *InOrder) Bookmark(resourceVersion string) error {
	if f.bookmarks {
		f.put(event{obj: cache.BookmarkInfo{ResourceVersion: resourceVersion}, kind: bookmarked})
	}
	return nil
}

// Waiting returns a copy of what waits, for tests and for people who debug. It takes O(n) in
// that. process must not call it without Options.Atomic: it may wait for process.
func (f *InOrder) Waiting() (deltas []contract.Delta) {
	f.read(func() {
		deltas = make([]contract.Delta, 0, f.waiting.Len())
		for ev := range f.waiting.All() {
			deltas = append(deltas, ev.delta())
		}
	})
	return deltas
}

// inOrderBacklog is the backlog of an InOrder: the events as they came, where possible in the
// segments in which they came.
type inOrderBacklog struct {
	events
	out     boxPool
	emptied *spares // the engine's
	known   contract.KeyListerGetter
	logger  klog.Logger
	batch   keySet // of the batch that is put together
	// repeatKeys is Options.RepeatKeys.
	repeatKeys bool
}

func (l *inOrderBacklog) len() int { return l.Len() }

func (l *inOrderBacklog) adopt(c events) bool {
	l.events = c
	return true
}

func (l *inOrderBacklog) accept(ev *event, alone bool) bool {
	switch {
	case ev.kind != relisted && ev.kind != resynced:
		l.Push(*ev, l.emptied)
	case !alone && l.known != nil:
		return false // a running process may be changing what is known
	case ev.kind == relisted:
		l.replace(ev.obj.(*relist))
	default:
		l.resync()
	}
	return true
}

// newest returns the newest waiting event of each key, and the keys in the order in which
// they began to wait.
func (l *inOrderBacklog) newest() (map[objectKey]contract.Delta, []objectKey) {
	last := make(map[objectKey]contract.Delta, l.Len())
	keys := make([]objectKey, 0, l.Len())
	for ev := range l.All() {
		if ev.kind == bookmarked {
			continue
		}
		if _, ok := last[ev.key]; !ok {
			keys = append(keys, ev.key)
		}
		last[ev.key] = ev.delta()
	}
	return last, keys
}

// replace queues the deletions of objects that wait or are known and are not listed, then
// the listed objects.
func (l *inOrderBacklog) replace(list *relist) {
	waiting, keys := l.newest()
	listed := make(map[objectKey]struct{}, len(list.keys))
	for _, key := range list.keys {
		listed[key] = struct{}{}
	}
	for _, key := range keys {
		last := waiting[key]
		if _, ok := listed[key]; ok || last.Type == contract.Deleted {
			continue
		}
		l.Push(event{key: key, obj: deletion(key.String(), last.Object).Object, kind: deleted}, l.emptied)
	}
	if l.known != nil {
		for _, name := range l.known.ListKeys() {
			key := parseKey(name)
			if _, ok := listed[key]; ok {
				continue
			}
			if _, ok := waiting[key]; ok {
				continue
			}
			obj, exists, err := l.known.GetByKey(name)
			if err != nil || !exists {
				obj = nil
				reportLookup(l.logger, name, err)
			}
			l.Push(event{key: key, obj: deletion(name, obj).Object, kind: deleted}, l.emptied)
		}
	}
	for i, key := range list.keys {
		l.Push(event{key: key, obj: list.objs[i], kind: replaced}, l.emptied)
	}
}

func (l *inOrderBacklog) resync() {
	waiting, _ := l.newest()
	for _, name := range l.known.ListKeys() {
		key := parseKey(name)
		if _, ok := waiting[key]; ok {
			continue
		}
		obj, exists, err := l.known.GetByKey(name)
		if err != nil || !exists {
			reportLookup(l.logger, name, err)
			continue
		}
		l.Push(event{key: key, obj: obj, kind: synced}, l.emptied)
	}
}

func (l *inOrderBacklog) take() (key objectKey, item any) {
	ev := l.Front()
	key = ev.key
	if ev.kind == replacedAll {
		item = contract.Deltas{ev.delta()} // the pool would keep the list until it is refilled
	} else {
		item = l.out.one(ev.delta())
	}
	l.Drop(l.emptied)
	return key, item
}

// takeBatch ends a batch before a key that the batch has already, unless keys may come again, and
// before a ReplacedAll, a SyncAll or a Bookmark, which come alone.
func (l *inOrderBacklog) takeBatch(limit int) (one any, several []contract.Delta) {
	n := l.batchSize(min(limit, l.Len()))
	if n < 2 {
		_, one = l.take()
		return one, nil
	}
	several = make([]contract.Delta, n)
	for i := range several {
		several[i] = l.Front().delta()
		l.Drop(l.emptied)
	}
	return nil, several
}

// batchSize is how many events from the front may come in one batch of at most limit.
func (l *inOrderBacklog) batchSize(limit int) (n int) {
	defer l.batch.reset()
	for ev := range l.All() {
		if n == limit || ev.kind >= replacedAll || !l.repeatKeys && !l.batch.add(ev.key) {
			break
		}
		n++
	}
	return n
}

// putBack is not called: an ErrRequeue is an error like any other.
func (l *inOrderBacklog) putBack(objectKey, contract.Deltas) {}
