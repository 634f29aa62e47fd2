package prometheus_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/expfmt"
	"go.uber.org/goleak"
	clientgo "k8s.io/client-go/util/workqueue"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/informerbench/informerbench/dropin/workqueue"
	_ "github.com/informerbench/informerbench/dropin/workqueue/prometheus"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// gathered is what component-base publishes of a queue, with QUEUE in place of its name.
func gathered(t *testing.T, name string) string {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "workqueue_") {
			if _, err := expfmt.MetricFamilyToText(&all, f); err != nil {
				t.Fatal(err)
			}
		}
	}
	var out strings.Builder
	for line := range strings.Lines(all.String()) {
		if strings.HasPrefix(line, "#") || strings.Contains(line, `name="`+name+`"`) {
			out.WriteString(strings.ReplaceAll(line, name, "QUEUE"))
		}
	}
	return out.String()
}

// A program of component-base's publishes the same metrics before it changes its import of the
// queue and after, also while some of its queues are client-go's. Ours is first here, so that it
// is the one that has the families registered.
func TestSameMetricsAsClientGos(t *testing.T) {
	type queue = clientgo.TypedRateLimitingInterface[string]
	var got [2]string
	for n, start := range []func() queue{
		func() queue {
			return workqueue.NewTypedRateLimitingQueueWithConfig(
				workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Minute),
				workqueue.TypedRateLimitingQueueConfig[string]{Name: "ours"})
		},
		func() queue {
			return clientgo.NewTypedRateLimitingQueueWithConfig(
				clientgo.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Minute),
				clientgo.TypedRateLimitingQueueConfig[string]{Name: "theirs"})
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			q := start()
			for _, item := range []string{"a", "b", "c"} {
				q.Add(item)
			}
			q.AddRateLimited("d")
			time.Sleep(3 * time.Second)
			item, _ := q.Get()
			time.Sleep(50 * time.Millisecond)
			q.Done(item)
			q.Get()
			time.Sleep(2100 * time.Millisecond)
			got[n] = gathered(t, []string{"ours", "theirs"}[n])
			q.ShutDown()
		})
	}
	if lines := strings.Count(got[0], "{"); got[0] != got[1] || lines != 31 {
		t.Errorf("%d lines, want 31:\n%s\nof client-go:\n%s", lines, got[0], got[1])
	}
	for _, line := range []string{`workqueue_depth{name="QUEUE"} 2`,
		`workqueue_adds_total{name="QUEUE"} 4`, `workqueue_retries_total{name="QUEUE"} 1`} {
		if !strings.Contains(got[0], line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}
