package subject

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/bench/internal/staleness"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
	"github.com/informerbench/informerbench/load/synthetic"
	"github.com/informerbench/informerbench/measure/record"
)

// Informer is a running informer that has listed a workload's objects. Each event
// sent by its source passes the whole informer: reflector, FIFO, store, handlers.
type Informer struct {
	newInformer contract.NewInformer
	Objects     *synthetic.Objects
	first       []kruntime.Object // the objects as they were generated
	Example     kruntime.Object   // an object of their type
	indexers    contract.Indexers
	window      chan struct{}          // of a closed loop's writer, else nil
	told        staleness.Tracker[int] // its clock, and the sightings of each group of handlers
	probe       *probe                 // nil where no group is offered events at a rate
	ledgers     []*staleness.Ledger    // of the probe and of each handler
	number      map[any]int            // of each object version; nil until needed
	// encoded are the bytes that a client decodes, of each object version; nil if it gets the
	// source's own objects.
	encoded map[kruntime.Object][]byte

	Main        *Live                // started by Fill; nil while it rests
	handlers    []*registered        // of main, registered by deliver
	Current     atomic.Pointer[Live] // read by the readers
	second      []kruntime.Object    // later versions of all objects; nil until needed
	checks      []record.CheckResult // of relists, syncs and writers
	paced       bool                 // a handler takes from the writer's window
	writers     []writing
	longestWork time.Duration // of any handler
	// unverified compares a sync or a relist with the source, outside the timing.
	unverified func()

	// deliver: a handler got more events than were sent, which would pass for speed
	repeated atomic.Bool
	writing  atomic.Int32 // loops that may block in a send
	stopped  atomic.Bool
	stopping chan struct{}
	mu       struct {
		sync.Mutex
		running map[*Live]bool
	}
}

// NewInformer makes the subject of an informer; Fill starts it.
func NewInformer(newInformer contract.NewInformer, objects *synthetic.Objects,
	w load.Workload) *Informer {
	s := &Informer{newInformer: newInformer, Objects: objects, first: objects.All(),
		stopping: make(chan struct{})}
	if len(s.first) > 0 {
		s.Example = s.first[0]
	}
	if w.Objects.Decoded {
		s.encoded = make(map[kruntime.Object][]byte, 2*len(s.first))
		rng := rand.New(rand.NewPCG(1, 1))
		for _, obj := range s.first {
			s.encoded[obj] = w.Objects.Kind.Encode(synthetic.Own(obj, rng))
		}
	}
	s.mu.running = map[*Live]bool{}
	all := synthetic.Indexers()
	s.indexers = contract.Indexers{w.Index: all[w.Index]}
	for _, g := range w.Groups {
		switch {
		case g.Op == load.OpByIndex && g.Index != "":
			s.indexers[g.Index] = all[g.Index]
		case g.Op == load.OpListNamespace:
			s.indexers[synthetic.IndexNamespace] = all[synthetic.IndexNamespace]
		case g.Op == load.OpUpdate && g.Rate == 0 && g.Goroutines > 0:
			s.window = make(chan struct{}, window)
		case g.Op == load.OpUpdate && g.Goroutines > 0 && s.probe == nil:
			s.probe = newProbe()
		}
	}
	if s.probe != nil {
		index := s.indexers[w.Index]
		s.indexers[w.Index] = func(obj any) ([]string, error) {
			s.probe.wake()
			return index(obj)
		}
	}
	return s
}

// Held is part of engine.Subject.
func (s *Informer) Held() int { return s.Objects.Len() }

// Fill starts the informer and waits until it watches.
func (s *Informer) Fill() { s.wake() }

func (s *Informer) wake() {
	if s.Main != nil {
		return
	}
	s.Main = s.Start(s.newSource(false))
	if s.Main == nil {
		return // after Stop
	}
	s.Main.Watches(s.stopping)
	s.Current.Store(s.Main)
}

// rest stops the informer, so that its memory and its goroutines do not count in the
// measurement of another one.
func (s *Informer) rest() {
	if s.Main != nil {
		s.end(s.Main)
		s.Main, s.handlers = nil, nil
		s.Current.Store(nil)
	}
}

// Live is one running informer.
type Live struct {
	Feed     *EventSource
	Informer cache.SharedIndexInformer
	cancel   context.CancelFunc
	done     chan struct{}
}

// Start runs a new informer with handlers. After Stop it returns nil.
func (s *Informer) Start(f *EventSource, handlers ...cache.ResourceEventHandler) *Live {
	// Under the lock, either Stop stops this informer or start does not start it.
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped.Load() {
		return nil
	}
	indexers := make(contract.Indexers, len(s.indexers))
	for name, f := range s.indexers {
		indexers[name] = f
	}
	l := &Live{Feed: f, Informer: s.newInformer(f, s.Example, 0, indexers), done: make(chan struct{})}
	for _, h := range handlers {
		if _, err := l.Informer.AddEventHandler(h); err != nil {
			panic(fmt.Sprintf("bench: a new informer refuses a handler: %v", err))
		}
	}
	var ctx context.Context
	ctx, l.cancel = context.WithCancel(context.Background())
	s.mu.running[l] = true
	go func() {
		defer close(l.done)
		l.Informer.RunWithContext(ctx)
	}()
	return l
}

// Watches waits until the informer has synced and watches.
func (l *Live) Watches(stop <-chan struct{}) {
	select {
	case <-l.Informer.HasSyncedChecker().Done():
	case <-stop:
		return
	}
	select {
	case <-l.Feed.opened:
	case <-stop:
	}
}

// end stops an informer and waits until its goroutines have ended.
func (s *Informer) end(l *Live) {
	s.mu.Lock()
	was := s.mu.running[l]
	delete(s.mu.running, l)
	s.mu.Unlock()
	if was {
		l.end()
	}
}

func (l *Live) end() {
	l.cancel()
	l.Feed.close()
	<-l.done
}

// Stop ends every informer. It takes events out of the watch and the window, so that
// blocked writers return.
func (s *Informer) Stop() {
	if s.stopped.Swap(true) {
		return
	}
	close(s.stopping)
	for s.writing.Load() > 0 {
		s.Current.Load().Feed.drain()
		select {
		case <-s.window: // nil: never ready
		default:
		}
		runtime.Gosched()
	}
	s.mu.Lock()
	running := s.mu.running
	s.mu.running = map[*Live]bool{}
	s.mu.Unlock()
	for l := range running {
		l.end()
	}
	if s.probe != nil {
		s.probe.end()
	}
}

func (s *Informer) verify() {
	if s.unverified != nil {
		s.unverified()
		s.unverified = nil
	}
}

// settle adds the checks to the fork, after all actors have ended.
func (s *Informer) settle(f *record.Fork) {
	s.verify()
	found := s.checks
	if s.repeated.Load() {
		found = append(found, record.CheckResult{Name: "handlers are told of each event once",
			Detail: "a handler was told of more events than were sent"})
	}
	for _, c := range found {
		switch i := slices.IndexFunc(f.Checks, func(o record.CheckResult) bool {
			return o.Name == c.Name
		}); {
		case i < 0:
			f.Checks = append(f.Checks, c)
		case f.Checks[i].Passed:
			f.Checks[i] = c // of all sittings, the first that failed
		}
	}
}

// Actor makes an actor for one operation.
func (s *Informer) Actor(op load.Op, g load.Group, who int) (engine.Actor, error) {
	switch op {
	case load.OpGet, load.OpList, load.OpByIndex, load.OpListNamespace:
		return s.reader(op, g, who)
	case load.OpUpdate:
		return s.writer(g, who)
	case load.OpHandle:
		return s.handler(g)
	case load.OpDeliver:
		return s.deliverer(g, who)
	}
	if g.Goroutines > 1 {
		return engine.Actor{}, fmt.Errorf(
			"informer: %s on several goroutines: %w: one informer is measured at a time", op,
			engine.ErrUnsupported)
	}
	switch op {
	case load.OpSync, load.OpSyncStream:
		return s.syncer(op == load.OpSyncStream), nil
	case load.OpRelist:
		return s.relister(), nil
	}
	return engine.Actor{}, fmt.Errorf("informer: %s: %w", op, engine.ErrUnsupported)
}

func (s *Informer) reader(op load.Op, g load.Group, who int) (engine.Actor, error) {
	if op == load.OpGet {
		w := engine.NewWalk(s.Objects.Len(), g.Keys, who)
		keys := engine.Along(w, s.Objects.Key)
		return s.reading(func(indexer cache.Indexer) { _, _, _ = indexer.GetByKey(keys[w.Slot()]) }), nil
	}
	if op == load.OpList {
		return s.reading(func(indexer cache.Indexer) { indexer.List() }), nil
	}
	index := g.Index
	if op == load.OpListNamespace {
		index = synthetic.IndexNamespace
	}
	all := s.Objects.IndexedValues(index)
	if len(all) == 0 {
		return engine.Actor{}, fmt.Errorf("informer: %s: no object has a value in index %q", op, index)
	}
	w := engine.NewWalk(len(all), 0, who)
	values := engine.Along(w, func(i int) string { return all[i] })
	if op == load.OpByIndex {
		return s.reading(func(indexer cache.Indexer) {
			_, _ = indexer.ByIndex(index, values[w.Slot()])
		}), nil
	}
	everything, one := labels.Everything(), func(any) {}
	return s.reading(func(indexer cache.Indexer) {
		_ = cache.ListAllByNamespace(indexer, values[w.Slot()], everything, one)
	}), nil
}

// reading makes an actor that reads the current informer; a relist replaces it.
func (s *Informer) reading(read func(cache.Indexer)) engine.Actor {
	return engine.Actor{Loop: func(n int) int {
		for i := range n {
			l := s.Current.Load()
			if l == nil {
				return i
			}
			read(l.Informer.GetIndexer())
		}
		return n
	}}
}

// writer sends MODIFIED events. In a closed loop it is at most window events ahead of the
// first handler. In an open loop only the watch's channel blocks it.
func (s *Informer) writer(g load.Group, who int) (engine.Actor, error) {
	w, err := engine.OwnWalk(s.Objects.Len(), g.Keys, who, g.Goroutines)
	if err != nil {
		return engine.Actor{}, fmt.Errorf("informer: %s: %w", load.OpUpdate, err)
	}
	feed := s.Main.Feed
	of := func(all []kruntime.Object) []kruntime.Object {
		return engine.Along(w, func(i int) kruntime.Object { return all[i] })
	}
	versions := [2][]kruntime.Object{of(s.later()), of(s.first)}
	s.writers = append(s.writers, writing{w, versions})
	if g.Rate == 0 {
		window := s.window
		// The first writes fill the empty window and cost nothing. A stride learnt from
		// them would be 64, at a rate that is then a dozen writes a second. A closed loop
		// times each operation of an actor with preparations.
		return engine.Actor{Prepare: func(int) {}, Loop: s.sending(func() {
			pass := w.Pass()
			feed.send(versions[pass][w.Slot()])
			window <- struct{}{}
		})}, nil
	}
	keys := engine.Along(w, s.Objects.Key)
	due := &staleness.Due{At: s.told.At}
	if s.probe.Ledger == nil {
		s.probe.version = s.version
		s.probe.begin(s.Main.Informer.GetIndexer(), s.newLedger(s.told.Consumer(g.Name)))
	}
	numbers := [2][]int{
		engine.Along(w, func(i int) int { return len(s.first) + i }),
		engine.Along(w, func(i int) int { return i }),
	}
	return engine.Actor{Due: due, Seen: s.probe.Seen, Owed: s.owed, Loop: s.sending(func() {
		pass := w.Pass()
		i := w.Slot()
		obj := versions[pass][i]
		if due.Since != 0 {
			n := numbers[pass][i]
			for _, l := range s.ledgers {
				due.Stamp(&l.Stamps[n])
			}
			s.probe.offered(probed{keys[i], s.version(obj), n})
		}
		feed.send(obj)
	})}, nil
}

// sending makes a loop of sends that Stop can end. The loop raises writing before it reads
// stopped, and Stop sets stopped before it reads writing: at least one of the two sees the
// other.
func (s *Informer) sending(one func()) func(n int) int {
	return func(n int) int {
		s.writing.Add(1)
		defer s.writing.Add(-1)
		for i := range n {
			if s.stopped.Load() {
				return i
			}
			one()
		}
		return n
	}
}

// handler registers a handler and waits until it has had the initial adds.
func (s *Informer) handler(g load.Group) (engine.Actor, error) {
	h := newNotified()
	h.work = g.Work
	s.longestWork = max(s.longestWork, g.Work)
	if !s.paced {
		h.window, s.paced = s.window, true
	}
	if s.probe != nil {
		h.number, h.version, h.probe = s.numbers(), s.version, s.probe
		h.ledger = s.newLedger(s.told.Consumer(g.Name))
		h.seen = h.ledger.Seen
	}
	if _, err := s.register(h); err != nil {
		return engine.Actor{}, err
	}
	return h.counting(s.stopping), nil
}

// registered is a handler of the main informer.
type registered struct {
	*notified
	registration cache.ResourceEventHandlerRegistration
}

var errStoppedInformer = errors.New("the informer was stopped")

func (s *Informer) register(h *notified) (*registered, error) {
	r, err := s.Main.Informer.AddEventHandler(h)
	if err != nil {
		return nil, fmt.Errorf("informer: a handler beside others: %w", err)
	}
	select {
	case <-r.HasSyncedChecker().Done():
		return &registered{h, r}, nil
	case <-s.stopping:
		return nil, errStoppedInformer
	}
}

// enlist registers or removes handlers for deliver until the main informer has n of them.
func (s *Informer) enlist(n int) error {
	for len(s.handlers) < n {
		h, err := s.register(newNotified())
		if err != nil {
			return err
		}
		s.handlers = append(s.handlers, h)
	}
	for _, h := range s.handlers[n:] {
		if err := s.Main.Informer.RemoveEventHandler(h.registration); err != nil {
			return fmt.Errorf("informer: taking a handler away: %w", err)
		}
	}
	s.handlers = slices.Delete(s.handlers, n, len(s.handlers))
	return nil
}

// burst is the number of events that deliver sends before it waits for all of them. It
// keeps every goroutine of the informer busy, and stays below the 2,000 at which
// client-go's FIFO changes its behaviour.
const burst = 1024

// deliverer is one handler and its wait for a burst of events; the first one also sends the
// burst.
func (s *Informer) deliverer(g load.Group, who int) (engine.Actor, error) {
	n := max(1, g.Goroutines)
	s.wake()
	if s.Main == nil {
		return engine.Actor{}, errStoppedInformer
	}
	if err := s.enlist(n); err != nil {
		return engine.Actor{}, err
	}
	w := engine.NewWalk(s.Objects.Len(), g.Keys, 0)
	versions := [2][]kruntime.Object{engine.Along(w, func(i int) kruntime.Object {
		return s.later()[i]
	}), engine.Along(w, s.Objects.At)}
	var failed error
	// Other actors may have removed handlers, or had events sent to this one.
	begin := func() {
		s.wake()
		if failed = s.enlist(n); failed == nil {
			s.handlers[who].expected = s.handlers[who].updates.n.Load()
		}
	}
	begin()
	send := s.sending(func() {
		pass := w.Pass()
		s.Main.Feed.send(versions[pass][w.Slot()])
	})
	return engine.Actor{Chunk: burst, Turn: burst, Begin: begin, Loop: func(n int) int {
		if failed != nil {
			return 0
		}
		h := s.handlers[who]
		h.expected += int64(n)
		if who == 0 && send(n) < n || !h.updates.await(h.expected, s.stopping) {
			return 0
		}
		if h.updates.n.Load() > h.expected {
			s.repeated.Store(true)
		}
		return n
	}}, failed
}
