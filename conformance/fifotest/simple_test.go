package fifotest

// A simple FIFO over the model, into which one mistake at a time is put.

import (
	"sync"

	"github.com/informerbench/informerbench/contract"
)

// simple is healthy when its bug is "".
type simple struct {
	cfg  contract.FIFOConfig
	bug  string
	cond sync.Cond

	mu struct {
		sync.Mutex
		m      model
		closed bool
		calls  int
		kept   []group
	}
}

func newSimple(cfg contract.FIFOConfig, class contract.FIFOClass, bug string) *simple {
	s := &simple{cfg: cfg, bug: bug}
	s.cond.L = &s.mu
	s.mu.m.class = class
	s.mu.m.known, _ = cfg.KnownObjects.(*knownObjects)
	return s
}

func (s *simple) key(o any) (string, error) {
	if tombstone, ok := o.(contract.DeletedFinalStateUnknown); ok && s.bug != "tombstone by key func" {
		return tombstone.Key, nil
	}
	key, err := s.cfg.KeyFunc(o)
	if err != nil && s.bug != "bare key error" {
		err = contract.KeyError{Obj: o, Err: err}
	}
	return key, err
}

func (s *simple) Add(o any) error    { return s.produce(contract.Added, o) }
func (s *simple) Update(o any) error { return s.produce(contract.Updated, o) }
func (s *simple) Delete(o any) error { return s.produce(contract.Deleted, o) }

func (s *simple) produce(kind contract.DeltaType, o any) error {
	key, err := s.key(o)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.cond.Broadcast()
	m := &s.mu.m
	s.mu.calls++
	i := m.find(key)
	var last contract.Delta
	for _, g := range m.waiting {
		if g.key == key {
			last = g.deltas[len(g.deltas)-1]
		}
	}
	d := contract.Delta{Type: kind, Object: o}
	twoDeletions := last.Type == contract.Deleted && kind == contract.Deleted
	switch {
	case s.bug == "loses one of many" && s.mu.calls%997 == 996:
		return nil
	case s.bug == "update as add" && kind == contract.Updated:
		kind = contract.Added
	case s.bug == "copies objects":
		if in, ok := o.(*object); ok {
			o = obj(in.key, in.version)
		}
	case s.bug == "newest only" && i >= 0:
		m.waiting[i].deltas = contract.Deltas{d}
		return nil
	case s.bug == "moves to the end" && i >= 0:
		g := m.waiting[i]
		m.waiting = append(append([]group(nil), m.waiting[:i]...), m.waiting[i+1:]...)
		m.waiting = append(m.waiting, g)
	case s.bug == "newest deletion" && twoDeletions && !isTombstone(d):
		m.waiting[i].deltas[len(m.waiting[i].deltas)-1] = d
		return nil
	case s.bug == "tombstone displaces" && twoDeletions:
		m.waiting[i].deltas[len(m.waiting[i].deltas)-1] = d
		return nil
	case s.bug == "unknown deletions" && kind == contract.Deleted:
		m.populate(0)
		m.enqueue(d, key)
		return nil
	case s.bug == "known deletions ignored" && kind == contract.Deleted && i < 0:
		m.populate(0)
		return nil
	case s.bug == "at most four" && i >= 0 && len(m.waiting[i].deltas) == 4:
		m.waiting[i].deltas = m.waiting[i].deltas[1:]
	case s.bug == "drops repeated deletions" && twoDeletions:
		return nil
	case s.bug == "synced by replace only" && !m.populated:
		defer func() { m.populated = false }()
	}
	m.event(kind, o)
	return nil
}

func (s *simple) Replace(list []any, resourceVersion string) error {
	var good []any
	for _, o := range list {
		if _, err := s.key(o); err == nil {
			good = append(good, o)
		} else if s.mu.m.class != contract.InOrderAtomic && s.bug != "skips bad objects" {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &s.mu.m
	before, populated := len(m.waiting), m.populated
	switch s.bug {
	case "no implied deletions":
		m.replaced(good)
		m.populate(len(m.waiting))
	case "known not deleted":
		k := m.known
		m.known = nil
		m.replace(good, resourceVersion)
		m.known = k
	case "replace emits sync":
		for _, o := range good {
			m.enqueue(contract.Delta{Type: contract.Sync, Object: o}, keyOf(o))
		}
		m.impliedDeletions(good)
		m.populate(len(m.waiting))
	case "deletions after the list":
		m.replaced(good)
		m.impliedDeletions(good)
		m.populate(len(m.waiting))
	case "no resource version":
		m.replace(good, "")
	default:
		m.replace(good, resourceVersion)
	}
	switch {
	case s.bug == "implied deletions do not count" && !populated:
		m.left = len(good)
	case s.bug == "empty list never syncs" && !populated && len(m.waiting) == 0:
		m.populated = false
	case s.bug == "unsyncs":
		m.left = len(m.waiting)
	}
	switch s.bug {
	case "replace does not wake":
	case "one signal for a list":
		if len(m.waiting) > before {
			s.cond.Signal()
		}
	default:
		s.cond.Broadcast()
	}
	return nil
}

func (s *simple) Resync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &s.mu.m
	switch {
	case s.bug == "no sync-all":
	case s.bug == "resync of waiting" && m.known != nil:
		for _, key := range m.known.ListKeys() {
			o, _, _ := m.known.GetByKey(key)
			m.enqueue(contract.Delta{Type: contract.Sync, Object: o}, key)
		}
	default:
		s.resyncFound()
	}
	s.cond.Broadcast()
	return nil
}

// resyncFound is the model's resync but for what a look-up does not find, which
// random histories have not.
func (s *simple) resyncFound() {
	m := &s.mu.m
	before := len(m.waiting)
	m.resync()
	kept := m.waiting[:before:before]
	for _, g := range m.waiting[before:] {
		if g.deltas[0].Object != nil {
			kept = append(kept, g)
		}
	}
	m.waiting = kept
}

func (s *simple) Pop(process contract.PopProcessFunc) (any, error) {
	s.mu.Lock()
	unlock := true
	defer func() {
		if unlock {
			s.mu.Unlock()
		}
	}()
	m := &s.mu.m
	for len(m.waiting) == 0 || s.mu.closed && s.bug == "discards on close" {
		if s.mu.closed {
			return nil, contract.ErrFIFOClosed
		}
		s.cond.Wait()
	}
	if last := len(m.waiting) - 1; s.bug == "newest first" {
		m.waiting[0], m.waiting[last] = m.waiting[last], m.waiting[0]
	}
	before := *m
	g, isInitial := m.pop()
	after := *m
	if s.bug == "keeps what was popped" {
		s.mu.kept = append(s.mu.kept, g)
	}
	if s.bug == "flag never set" {
		isInitial = false
	}
	if s.bug == "unlocks and counts early" || s.bug == "unlocks" {
		if s.bug == "unlocks" {
			m.populated, m.left = before.populated, before.left
		}
		s.mu.Unlock()
		err := process(g.deltas, isInitial)
		s.mu.Lock()
		if s.bug == "unlocks" && after.synced() {
			m.left = 0
		}
		return g.deltas, err
	}
	unlock = s.bug != "lock left by a panic"
	err := process(g.deltas, isInitial)
	unlock = true
	switch s.bug {
	case "swallows errors":
		return g.deltas, nil
	case "processes twice":
		return g.deltas, process(g.deltas, isInitial)
	case "failed process returns":
		if err != nil {
			m.putBack(g.key, g.deltas)
		}
	}
	return g.deltas, err
}

func (s *simple) HasSynced() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.bug {
	case "synced from the start":
		return true
	case "synced on replace":
		return s.mu.m.populated
	}
	return s.mu.m.synced()
}

func (s *simple) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.closed = true
	if s.bug == "close wakes one" {
		s.cond.Signal()
		return
	}
	s.cond.Broadcast()
}

// release lets go what a broken FIFO holds up, when its case is over.
func (s *simple) release() {
	if s.bug != "lock left by a panic" {
		s.mu.Lock()
	} else if s.mu.TryLock() {
		s.mu.Unlock()
		return
	}
	s.cond.Broadcast()
	s.mu.Unlock()
}
