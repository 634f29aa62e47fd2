package deltafifo

// Events, and the segments in which they wait.

import "github.com/informerbench/informerbench/contract"

// kind says what an event is.
type kind uint8

const (
	added kind = iota
	updated
	deleted
	replaced
	synced
	replacedAll
	syncAll
	bookmarked
	relisted // obj is a *relist
	resynced // obj is nil
	putBack  // obj is contract.Deltas
)

// deltaTypes are the types of the kinds that are one delta.
var deltaTypes = [...]contract.DeltaType{
	added: contract.Added, updated: contract.Updated, deleted: contract.Deleted,
	replaced: contract.Replaced, synced: contract.Sync,
	replacedAll: contract.ReplacedAll, syncAll: contract.SyncAll, bookmarked: contract.Bookmark,
}

// event is one call of a producer.
type event struct {
	key  objectKey
	obj  any
	kind kind
	hash uint32 // of key; 0: not computed
}

func (ev *event) delta() contract.Delta {
	return contract.Delta{Type: deltaTypes[ev.kind], Object: ev.obj}
}

// relist is a Replace whose objects have keys, as the obj of its event.
type relist struct {
	keys  []objectKey
	objs  []any
	first bool // HasSynced waits for it
}

const (
	// segmentEvents makes a segment 8 KiB with what the runtime adds.
	segmentEvents = 145
	// keepSegments bounds each list of spare segments.
	keepSegments = 8
)

// segment is a piece of a chain. Slots before the chain's next and from n on are zero.
type segment struct {
	events [segmentEvents]event
	n      int
	link   *segment
}

// chain is a queue of events in segments: it grows without copying and gives
// memory back as it shrinks. The zero value is empty.
type chain struct {
	head, tail *segment
	next       int // in head
	n          int
}

// push appends an event, in a segment of spare if it needs one and there is one.
func (c *chain) push(ev event, spare *spares) {
	t := c.tail
	if t == nil || t.n == segmentEvents {
		t = spare.get()
		if c.tail == nil {
			c.head = t
		} else {
			c.tail.link = t
		}
		c.tail = t
	}
	t.events[t.n] = ev
	t.n++
	c.n++
}

// front is the oldest event; there must be one.
func (c *chain) front() *event { return &c.head.events[c.next] }

// drop clears the oldest event's slot, so that the chain keeps nothing alive, and
// a segment that has been read to its end goes to spare.
func (c *chain) drop(spare *spares) {
	h := c.head
	h.events[c.next] = event{}
	c.next++
	c.n--
	switch {
	case c.n == 0:
		*c = chain{}
	case c.next == h.n:
		c.head, c.next = h.link, 0
	default:
		return
	}
	spare.put(h)
}

// all calls f with the events, oldest first.
func (c *chain) all(f func(ev *event)) {
	next := c.next
	for s := c.head; s != nil; s, next = s.link, 0 {
		for i := next; i < s.n; i++ {
			f(&s.events[i])
		}
	}
}

// spares are empty segments.
type spares struct {
	top *segment
	n   int
}

func (s *spares) get() *segment {
	t := s.top
	if t == nil {
		return &segment{}
	}
	s.top, t.link = t.link, nil
	s.n--
	return t
}

// put keeps a segment whose slots are zero, unless there are enough.
func (s *spares) put(t *segment) {
	t.n, t.link = 0, nil
	if s.n < keepSegments {
		t.link, s.top = s.top, t
		s.n++
	}
}

// refill moves segments from o to s, as far as they fit.
func (s *spares) refill(o *spares) {
	for s.n < keepSegments && o.n > 0 {
		s.put(o.get())
	}
}
