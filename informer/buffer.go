package informer

// The queue of notifications before a handler.

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// notificationKind says which method of a handler a notification is for.
type notificationKind uint8

const (
	onAdd notificationKind = iota
	onInitialAdd
	onUpdate
	onResync // an OnUpdate that brings no new version: for handlers that resync now
	onDelete
)

// notification is one call of a handler.
type notification struct {
	old, obj any // OnDelete gets obj
	kind     notificationKind
}

const (
	// segmentSize makes a segment 10 KiB.
	segmentSize = 255
	// spareSegments is how many emptied segments a buffer keeps for use again.
	spareSegments = 4
)

// segment is a piece of a buffer. Slots that were read, and those from n on, are zero.
type segment struct {
	items [segmentSize]notification
	n     int
	next  *segment
}

// buffer is an unbounded queue with one producer at a time and one consumer. The producer
// copies a batch in under one lock and wakes the consumer at most once. The consumer takes
// all that waits under one lock, and reads it without the lock. The buffer grows without
// copying, and gives memory back as it is read. The zero value needs init.
//
// A segment belongs to the producer while it is reachable from mu, and to the consumer
// from take until it is given back to the next take.
type buffer struct {
	wake   sync.Cond // L is mu
	closed atomic.Bool
	// How many notifications were put in and taken out so far. put is written under mu; only
	// the consumer writes read.
	put, read atomic.Int64

	mu struct {
		sync.Mutex
		head, tail *segment
		spare      *segment
		spares     int
		asleep     bool // the consumer waits for wake
	}
}

func (b *buffer) init() { b.wake.L = &b.mu }

// add appends batch, without its resyncs unless resyncs is set. It never waits for the
// consumer. What is added after close is dropped.
func (b *buffer) add(batch []notification, resyncs bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed.Load() {
		return
	}
	before := b.put.Load()
	after := before
	for len(batch) > 0 {
		s := b.roomLocked()
		if resyncs {
			n := copy(s.items[s.n:], batch)
			s.n, after, batch = s.n+n, after+int64(n), batch[n:]
			continue
		}
		for ; len(batch) > 0 && s.n < segmentSize; batch = batch[1:] {
			if batch[0].kind != onResync {
				s.items[s.n] = batch[0]
				s.n++
				after++
			}
		}
	}
	if after == before {
		return
	}
	b.put.Store(after)
	if b.mu.asleep {
		b.mu.asleep = false
		b.wake.Signal()
	}
}

// roomLocked is a segment with room at the end.
func (b *buffer) roomLocked() *segment {
	if t := b.mu.tail; t != nil && t.n < segmentSize {
		return t
	}
	s := b.mu.spare
	if s == nil {
		s = &segment{}
	} else {
		b.mu.spare, s.next = s.next, nil
		b.mu.spares--
	}
	if b.mu.tail == nil {
		b.mu.head = s
	} else {
		b.mu.tail.next = s
	}
	b.mu.tail = s
	return s
}

// take waits for notifications and takes out all of them; nil means that the buffer is
// closed. emptied are segments that the consumer gives back, their slots zero.
func (b *buffer) take(emptied *segment) *segment {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := emptied; s != nil && b.mu.spares < spareSegments; {
		next := s.next
		s.n, s.next, b.mu.spare = 0, b.mu.spare, s
		b.mu.spares++
		s = next
	}
	for yielded := false; ; {
		if b.closed.Load() {
			return nil
		}
		// A segment has no items if its batch had nothing but resyncs.
		if head := b.mu.head; head != nil && head.n > 0 {
			b.mu.head, b.mu.tail = nil, nil
			return head
		}
		if !yielded {
			// A producer that is about to run saves both sides a wake-up.
			b.mu.Unlock()
			runtime.Gosched()
			b.mu.Lock()
			yielded = true
			continue
		}
		b.mu.asleep = true
		b.wake.Wait()
	}
}

// close drops what waits and ends the consumer's take. It may be called again.
func (b *buffer) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed.Store(true)
	b.mu.head, b.mu.tail, b.mu.spare, b.mu.spares = nil, nil, nil, 0
	b.mu.asleep = false
	b.wake.Signal()
}

// len is how many notifications wait, those that the consumer has taken and not yet
// read included; 0 once the buffer is closed.
func (b *buffer) len() int {
	if b.closed.Load() {
		return 0
	}
	read := b.read.Load() // first: put only grows, so the difference is never negative
	return int(b.put.Load() - read)
}
