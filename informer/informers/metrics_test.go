package informers_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	clientgo "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/informer/informers"
)

// TestInformerName: informers publish under the name of their factory and their resource,
// in a factory of ours and of client-go's, until it is shut down.
func TestInformerName(t *testing.T) {
	for whose, newFactory := range map[string]func(*testing.T, *cache.InformerName,
		cache.InformerMetricsProvider) informers.SharedInformerFactory{
		"ours": func(_ *testing.T, name *cache.InformerName,
			p cache.InformerMetricsProvider) informers.SharedInformerFactory {
			return informers.NewSharedInformerFactoryWithOptions(fake.NewClientset(pod("a", "1")), 0,
				informers.WithInformerName(name),
				informers.WithInformerOptions(informer.Options{InformerMetricsProvider: p}))
		},
		"client-go's": func(t *testing.T, name *cache.InformerName,
			p cache.InformerMetricsProvider) informers.SharedInformerFactory {
			factory := clientgo.NewSharedInformerFactoryWithOptions(fake.NewClientset(pod("a", "1")), 0,
				clientgo.WithInformerName(name))
			// The name as client-go's generated code gets it, with our provider.
			of := []informers.SharedInformerOption{
				informers.WithInformerName(factory.InformerName()),
				informers.WithInformerOptions(informer.Options{InformerMetricsProvider: p}),
			}
			newPods, err := informers.NewInformerFunc(&corev1.Pod{}, of...)
			if err != nil {
				t.Fatal(err)
			}
			newNodes, err := informers.NewInformerFunc(&corev1.Node{}, of...)
			if err != nil {
				t.Fatal(err)
			}
			factory.InformerFor(&corev1.Pod{}, newPods)
			factory.InformerFor(&corev1.Node{}, newNodes)
			return factory
		},
	} {
		t.Run(whose, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				name, err := cache.NewInformerName("factory")
				if err != nil {
					t.Fatal(err)
				}
				p := &provider{set: map[string]bool{}}
				factory := newFactory(t, name, p)
				pods := factory.Core().V1().Pods().Informer()
				if nodes, err := factory.ForResource(
					corev1.SchemeGroupVersion.WithResource("nodes")); err != nil || !isOurs(nodes.Informer()) ||
					!isOurs(pods) {
					t.Fatalf("not our informers, or %v", err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				factory.StartWithContext(ctx)
				factory.WaitForCacheSync(ctx.Done())
				synctest.Wait()
				want := "factory nodes latency, factory nodes queued, factory nodes version, factory pods " +
					"latency, factory pods queued, factory pods version"
				if got := p.names(); got != want {
					t.Errorf("published: %s\nwant:      %s", got, want)
				}
				cancel()
				factory.Shutdown()
				again, err := cache.NewInformerName("factory")
				if err != nil {
					t.Errorf("Shutdown did not give the name back: %v", err)
				}
				again.Release()
			})
		})
	}
}

// provider remembers the names of what was published.
type provider struct {
	mu  sync.Mutex
	set map[string]bool
}

func (p *provider) names() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(p.set)), ", ")
}

func (p *provider) metric(id cache.InformerNameAndResource, kind string) metric {
	return metric{p, id.Name() + " " + id.GroupVersionResource().Resource + " " + kind}
}

func (p *provider) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return p.metric(id, "queued")
}

func (p *provider) NewProcessingLatencyMetric(
	id cache.InformerNameAndResource) cache.HistogramMetric {
	return p.metric(id, "latency")
}

func (p *provider) NewStoreResourceVersionMetric(
	id cache.InformerNameAndResource) cache.GaugeMetric {
	return p.metric(id, "version")
}

type metric struct {
	p    *provider
	name string
}

func (m metric) Set(float64) {
	m.p.mu.Lock()
	defer m.p.mu.Unlock()
	m.p.set[m.name] = true
}

func (m metric) Observe(v float64) { m.Set(v) }
