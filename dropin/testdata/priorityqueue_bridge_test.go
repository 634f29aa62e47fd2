package priorityqueue

// Compiled with controller-runtime's tests only: see TestUpstream in upstream_test.go.

import (
	"sync"
	"time"

	clientgo "k8s.io/client-go/util/workqueue"

	"github.com/informerbench/informerbench/contract"
)

// priorityqueue has the fields of controller-runtime's that its tests set. Its time is that of
// the test's bubble, so the two functions are set and not called.
type priorityqueue[T comparable] struct {
	PriorityQueue[T]
	now         func() time.Time
	tick        func(time.Duration) <-chan time.Time
	rateLimiter clientgo.TypedRateLimiter[T]

	lockedLock sync.Mutex
	locked     held
}

// held is how many items workers have, where a test asks: none.
type held struct{}

func (held) Len() int { return 0 }

// limiter is the one that the queue has when it is asked.
type limiter struct{ q *priorityqueue[string] }

func (l limiter) When(item string) time.Duration { return l.q.rateLimiter.When(item) }
func (l limiter) Forget(item string)             { l.q.rateLimiter.Forget(item) }
func (l limiter) NumRequeues(item string) int    { return l.q.rateLimiter.NumRequeues(item) }

func bridged(metrics *fakeMetricsProvider, opts []Opt[string]) *priorityqueue[string] {
	q := &priorityqueue[string]{}
	q.PriorityQueue = New("test", append([]Opt[string]{func(o *Opts[string]) {
		o.MetricProvider, o.RateLimiter = metrics, limiter{q}
	}}, opts...)...)
	return q
}

// NewPriorityDepthMetric is the method that controller-runtime calls NewDepthMetricWithPriority,
// whose result has a type of an internal package.
func (f *fakeMetricsProvider) NewPriorityDepthMetric(name string) contract.PriorityDepthMetric {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.depth[name] = map[int]int{}
	return &fakeGaugeMetric{m: &f.depth, mu: &f.mu, name: name}
}
