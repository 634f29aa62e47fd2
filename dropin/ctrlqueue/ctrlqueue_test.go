package ctrlqueue

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	clientgo "k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/delay"
	"github.com/informerbench/informerbench/queue/workqueue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The recipe of the documentation.
var _ = controller.Options{NewQueue: New[reconcile.Request]}

// gathered returns what metrics.Registry has on a queue: a line for each series of the
// seven families, with QUEUE in place of the queue's name.
func gathered(t *testing.T, name string) map[string]string {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "workqueue_") {
			continue
		}
		for _, m := range f.GetMetric() {
			var labels []string
			mine := false
			for _, l := range m.GetLabel() {
				mine = mine || l.GetName() == "name" && l.GetValue() == name
				labels = append(labels, l.GetName()+"="+strings.ReplaceAll(l.GetValue(), name, "QUEUE"))
			}
			if !mine {
				continue
			}
			value := fmt.Sprint(m.GetGauge().GetValue() + m.GetCounter().GetValue())
			if h := m.GetHistogram(); h != nil {
				value = fmt.Sprintf("%d observations, %.3f s, %d buckets", h.GetSampleCount(), h.GetSampleSum(),
					len(h.GetBucket()))
			}
			out[f.GetName()+"{"+strings.Join(labels, ",")+"}"] = value
		}
	}
	return out
}

// queue is what a controller's queue can do.
type queue = priorityqueue.PriorityQueue[string]

// This package's queue and controller-runtime's own get the same calls in virtual time, and
// publish the same: families, labels, buckets and values.
func TestMetricsAreThoseOfControllerRuntime(t *testing.T) {
	seen := map[string]map[string]string{}
	limiter := func() clientgo.TypedRateLimiter[string] {
		return clientgo.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Hour)
	}
	for name, newQueue := range map[string]func(name string) queue{
		"ours": func(name string) queue { return New(name, limiter()).(queue) },
		"theirs": func(name string) queue {
			return priorityqueue.New(name, func(o *priorityqueue.Opts[string]) { o.RateLimiter = limiter() })
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			q := newQueue(name)
			steps := []func(){
				func() { q.Add("a") },
				func() { q.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(-100)}, "b", "c") },
				// raised while it is ready
				func() { q.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(10)}, "c") },
				func() { time.Sleep(2 * time.Second) },
				func() { q.Get() }, // c
				func() { q.AddAfter("d", time.Minute) },
				func() { q.AddRateLimited("e") },
				func() { time.Sleep(3 * time.Second) },
				func() { q.Done("c") },
				func() { q.Get() },
				func() { time.Sleep(7*time.Second + time.Millisecond) },
			}
			for _, step := range steps {
				step()
				synctest.Wait()
			}
			seen[name] = gathered(t, name)
			q.ShutDown()
			synctest.Wait()
		})
	}
	ours, theirs := seen["ours"], seen["theirs"]
	if !maps.Equal(ours, theirs) {
		t.Errorf("ours are\n%s\nand controller-runtime's\n%s", lines(ours), lines(theirs))
	}
	families := map[string]bool{}
	for series := range ours {
		family, _, _ := strings.Cut(series, "{")
		families[family] = true
	}
	if len(families) != 7 {
		t.Errorf("%d families: %v; want seven", len(families), slices.Sorted(maps.Keys(families)))
	}
	if testing.Verbose() {
		t.Logf("\n%s", lines(ours))
	}
}

func lines(m map[string]string) string {
	var b strings.Builder
	for _, series := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%s %s\n", series, m[series])
	}
	return b.String()
}

// Without a priority, as client-go's queues: the label is there and empty.
func TestQueueWithoutPriorities(t *testing.T) {
	p, err := MetricsProvider()
	if err != nil {
		t.Fatal(err)
	}
	newHeap := func() contract.DelayHeap[string] { return delay.NewQuadHeap[string]() }
	limiter := clientgo.DefaultTypedControllerRateLimiter[string]()
	q := workqueue.NewRateLimiting(limiter, newHeap,
		workqueue.Config[string]{Name: "plain", MetricsProvider: p})
	defer q.ShutDown()
	q.Add("a")
	q.Add("b")
	// The gauge is the program's and outlives the queue: it goes back to 0, so that the
	// test can run again.
	for _, want := range []string{"2", "1", "0"} {
		if got := gathered(
			t, "plain")["workqueue_depth{controller=QUEUE,name=QUEUE,priority=}"]; got != want {
			t.Errorf("the depth is %q, want %s, of\n%s", got, want, lines(gathered(t, "plain")))
		}
		if want != "0" {
			q.Get()
		}
	}
}

// In a queue with very many priorities the first ones have labels of their own. An item
// that is counted up under a label is counted down under the same.
func TestPrioritiesHaveABound(t *testing.T) {
	q := New("many", clientgo.DefaultTypedControllerRateLimiter[int]()).(priorityqueue.PriorityQueue[int])
	defer q.ShutDown()
	const items = 100
	for i := range items {
		q.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(i)}, i)
	}
	depths := func() map[string]string {
		of := gathered(t, "many")
		maps.DeleteFunc(of, func(series, _ string) bool {
			return !strings.HasPrefix(series, "workqueue_depth")
		})
		return of
	}
	const others = "workqueue_depth{controller=QUEUE,name=QUEUE,priority=" + otherPriorities + "}"
	if got := depths(); len(got) != maxPriorities+1 || got[others] != fmt.Sprint(items-maxPriorities) {
		t.Errorf("the depths are\n%s", lines(got))
	}
	for range items {
		item, _ := q.Get()
		q.Done(item)
	}
	for series, depth := range depths() {
		if depth != "0" {
			t.Errorf("the queue is empty, and %s is %s", series, depth)
		}
	}
}

// An unknown version of controller-runtime is reported, and not passed over.
func TestUnknownFamiliesAreErrors(t *testing.T) {
	t.Parallel()
	if _, err := lookUp(prometheus.NewRegistry()); err == nil ||
		!strings.Contains(err.Error(), "workqueue_depth is not registered") {
		t.Errorf("an empty registry: %v", err)
	}
	other := prometheus.NewRegistry()
	other.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "workqueue_depth"}))
	if _, err := lookUp(other); err == nil ||
		!strings.Contains(err.Error(), "want a *prometheus.GaugeVec") {
		t.Errorf("a depth that is a counter: %v", err)
	}
	// Families of v0.25, but for the depth, which has no priority.
	unlabelled := prometheus.NewRegistry()
	queue := []string{"name", "controller"}
	gauge := func(name string) {
		unlabelled.MustRegister(prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name}, queue))
	}
	counter := func(name string) {
		unlabelled.MustRegister(prometheus.NewCounterVec(prometheus.CounterOpts{Name: name}, queue))
	}
	histogram := func(name string) {
		unlabelled.MustRegister(prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name}, queue))
	}
	gauge("workqueue_depth")
	gauge("workqueue_unfinished_work_seconds")
	gauge("workqueue_longest_running_processor_seconds")
	counter("workqueue_adds_total")
	counter("workqueue_retries_total")
	histogram("workqueue_queue_duration_seconds")
	histogram("workqueue_work_duration_seconds")
	if _, err := lookUp(unlabelled); err == nil ||
		!strings.Contains(err.Error(), "workqueue_depth has other labels") ||
		strings.Contains(err.Error(), "workqueue_adds") {
		t.Errorf("a depth without priorities: %v", err)
	}
	if _, err := lookUp(prometheus.WrapRegistererWithPrefix("my_", other)); err == nil {
		t.Error("a registry that does not describe its metrics: no error")
	}
}
