package informer

import (
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

// lastValue is a provider that makes one metric for all, which keeps its last value.
type lastValue struct{ v float64 }

func (l *lastValue) NewQueuedItemMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return l
}
func (l *lastValue) NewProcessingLatencyMetric(
	cache.InformerNameAndResource) cache.HistogramMetric {
	return l
}
func (l *lastValue) NewStoreResourceVersionMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return l
}
func (l *lastValue) Set(v float64)   { l.v = v }
func (l *lastValue) Observe(float64) {}

// Metrics that are missing are no secret: the log names the first informer that lacks a provider.
func TestANameWithoutAProviderIsLogged(t *testing.T) {
	var lines []string
	defer klog.CaptureState().Restore()
	klog.SetLogger(funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{}))
	unmetered = sync.Once{}
	name, err := cache.NewInformerName("unmetered")
	if err != nil {
		t.Fatal(err)
	}
	defer name.Release()
	id := name.WithResource(corev1.SchemeGroupVersion.WithResource("pods"))
	for range 2 {
		newMeter(&Config{})
		newMeter(&Config{Identifier: id})
		newMeter(&Config{Identifier: id, InformerMetricsProvider: &lastValue{},
			FIFO: deltafifo.NewInOrder(contract.FIFOConfig{}, deltafifo.Options{})})
	}
	if len(lines) != 1 || !strings.Contains(lines[0], `\"unmetered\"`) {
		t.Errorf("logged %q, want one line about unmetered", lines)
	}
}

// TestMeter: without a name or a provider there is no meter; a FIFO is asked for its length.
func TestMeter(t *testing.T) {
	t.Parallel()
	name, err := cache.NewInformerName("meter")
	if err != nil {
		t.Fatal(err)
	}
	defer name.Release()
	fifo, p := deltafifo.NewInOrder(contract.FIFOConfig{}, deltafifo.Options{}), &lastValue{}
	id := name.WithResource(corev1.SchemeGroupVersion.WithResource("pods"))
	for _, nameless := range []*Config{{FIFO: fifo, InformerMetricsProvider: p},
		{FIFO: fifo, Identifier: id}} {
		if newMeter(nameless) != nil {
			t.Errorf("measured with %v and %v", nameless.Identifier, nameless.InformerMetricsProvider)
		}
	}
	if versionPublisher(cache.InformerNameAndResource{}, p) != nil {
		t.Error("the version is published without a name")
	}

	m := newMeter(&Config{FIFO: fifo, Identifier: id, InformerMetricsProvider: p})
	check := func(want float64) {
		t.Helper()
		if m.publishQueued(); p.v != want {
			t.Errorf("%v queued, want %v", p.v, want)
		}
	}
	check(0)
	if err := fifo.Replace([]any{named("a", "1"), named("b", "1"), named("c", "1")}, "1"); err != nil {
		t.Fatal(err)
	}
	check(3)
	if err := fifo.PopBatch(func([]contract.Delta, bool) error { return nil }, nil); err != nil {
		t.Fatal(err)
	}
	check(0)
}
