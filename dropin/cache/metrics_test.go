package cache_test

import (
	"fmt"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/dropin/cache"
	"github.com/informerbench/informerbench/load/synthetic"
)

// provider is a provider whose metrics note what they are told.
type provider struct {
	mu   sync.Mutex
	made []string
	said []string
}

type metric struct {
	p    *provider
	kind string
}

func (m metric) Set(v float64)     { m.p.note(fmt.Sprintf("%s %v", m.kind, v)) }
func (m metric) Observe(v float64) { m.p.note(m.kind) }

func (p *provider) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = append(p.said, text)
}

func (p *provider) metric(kind string) metric {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made = append(p.made, kind)
	return metric{p, kind}
}

func (p *provider) NewQueuedItemMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return p.metric("queued")
}
func (p *provider) NewProcessingLatencyMetric(cache.InformerNameAndResource) cache.HistogramMetric {
	return p.metric("processed")
}
func (p *provider) NewStoreResourceVersionMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return p.metric("version")
}

// A FIFO and stores publish what client-go's publish for the same calls.
func TestMetricsAreThoseOfClientGo(t *testing.T) {
	t.Parallel()
	var fifo, store, safe [2]provider
	for i, newFIFO := range []func(cache.RealFIFOOptions) cache.QueueWithBatch{
		func(o cache.RealFIFOOptions) cache.QueueWithBatch { return cache.NewRealFIFOWithOptions(o) },
		func(o cache.RealFIFOOptions) cache.QueueWithBatch { return clientgo.NewRealFIFOWithOptions(o) },
	} {
		q := newFIFO(cache.RealFIFOOptions{AtomicEvents: true,
			Identifier: reserved(t, fmt.Sprint("fifo-", i)), MetricsProvider: &fifo[i]})
		process := func(any, bool) error { fifo[i].note("process"); return nil }
		batch := func([]cache.Delta, bool) error { fifo[i].note("process a batch"); return nil }
		for _, err := range []error{q.Replace([]any{pod("a", "1")}, "1"), q.Add(pod("b", "2")),
			q.Update(pod("c", "3")), q.Resync(), q.Delete(pod("a", "4"))} {
			if err != nil {
				t.Error(err)
			}
		}
		for range 3 {
			if err := q.PopBatch(batch, process); err != nil {
				t.Error(err)
			}
		}
		if _, err := q.Pop(process); err != nil {
			t.Error(err)
		}
		anonymous := newFIFO(cache.RealFIFOOptions{AtomicEvents: true, MetricsProvider: &fifo[i]})
		if err := anonymous.Add(pod("a", "1")); err != nil {
			t.Error(err)
		}
	}
	for i, newStore := range []func(id cache.InformerNameAndResource) cache.Store{
		func(id cache.InformerNameAndResource) cache.Store {
			return cache.NewStore(cache.MetaNamespaceKeyFunc, cache.WithStoreMetrics(id, &store[0]))
		},
		func(id cache.InformerNameAndResource) cache.Store {
			return clientgo.NewStore(cache.MetaNamespaceKeyFunc, clientgo.WithStoreMetrics(id, &store[1]))
		},
	} {
		s := newStore(reserved(t, fmt.Sprint("store-", i)))
		for _, err := range []error{s.Add(pod("a", "1")), s.Update(pod("a", "12345678901234567890")),
			s.Delete(pod("a", "3")), s.Replace([]any{pod("b", "2")}, "4")} {
			if err != nil {
				t.Error(err)
			}
		}
		s.Bookmark("5")
		if err := s.(cache.TransactionStore).Transaction(
			cache.Transaction{Type: cache.TransactionTypeAdd, Object: pod("c", "6")}); err != nil {
			t.Error(err)
		}
		newStore(cache.InformerNameAndResource{}) // no name: no metric
	}
	for i, s := range []cache.ThreadSafeStore{
		cache.NewThreadSafeStore(nil, nil,
			cache.WithThreadSafeStoreMetrics(reserved(t, "safe-0"), &safe[0])),
		clientgo.NewThreadSafeStore(clientgo.Indexers{}, clientgo.Indices{},
			clientgo.WithThreadSafeStoreMetrics(reserved(t, "safe-1"), &safe[1])),
	} {
		s.Add("a", pod("a", "1"))
		s.Bookmark("2")
		if got := s.LastStoreSyncResourceVersion(); got != "2" {
			t.Errorf("store %d is at %q", i, got)
		}
	}
	for name, pair := range map[string]*[2]provider{"FIFO": &fifo, "Store": &store,
		"ThreadSafeStore": &safe} {
		ours, theirs := pair[0].said, pair[1].said
		if len(ours) == 0 || !reflect.DeepEqual(ours, theirs) {
			t.Errorf("%s: ours say\n%q\ntheirs say\n%q", name, ours, theirs)
		}
	}
}

// The provider of the first SetInformerMetricsProvider is that of whatever is made later with a
// name and no provider of its own, client-go's too.
func TestSetInformerMetricsProvider(t *testing.T) {
	var first, second provider
	cache.SetInformerMetricsProvider(&first)
	cache.SetInformerMetricsProvider(&second)
	synctest.Test(t, func(t *testing.T) {
		source := synthetic.NewSource(nil, synthetic.SourceOptions{})
		defer source.Stop()
		runOnce(cache.NewSharedIndexInformerWithOptions(source, &corev1.Pod{},
			cache.SharedIndexInformerOptions{Identifier: reserved(t, "shared")}))
		_, c := cache.NewInformerWithOptions(
			cache.InformerOptions{ListerWatcher: source, ObjectType: &corev1.Pod{},
				Identifier: reserved(t, "unshared")})
		runOnce(c)
	})
	cache.NewRealFIFOWithOptions(
		cache.RealFIFOOptions{AtomicEvents: true, Identifier: reserved(t, "fifo")})
	// From v0.38 on, the first version makes the metric.
	cache.NewStore(cache.MetaNamespaceKeyFunc,
		cache.WithStoreMetrics(reserved(t, "store"), nil)).Bookmark("1")
	clientgo.NewStore(cache.MetaNamespaceKeyFunc,
		clientgo.WithStoreMetrics(reserved(t, "theirs"), nil)).Bookmark("1")
	made := map[string]int{}
	for _, kind := range first.made {
		made[kind]++
	}
	if want := map[string]int{"queued": 3, "processed": 3, "version": 4}; !reflect.DeepEqual(made,
		want) || len(second.made) > 0 {
		t.Errorf("the first provider made %v, want %v; the second %v, want none", made, want, second.made)
	}
}

// runOnce runs an informer until nothing happens any more.
func runOnce(i interface{ Run(<-chan struct{}) }) {
	stop := make(chan struct{})
	go i.Run(stop)
	synctest.Wait()
	close(stop)
	synctest.Wait()
}
