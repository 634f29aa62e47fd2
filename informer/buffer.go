package informer

// The queue of notifications before a handler.

import (
	"sync"
	"sync/atomic"

	"github.com/informerbench/informerbench/internal/segqueue"
	"github.com/informerbench/informerbench/internal/spin"
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

// notifications is a queue of them, and spares are its empty segments.
type (
	notifications = segqueue.Queue[notification]
	spares        = segqueue.Spares[notification]
)

// buffer is an unbounded queue with one producer at a time and one consumer. The producer
// copies a batch in under one lock and wakes the consumer at most once. The consumer takes
// all that waits under one lock, and reads it without the lock. The buffer grows without
// copying, and gives memory back as it is read. The zero value needs init.
type buffer struct {
	wake   sync.Cond // L is mu
	closed atomic.Bool
	// How many notifications were put in and taken out so far. put is written under mu; only
	// the consumer writes read.
	put, read atomic.Int64

	mu struct {
		sync.Mutex
		waiting notifications
		spare   spares // for waiting
		asleep  bool   // the consumer waits for wake
		yielder spin.Yielder
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
	before := b.mu.waiting.Len()
	if resyncs {
		b.mu.waiting.Append(batch, &b.mu.spare)
	} else {
		for i := range batch {
			if batch[i].kind != onResync {
				b.mu.waiting.Push(batch[i], &b.mu.spare)
			}
		}
	}
	added := b.mu.waiting.Len() - before
	if added == 0 {
		return
	}
	b.put.Add(int64(added))
	if b.mu.asleep {
		b.mu.asleep = false
		b.wake.Signal()
	}
}

// take waits for notifications and takes out all of them; false means that the buffer is
// closed. emptied are segments that the consumer gives back.
func (b *buffer) take(emptied *spares) (notifications, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.spare.Refill(emptied)
	for yielded := false; ; {
		if b.closed.Load() {
			return notifications{}, false
		}
		if b.mu.waiting.Len() > 0 {
			taken := b.mu.waiting
			b.mu.waiting = notifications{}
			return taken, true
		}
		// A producer that is about to run saves both sides a wake-up.
		if !yielded && b.mu.yielder.Yield(&b.mu) {
			yielded = true
			continue
		}
		b.mu.spare.Shrink() // 1,000 handlers that have nothing to do keep little
		b.mu.asleep = true
		b.wake.Wait()
	}
}

// close drops what waits and ends the consumer's take. It may be called again.
func (b *buffer) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed.Store(true)
	b.mu.waiting, b.mu.spare = notifications{}, spares{}
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
