package fifotest

// The readable queue.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

// ofKeyed makes a case for FIFOs whose waiting Deltas can be read.
func ofKeyed(clause, name, why string, run func(b *fixture, q contract.KeyedQueue)) fifoCase {
	return check(clause, name, why, func(t *suite.T, construct newFIFO) {
		b := setUp(t, construct, nil)
		q := suite.Needs[contract.KeyedQueue](t, b.f)
		run(b, q)
	})
}

// wantWaiting checks all four reading methods against the keys and Deltas that
// must wait, given as "key: deltas".
func wantWaiting(b *fixture, q contract.KeyedQueue, want ...string) {
	var got, newest []string
	for _, key := range q.ListKeys() {
		item, exists, err := q.GetByKey(key)
		b.must(err)
		deltas, ok := item.(contract.Deltas)
		if !exists || !ok || len(deltas) == 0 {
			b.t.Fatalf("ListKeys has %q, and GetByKey gives %T, exists=%t", key, item, exists)
		}
		got = append(got, key+": "+render(deltas))
		newest = append(newest, renderObject(deltas.Newest().Object))
		item, exists, err = q.Get(obj(key, -1))
		b.must(err)
		if same, _ := item.(contract.Deltas); !exists || !slices.Equal(same, deltas) {
			b.t.Fatalf("GetByKey(%q) gives %s, and Get %s", key, render(deltas), render(same))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		b.t.Fatalf("waiting is\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	var listed []string
	for _, o := range q.List() {
		listed = append(listed, renderObject(o))
	}
	slices.Sort(listed)
	slices.Sort(newest)
	if !slices.Equal(listed, newest) {
		b.t.Fatalf("List gives %v, want the newest objects %v", listed,
			newest)
	}
	if item, exists, err := q.GetByKey("absent"); exists || err != nil {
		b.t.Fatalf("GetByKey of a key that does not wait gives %v, %t, %v", item, exists, err)
	}
}

var keyedCases = fifoCases{
	ofKeyed("FIFO-46", "requeue", "an object that could not be processed is forgotten",
		func(b *fixture, q contract.KeyedQueue) {
			cause := errors.New("try again")
			b.add(obj("a", 1), obj("b", 2))
			for i, requeue := range []error{
				contract.ErrRequeue{Err: cause},
				contract.ErrRequeue{},
				fmt.Errorf("wrapped: %w", contract.ErrRequeue{Err: cause}),
			} {
				// Deltas that are put back go to the end
				want := []string{"Added(a@1)", "Added(b@2)", "Added(a@1)"}[i]
				p := b.popWith(func(any, bool) error { return requeue })
				inner := errors.Unwrap(requeue)
				if i < 2 && p.err != inner {
					b.t.Fatalf("Pop returned %v, want the inner error %v", p.err, inner)
				}
				if i == 2 && p.err != cause {
					b.t.Fatalf("Pop returned %v, want the inner error %v", p.err, cause)
				}
				returned, _ := p.item.(contract.Deltas)
				if render(returned) != want {
					b.t.Fatalf("Pop returned %s, want %s", render(returned), want)
				}
			}
			wantWaiting(b, q, "a: Added(a@1)", "b: Added(b@2)")
			b.drain("Added(b@2)", "Added(a@1)")
		}),
	ofKeyed("FIFO-46", "joined-by-newer", "events that come after a failure overtake what failed",
		func(b *fixture, _ contract.KeyedQueue) {
			b.add(obj("a", 1))
			b.remove(tombstone(obj("a", 2)))
			p := b.popWith(func(any, bool) error { return contract.ErrRequeue{} })
			b.remove(obj("a", 3))
			returned := p.item.(contract.Deltas)
			if render(returned) != "Added(a@1) Deleted(tombstone a a@2)" {
				b.t.Fatalf("the Deltas that Pop returned became %s", render(returned))
			}
			b.drain("Added(a@1) Deleted(a@3)")
		}),
	ofKeyed("FIFO-46", "wakes", "a worker sleeps while what another put back waits",
		func(b *fixture, _ contract.KeyedQueue) {
			for range b.t.Scale(10) {
				b.add(obj("a", 1))
				var other <-chan popped
				b.popWith(func(any, bool) error {
					other = start(b.t, func() popped { return popOnce(b.f, nil) })
					letOthersRun() // until the other Pop sleeps
					return contract.ErrRequeue{}
				})
				got := await(b.t, other, "a Pop still waits though something was put back")
				if render(got.deltas) != "Added(a@1)" {
					b.t.Fatalf("the Pop that waited gave %s, %v; want Added(a@1), which was put back", render(got.deltas),
						got.err)
				}
			}
		}),
	ofKeyed("FIFO-47", "put-back", "old Deltas overwrite new ones",
		func(b *fixture, q contract.KeyedQueue) {
			old := contract.Deltas{{Type: contract.Added, Object: obj("a", 1)},
				{Type: contract.Updated, Object: obj("a", 2)}}
			b.add(obj("b", 3))
			b.must(q.AddIfNotPresent(
				contract.Deltas{{Type: contract.Added, Object: "no key"},
					{Type: contract.Updated, Object: obj("b", 0)}}))
			b.must(q.AddIfNotPresent(old))
			b.must(q.AddIfNotPresent(contract.Deltas{{Type: contract.Updated, Object: obj("b", 4)}}))
			b.must(q.AddIfNotPresent(
				contract.Deltas{{Type: contract.Deleted, Object: tombstone(obj("c", 5))}}))
			b.update(obj("a", 6))
			if len(old) != 2 || render(old) != "Added(a@1) Updated(a@2)" {
				b.t.Fatalf("the caller's Deltas became %s", render(old))
			}
			b.drain("Added(b@3)", "Added(a@1) Updated(a@2) Updated(a@6)", "Deleted(tombstone c c@5)")
		}),
	ofKeyed("FIFO-47", "refuses",
		"an object that is put back by mistake is popped as if it were Deltas",
		func(b *fixture, q contract.KeyedQueue) {
			if err := q.AddIfNotPresent(obj("a", 1)); err == nil {
				b.t.Errorf("AddIfNotPresent took an object that is not Deltas")
			}
			var keyError contract.KeyError
			if err := q.AddIfNotPresent(contract.Deltas{}); !errors.As(err, &keyError) {
				b.t.Errorf("AddIfNotPresent of empty Deltas returned %v, want a KeyError", err)
			}
			if err := q.AddIfNotPresent(
				contract.Deltas{{Type: contract.Added, Object: "no key"}}); !errors.As(err, &keyError) {
				b.t.Errorf("AddIfNotPresent of the Deltas of an object without a key returned %v, want a "+
					"KeyError", err)
			}
			b.drain()
		}),
	ofKeyed("FIFO-48", "what-waits",
		"whoever looks into the queue sees what is gone or misses what waits",
		func(b *fixture, q contract.KeyedQueue) {
			wantWaiting(b, q)
			b.add(obj("a", 1), obj("b", 2))
			b.update(obj("a", 3))
			b.remove(tombstone(obj("b", 4)))
			wantWaiting(b, q, "a: Added(a@1) Updated(a@3)", "b: Added(b@2) Deleted(tombstone b b@4)")
			item, exists, err := q.Get(contract.Deltas{{Type: contract.Added, Object: obj("a", 9)}})
			if err != nil || !exists {
				b.t.Errorf("Get of Deltas whose key waits gave %v, exists %t, %v", item,
					exists, err)
			}
			b.popWith(nil)
			wantWaiting(b, q, "b: Added(b@2) Deleted(tombstone b b@4)")
			b.replace(obj("c", 5))
			wantWaiting(b, q, "b: Added(b@2) Deleted(tombstone b b@4)", "c: Replaced(c@5)")
			b.popWith(nil)
			b.popWith(nil)
			wantWaiting(b, q)
		}),
	ofKeyed("FIFO-49", "copies", "what a reader holds changes under it, or a reader changes the queue",
		func(b *fixture, q contract.KeyedQueue) {
			b.add(obj("a", 1), obj("b", 2))
			b.remove(tombstone(obj("a", 3)))
			item, _, err := q.GetByKey("a")
			b.must(err)
			again, _, err := q.Get(obj("a", -1))
			b.must(err)
			keys, list := q.ListKeys(), q.List()
			keysBefore, listBefore := slices.Clone(keys), slices.Clone(list)
			b.remove(obj("a", 4)) // takes the tombstone's place
			b.add(obj("a", 5))
			b.popWith(nil)
			b.add(obj("d", 6))
			if got := render(item.(contract.Deltas)); got != "Added(a@1) Deleted(tombstone a a@3)" {
				b.t.Errorf("what GetByKey returned became %s", got)
			}
			if got := render(again.(contract.Deltas)); got != "Added(a@1) Deleted(tombstone a a@3)" {
				b.t.Errorf("what Get returned became %s", got)
			}
			if !slices.Equal(keys, keysBefore) || !slices.Equal(list, listBefore) {
				b.t.Errorf("what ListKeys and List returned became %v and %v", keys, list)
			}
			item, _, err = q.GetByKey("b")
			b.must(err)
			item.(contract.Deltas)[0] = contract.Delta{}
			clear(q.List())
			clear(q.ListKeys())
			b.drain("Added(b@2)", "Added(d@6)")
		}),
	ofKeyed("FIFO-50", "key-error", "a look-up of an object without a key finds another's Deltas",
		func(b *fixture, q contract.KeyedQueue) {
			item, exists, err := q.Get("no key")
			wantKeyError(b.t, "Get", err, "no key")
			if item != nil || exists {
				b.t.Errorf("Get gives %v, %t with its error", item, exists)
			}
		}),
	ofKeyed("FIFO-51", "add-if-not-present-first",
		"whoever feeds a FIFO by hand waits for ever for its sync",
		func(b *fixture, q contract.KeyedQueue) {
			b.must(q.AddIfNotPresent(contract.Deltas{{Type: contract.Added, Object: obj("a", 1)}}))
			b.synced(true, "the first call was AddIfNotPresent")
		}),
	ofKeyed("FIFO-52", "is-closed", "a producer goes on for a consumer that is gone",
		func(b *fixture, q contract.KeyedQueue) {
			if q.IsClosed() {
				b.t.Errorf("IsClosed is true before Close")
			}
			b.add(obj("a", 1))
			q.Close()
			if !q.IsClosed() {
				b.t.Errorf("IsClosed is false after Close, while something waits")
			}
			b.drain("Added(a@1)")
			if !q.IsClosed() {
				b.t.Errorf("IsClosed is false after Close")
			}
		}),
}
