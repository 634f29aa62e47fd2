package workqueue_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"go.uber.org/goleak"
	clientgo "k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/dropin/workqueue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counted is a provider whose metrics count how often they were made, and the retries.
type counted struct{ made, retries atomic.Int64 }

type metric struct{ n *atomic.Int64 }

func (m metric) Inc()            { m.n.Add(1) }
func (m metric) Dec()            {}
func (m metric) Set(float64)     {}
func (m metric) Observe(float64) {}

func (c *counted) metric() metric {
	c.made.Add(1)
	return metric{new(atomic.Int64)}
}
func (c *counted) NewDepthMetric(string) workqueue.GaugeMetric            { return c.metric() }
func (c *counted) NewAddsMetric(string) workqueue.CounterMetric           { return c.metric() }
func (c *counted) NewLatencyMetric(string) workqueue.HistogramMetric      { return c.metric() }
func (c *counted) NewWorkDurationMetric(string) workqueue.HistogramMetric { return c.metric() }
func (c *counted) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return c.metric()
}
func (c *counted) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return c.metric()
}
func (c *counted) NewRetriesMetric(string) workqueue.CounterMetric {
	c.made.Add(1)
	return metric{&c.retries}
}

// The provider of the configuration comes first, then that of the first SetProvider, which
// client-go's queues get as well. The log says that the package is in use, and which queue is the
// first to lack a provider.
func TestProvider(t *testing.T) {
	var first, second, own counted
	var logged []string
	defer klog.CaptureState().Restore()
	klog.SetLogger(funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{}))
	named := func(p workqueue.MetricsProvider) {
		workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.DefaultTypedControllerRateLimiter[string](),
			workqueue.TypedRateLimitingQueueConfig[string]{Name: "named", MetricsProvider: p}).ShutDown()
	}
	workqueue.NewTyped[string]().ShutDown()
	named(nil) // no provider yet: no metrics, and no panic
	named(nil)
	workqueue.SetProvider(&first)
	workqueue.SetProvider(&second)
	named(nil)
	named(&own)
	clientgo.NewTypedWithConfig(clientgo.TypedQueueConfig[string]{Name: "theirs"}).ShutDown()
	workqueue.NewTyped[string]().ShutDown() // no name: no metrics
	if first.made.Load() != 7+6 || second.made.Load() != 0 || own.made.Load() != 7 {
		t.Errorf("metrics made: %d, %d and %d, want 13, 0 and 7", first.made.Load(), second.made.Load(),
			own.made.Load())
	}
	if len(logged) != 2 || !strings.Contains(logged[0], `"kind"="workqueue"`) ||
		!strings.Contains(logged[1], `The queue \"named\"`) {
		t.Errorf("logged %q, want that workqueue is in use and that named has no metrics", logged)
	}
}

// touching is an order that notes what is added again.
type touching struct {
	workqueue.Queue[string]
	touched []string
}

func (q *touching) Touch(item string) {
	q.touched = append(q.touched, item)
	q.Queue.Touch(item)
}

// Over a queue of the caller's, due items reach that queue, once each, and its retries are
// counted under the name.
func TestOverAQueueOfTheCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		order := &touching{Queue: workqueue.DefaultQueue[string]()}
		own := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Queue: order})
		var p counted
		q := workqueue.NewTypedDelayingQueueWithConfig(
			workqueue.TypedDelayingQueueConfig[string]{Name: "mine", MetricsProvider: &p, Queue: own})
		q.AddAfter("later", time.Hour)
		q.AddAfter("soon", time.Minute)
		q.AddAfter("now", 0)
		q.Add("now")
		if q.Len() != 1 || own.Len() != 1 {
			t.Fatalf("%d and %d items are ready, want 1", q.Len(), own.Len())
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		var got []string
		for range 3 {
			item, _ := q.Get()
			q.Done(item)
			got = append(got, item)
		}
		if want := []string{"now", "soon", "later"}; !slices.Equal(got, want) {
			t.Errorf("the items come as %v, want %v", got, want)
		}
		if want := []string{"now"}; !slices.Equal(order.touched, want) {
			t.Errorf("touched %v, want %v", order.touched, want)
		}
		if p.retries.Load() != 3 || p.made.Load() != 1 {
			t.Errorf("%d retries and %d metrics, want 3 and 1: the queue has its own", p.retries.Load(),
				p.made.Load())
		}
		q.AddAfter("never", time.Minute)
		q.ShutDownWithDrain()
		q.AddAfter("too late", 0)
		time.Sleep(time.Hour)
		if _, shutdown := q.Get(); !shutdown || !own.ShuttingDown() {
			t.Error("the queue goes on after ShutDownWithDrain")
		}
	})
}

// counting counts calls of ShutDown.
type counting struct {
	workqueue.TypedInterface[string]
	shutdowns int
}

func (c *counting) ShutDown() {
	c.shutdowns++
	c.TypedInterface.ShutDown()
}

// The caller may shut its own queue down: the delaying queue's goroutines end too, or
// synctest.Test fails. A ShutDown is passed on once.
func TestShutDownOfTheCallersQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		own := &counting{TypedInterface: workqueue.NewTyped[string]()}
		q := workqueue.NewTypedDelayingQueueWithConfig(
			workqueue.TypedDelayingQueueConfig[string]{Queue: own})
		q.AddAfter("never", time.Hour)
		own.TypedInterface.ShutDown()
		time.Sleep(time.Minute)
		q.ShutDown()
		q.ShutDown()
		if own.shutdowns != 1 {
			t.Errorf("ShutDown was passed on %d times, want once", own.shutdowns)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		own := workqueue.NewTyped[string]()
		q := workqueue.NewTypedDelayingQueueWithConfig(
			workqueue.TypedDelayingQueueConfig[string]{Queue: own})
		q.AddAfter("never", time.Hour)
		own.ShutDown() // q itself is not shut down
		time.Sleep(time.Minute)
	})
}

func TestParallelizeUntil(t *testing.T) {
	t.Parallel()
	var done atomic.Int64
	workqueue.ParallelizeUntil(context.Background(), 2, 100, func(int) {
		done.Add(1)
	}, workqueue.WithChunkSize(7))
	if done.Load() != 100 {
		t.Errorf("%d pieces were done, want 100", done.Load())
	}
}
