package dropin_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/expfmt"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	theircache "k8s.io/client-go/tools/cache"
	theirqueue "k8s.io/client-go/util/workqueue"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/informerbench/informerbench/dropin/cache"
	_ "github.com/informerbench/informerbench/dropin/cache/prometheus"
	"github.com/informerbench/informerbench/dropin/workqueue"
	_ "github.com/informerbench/informerbench/dropin/workqueue/prometheus"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load/synthetic"
)

// gathered is what component-base publishes in families with the prefix, of a queue or an informer,
// with NAME in place of its name.
func gathered(t *testing.T, prefix, name string) string {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), prefix) {
			if _, err := expfmt.MetricFamilyToText(&all, f); err != nil {
				t.Fatal(err)
			}
		}
	}
	var out strings.Builder
	for line := range strings.Lines(all.String()) {
		if strings.HasPrefix(line, "#") || strings.Contains(line, `name="`+name+`"`) {
			out.WriteString(strings.ReplaceAll(line, name, "NAME"))
		}
	}
	return out.String()
}

// A program of component-base's publishes the same metrics of an informer before it changes an
// import and after: of tools/cache, or of a factory, which makes informers by informer.New. Ours
// are first here, so that they have the families registered.
func TestSameInformerMetricsAsClientGos(t *testing.T) {
	got := map[string]string{}
	for _, c := range []struct {
		name string
		make func(theircache.ListerWatcher,
			theircache.InformerNameAndResource) theircache.SharedIndexInformer
	}{
		{"of a factory", func(lw theircache.ListerWatcher,
			id theircache.InformerNameAndResource) theircache.SharedIndexInformer {
			return informer.New(lw, &corev1.Pod{}, informer.Options{Identifier: id})
		}},
		{"ours", func(lw theircache.ListerWatcher,
			id theircache.InformerNameAndResource) theircache.SharedIndexInformer {
			return cache.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{},
				cache.SharedIndexInformerOptions{Identifier: id})
		}},
		{"theirs", func(lw theircache.ListerWatcher,
			id theircache.InformerNameAndResource) theircache.SharedIndexInformer {
			return theircache.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{},
				theircache.SharedIndexInformerOptions{Identifier: id})
		}},
	} {
		name, err := theircache.NewInformerName(c.name)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			source := synthetic.NewSource([]runtime.Object{&corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: "ns", Name: "a", ResourceVersion: "1"}}}, synthetic.SourceOptions{})
			defer source.Stop()
			ctx, cancel := context.WithCancel(t.Context())
			i := c.make(source, name.WithResource(corev1.SchemeGroupVersion.WithResource("pods")))
			ended := make(chan struct{})
			go func() { defer close(ended); i.RunWithContext(ctx) }()
			synctest.Wait()
			got[c.name] = gathered(t, "informer_", c.name)
			cancel()
			<-ended
		})
		name.Release()
	}
	if lines := strings.Count(got["theirs"], "{"); lines != 17 || got["ours"] != got["theirs"] ||
		got["of a factory"] != got["theirs"] {
		t.Errorf("%d lines, want 17: client-go's are\n%s\nours are\n%s\na factory's are\n%s", lines,
			got["theirs"], got["ours"], got["of a factory"])
	}
}

// A program of component-base's publishes the same metrics before it changes its import of the
// queue and after, also while some of its queues are client-go's. Ours is first here, so that it
// is the one that has the families registered.
func TestSameQueueMetricsAsClientGos(t *testing.T) {
	type queue = theirqueue.TypedRateLimitingInterface[string]
	var got [2]string
	for n, start := range []func() queue{
		func() queue {
			return workqueue.NewTypedRateLimitingQueueWithConfig(
				workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Minute),
				workqueue.TypedRateLimitingQueueConfig[string]{Name: "ours"})
		},
		func() queue {
			return theirqueue.NewTypedRateLimitingQueueWithConfig(
				theirqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Minute),
				theirqueue.TypedRateLimitingQueueConfig[string]{Name: "theirs"})
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
			got[n] = gathered(t, "workqueue_", []string{"ours", "theirs"}[n])
			q.ShutDown()
		})
	}
	if lines := strings.Count(got[0], "{"); got[0] != got[1] || lines != 31 {
		t.Errorf("%d lines, want 31:\n%s\nof client-go:\n%s", lines, got[0], got[1])
	}
	for _, line := range []string{`workqueue_depth{name="NAME"} 2`,
		`workqueue_adds_total{name="NAME"} 4`, `workqueue_retries_total{name="NAME"} 1`} {
		if !strings.Contains(got[0], line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}
