package mutants

// A queue with priorities, with steps that a mutant can replace.

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/informerbench/informerbench/contract"
)

// ranked is a small queue with priorities, sound but for what its fields change.
// It looks at everything at every step. client-go's delaying queue tells it when an
// item's time has come.
type ranked struct {
	merge   func(held, given int) int             // the priority of an item that is added again
	earlier func(held, given time.Time) time.Time // its time
	reenter func(it *rankedItem, raised bool)     // its place
	ahead   func(a, b *rankedItem) bool           // whether a comes before b by priority
	// who of those that have come due becomes ready first
	sooner     func(a, b *rankedItem) int
	shown      func(priority int) int // what GetWithPriority tells
	delay      func(item string, o contract.AddOptions) time.Duration
	only       func(items []string) []string // of those that AddWithOpts is given
	turn       int                           // every so many Gets go by age; 0: none
	depth      func() int                    // what Len tells
	front      bool                          // what comes again is put before what waits
	strict     bool                          // Done panics if the item was not handed out
	quiet      bool                          // only the first ready item wakes a worker
	lossy      bool                          // an Add of an item that is processed is lost
	sticky     bool                          // an item keeps its priority while it is processed
	comesAgain bool                          // Add leaves the time that an item waits for
	forgetful  bool                          // any time that comes is taken for the item's
	early      bool                          // who comes next is settled when the one before goes
	deaf       bool                          // Pause does not hold what is ready
	asleep     bool                          // Resume wakes nobody
	still      bool                          // Add does nothing while the queue is paused
	lastRound  bool                          // a shutdown ends Pause
	// the priorities are compared before the lock is taken for good
	stale bool

	clock   clock.WithTicker
	limiter contract.RateLimiter[string]
	later   contract.DelayingQueue[string]

	mu     sync.Mutex
	change *sync.Cond // whatever somebody waits for
	held   map[string]*rankedItem
	ready  []*rankedItem // by age
	chosen *rankedItem   // if early
	places int
	added  int
	passed int
	busy   int
	paused bool
	over   bool
	drain  bool
}

type rankedItem struct {
	item       string
	priority   int
	place      int
	processing bool
	dirty      bool
	waits      bool
	due        time.Time
	arrival    int // counts the items as they were added
}

func newRanked(c clock.WithTicker) *ranked {
	q := &ranked{
		merge: func(held, given int) int { return max(held, given) },
		earlier: func(held, given time.Time) time.Time {
			return slices.MinFunc([]time.Time{held, given}, time.Time.Compare)
		},
		shown:   func(priority int) int { return priority },
		only:    func(items []string) []string { return items },
		turn:    16,
		clock:   c,
		limiter: newItemLimiter(),
		later: workqueue.NewTypedDelayingQueueWithConfig(
			workqueue.TypedDelayingQueueConfig[string]{Clock: c}),
		held: map[string]*rankedItem{},
	}
	q.reenter = func(it *rankedItem, raised bool) {
		if raised {
			it.place = q.newPlace()
		}
	}
	q.ahead = func(a, b *rankedItem) bool {
		return a.priority > b.priority || a.priority == b.priority && a.place < b.place
	}
	q.depth = func() int { return len(q.ready) }
	q.sooner = func(a, b *rankedItem) int {
		return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.arrival, b.arrival))
	}
	q.delay = func(item string, o contract.AddOptions) time.Duration {
		if !o.RateLimited {
			return o.After
		}
		if d := q.limiter.When(item); o.After == 0 || d < o.After {
			return d
		}
		return o.After
	}
	q.change = sync.NewCond(&q.mu)
	go q.ripen()
	return q
}

// next is the place in ready of the item that comes by priority.
func (q *ranked) next() (best int) {
	for i, it := range q.ready {
		if q.ahead(it, q.ready[best]) {
			best = i
		}
	}
	return best
}

func (q *ranked) newPlace() int { q.places++; return q.places }

func (q *ranked) Add(item string) { q.AddWithOpts(contract.AddOptions{}, item) }

func (q *ranked) AddAfter(item string, d time.Duration) {
	q.AddWithOpts(contract.AddOptions{After: d}, item)
}

func (q *ranked) AddRateLimited(item string) {
	q.AddWithOpts(contract.AddOptions{RateLimited: true}, item)
}

func (q *ranked) AddWithOpts(o contract.AddOptions, items ...string) {
	priority := 0
	if o.Priority != nil {
		priority = *o.Priority
	}
	for _, item := range q.only(items) {
		if q.ShuttingDown() {
			return
		}
		q.add(item, priority, q.delay(item, o))
	}
}

func (q *ranked) add(item string, priority int, after time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.over || q.paused && q.still {
		return
	}
	it := q.held[item]
	if it != nil && it.processing && q.lossy {
		return
	}
	if it == nil {
		q.added++
		it = &rankedItem{item: item, priority: priority, arrival: q.added}
		q.held[item] = it
	} else if it.processing && !it.dirty && !it.waits && !q.sticky {
		it.priority = priority
	}
	held := it.priority
	if q.stale && it.dirty {
		q.mu.Unlock()
		runtime.Gosched()
		q.mu.Lock()
	}
	merged := q.merge(held, priority)
	raised := merged > it.priority
	it.priority = merged
	if it.dirty {
		q.reenter(it, raised)
		return
	}
	if after <= 0 {
		if !q.comesAgain {
			it.waits = false
		}
		q.makeReady(it)
		return
	}
	due := q.clock.Now().Add(after)
	if it.waits {
		due = q.earlier(it.due, due)
	}
	it.waits, it.due = true, due
	q.later.AddAfter(item, due.Sub(q.clock.Now()))
}

// makeReady needs the lock. The item is not ready.
func (q *ranked) makeReady(it *rankedItem) {
	it.dirty = true
	if it.processing {
		return
	}
	it.place = q.newPlace()
	q.ready = append(q.ready, it)
	if q.early && q.chosen == nil {
		q.chosen = it
	}
	switch {
	case !q.quiet:
		q.change.Broadcast()
	case len(q.ready) == 1:
		q.change.Signal()
	}
}

// ripen makes ready what has come due. The delaying queue keeps the earliest time
// that it was given for an item, also one that is over, and it tells of items that are due
// at one instant in any order: so all that is due is made ready when it tells of one.
func (q *ranked) ripen() {
	for {
		item, shutdown := q.later.Get()
		if shutdown {
			return
		}
		q.mu.Lock()
		it := q.held[item]
		switch {
		case it == nil || !it.waits || q.over:
		case it.due.After(q.clock.Now()) && !q.forgetful:
			q.later.AddAfter(item, it.due.Sub(q.clock.Now()))
		default:
			q.makeDueReady(it)
		}
		q.mu.Unlock()
		q.later.Done(item)
	}
}

// makeDueReady makes ready the item that was told of, and all others that have come due.
func (q *ranked) makeDueReady(told *rankedItem) {
	now := q.clock.Now()
	due := []*rankedItem{told}
	for _, it := range q.held {
		if it != told && it.waits && !it.due.After(now) {
			due = append(due, it)
		}
	}
	slices.SortFunc(due, q.sooner)
	for _, it := range due {
		it.waits = false
		if !it.dirty {
			q.makeReady(it)
		}
	}
}

func (q *ranked) Get() (string, bool) {
	item, _, shutdown := q.GetWithPriority()
	return item, shutdown
}

func (q *ranked) GetWithPriority() (string, int, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.ready) == 0 || q.paused && !q.deaf {
		if q.over {
			return "", 0, true
		}
		q.change.Wait()
	}
	i := q.next()
	if q.chosen != nil {
		i = slices.Index(q.ready, q.chosen)
	}
	if q.passed++; q.turn > 0 && q.passed >= q.turn || i == 0 {
		i, q.passed = 0, 0
	}
	it := q.ready[i]
	q.ready = slices.Delete(q.ready, i, i+1)
	q.chosen = nil
	if q.early && len(q.ready) > 0 {
		q.chosen = q.ready[q.next()]
	}
	it.dirty, it.processing = false, true
	q.busy++
	return it.item, q.shown(it.priority), false
}

func (q *ranked) Done(item string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	it := q.held[item]
	if it == nil || !it.processing {
		if q.strict {
			panic("done with " + item + ", which was not got")
		}
		return
	}
	it.processing = false
	switch {
	case it.dirty:
		q.makeReady(it)
		if q.front {
			it.place = -it.place
		}
	case !it.waits:
		delete(q.held, item)
	}
	q.busy--
	q.change.Broadcast()
}

func (q *ranked) Pause() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.paused = true
}

func (q *ranked) Resume() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.paused = false
	if !q.asleep {
		q.change.Broadcast()
	}
}

func (q *ranked) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.depth()
}

func (q *ranked) ShutDown()          { q.shutDown(false) }
func (q *ranked) ShutDownWithDrain() { q.shutDown(true) }

func (q *ranked) shutDown(drain bool) {
	q.later.ShutDown()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over, q.drain = true, drain
	q.paused = q.paused && !q.lastRound
	q.change.Broadcast()
	for q.drain && q.busy > 0 {
		q.change.Wait()
	}
}

func (q *ranked) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.over
}

func (q *ranked) Forget(item string)          { q.limiter.Forget(item) }
func (q *ranked) NumRequeues(item string) int { return q.limiter.NumRequeues(item) }
