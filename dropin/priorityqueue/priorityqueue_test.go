package priorityqueue_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"go.uber.org/goleak"
	clientgo "k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/informerbench/informerbench/conformance/queuetest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/dropin/priorityqueue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limiter is a rate limiter that delays each item by a minute.
type limiter struct {
	clientgo.TypedRateLimiter[string]
}

func (limiter) When(string) time.Duration { return time.Minute }

// The options are used, and those that are left out have controller-runtime's defaults.
func TestOptions(t *testing.T) {
	t.Parallel()
	for want, opts := range map[time.Duration][]priorityqueue.Opt[string]{
		5 * time.Millisecond: nil,
		time.Minute:          {func(o *priorityqueue.Opts[string]) { o.RateLimiter = limiter{} }},
	} {
		synctest.Test(t, func(t *testing.T) {
			q := priorityqueue.New("", opts...)
			defer q.ShutDown()
			begun := time.Now()
			q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true, Priority: new(7)}, "item")
			item, priority, shutdown := q.GetWithPriority()
			if took := time.Since(begun); item != "item" || priority != 7 || shutdown || took != want {
				t.Errorf("the queue gave %q, %d, %t after %v, want item, 7, false after %v", item, priority,
					shutdown, took, want)
			}
		})
	}
}

// A queue with a name and no provider has the metrics of controller-runtime.
func TestMetrics(t *testing.T) {
	priorityqueue.New[string]("metrics-of-a-test").ShutDown()
	priorityqueue.New[string]("").ShutDown()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := 0
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "name" && strings.HasPrefix(f.GetName(), "workqueue_") {
					series++
					if l.GetValue() != "metrics-of-a-test" {
						t.Errorf("%s of a queue %q", f.GetName(), l.GetValue())
					}
				}
			}
		}
	}
	if series != 6 { // the depth has its series with the first item
		t.Errorf("%d series, want 6", series)
	}
}

// At verbosity 5 the log gets what waits, every ten seconds until the queue is shut down.
func TestLog(t *testing.T) {
	t.Parallel()
	for _, verbosity := range []int{4, 5} {
		synctest.Test(t, func(t *testing.T) {
			var said []string
			q := priorityqueue.New("", func(o *priorityqueue.Opts[string]) {
				o.Log = funcr.New(func(_, args string) {
					said = append(said, args)
				}, funcr.Options{Verbosity: verbosity})
			})
			q.AddWithOpts(priorityqueue.AddOpts{After: time.Hour}, "later")
			q.AddWithOpts(priorityqueue.AddOpts{Priority: new(-3)}, "low")
			q.Add("now")
			time.Sleep(25 * time.Second)
			q.ShutDown()
			q.ShutDownWithDrain() // again
			time.Sleep(time.Minute)
			synctest.Wait()
			const zero = `"readyAt"="0001-01-01 00:00:00 +0000 UTC"` // funcr does not know omitzero
			const want = `"level"=5 "msg"="workqueue_items" "items"=[{"key"="now" "priority"=0 ` + zero +
				`} {"key"="low" "priority"=-3 ` + zero + `} ` +
				`{"key"="later" "priority"=0 "readyAt"="2000-01-01 01:00:00 +0000 UTC"}]`
			if lines := (verbosity - 4) * 2; len(said) != lines || lines > 0 &&
				(said[0] != want || said[1] != want) {
				t.Errorf("at verbosity %d the log got\n%s\nwant %d times\n%s", verbosity,
					strings.Join(said, "\n"), lines, want)
			}
		})
	}
}

// The queue keeps the contract, with a log too.
func TestQueueKeepsTheClauses(t *testing.T) {
	t.Parallel()
	for name, opt := range map[string]priorityqueue.Opt[string]{
		"plain": func(*priorityqueue.Opts[string]) {},
		"logged": func(o *priorityqueue.Opts[string]) {
			o.Log = funcr.New(func(string, string) {}, funcr.Options{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queuetest.Run(t, func(clock.WithTicker) contract.DelayingQueue[string] {
				return priorityqueue.New("", opt)
			}, queuetest.Waive("QUEUE-11", "as in controller-runtime, so that a manager stops soon"),
				suite.WithEffort(0.1))
		})
	}
}
