package informer_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/load/synthetic"
)

// published is a provider that remembers what each informer publishes, by
// "metric informer". Unlike what client-go asks of providers, it also takes values after the
// name was released.
type published struct {
	mu     sync.Mutex
	values map[string]float64 // of gauges
	sets   map[string]int     // how often each was set
	timed  map[string]int     // observations
	made   int                // metrics
}

func newPublished() *published {
	return &published{values: map[string]float64{}, sets: map[string]int{}, timed: map[string]int{}}
}

type gauge struct {
	p    *published
	name string
}

func (g gauge) Set(v float64) {
	g.p.mu.Lock()
	defer g.p.mu.Unlock()
	g.p.values[g.name] = v
	g.p.sets[g.name]++
}

func (g gauge) Observe(float64) {
	g.p.mu.Lock()
	defer g.p.mu.Unlock()
	g.p.timed[g.name]++
}

func (p *published) metric(kind string, id cache.InformerNameAndResource) gauge {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	return gauge{p, kind + " " + id.Name()}
}

func (p *published) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return p.metric("queued", id)
}

func (p *published) NewProcessingLatencyMetric(
	id cache.InformerNameAndResource) cache.HistogramMetric {
	return p.metric("latency", id)
}

func (p *published) NewStoreResourceVersionMetric(
	id cache.InformerNameAndResource) cache.GaugeMetric {
	return p.metric("version", id)
}

// of returns an informer's gauges by metric, and how many processings were timed.
func (p *published) of(informer string) (gauges map[string]float64, timed int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	gauges = map[string]float64{}
	for _, kind := range []string{"queued", "version", "failed"} {
		if v, ok := p.values[kind+" "+informer]; ok {
			gauges[kind] = v
		}
	}
	return gauges, p.timed["latency "+informer]
}

// newName reserves a name until the test ends.
func newName(t *testing.T, name string) *cache.InformerName {
	t.Helper()
	n := must[*cache.InformerName](t)(cache.NewInformerName(name))
	t.Cleanup(n.Release)
	return n
}

var metricResource = corev1.SchemeGroupVersion.WithResource("pods")

// TestMetrics: at quiet moments our informer publishes what client-go's publishes over
// the same source, whatever its store and FIFO.
func TestMetrics(t *testing.T) {
	eachOfOurs(t, func(t *testing.T, o informer.Options) {
		p := newPublished()
		s := newSource(t, 30, synthetic.Fault{Kind: synthetic.FaultGone, AfterEvents: 60,
			EveryEvents: 100})
		theirs := cache.NewSharedIndexInformerWithOptions(s, &corev1.Pod{},
			cache.SharedIndexInformerOptions{
				Identifier: newName(t, "theirs").WithResource(metricResource), InformerMetricsProvider: p,
			})
		o.Identifier, o.InformerMetricsProvider = newName(t, "ours").WithResource(metricResource), p
		o.Indexers = cache.Indexers{}
		ours := informer.New(s, &corev1.Pod{}, o)
		defer start(t, theirs)()
		defer start(t, ours)()
		rng := rand.New(rand.NewPCG(1, 1))
		for range 5 {
			write(t, s, rng, 30)
			waitInBubble()
			// The last change is an event, and not a list after a fault: a list that is not
			// atomic leaves the version of one of its objects.
			for gone := -1; gone != s.Struck()[synthetic.FaultGone]; {
				gone = s.Struck()[synthetic.FaultGone]
				must[any](t)(s.Create(pod("ns/last")))
				must[any](t)(s.Delete("ns/last"))
				waitInBubble()
			}
			want, _ := p.of("theirs")
			got, _ := p.of("ours")
			if _, merges := o.NewFIFO(contract.FIFOConfig{}).(*cache.DeltaFIFO); merges {
				delete(want, "queued")
			} else if len(want) != 2 {
				t.Errorf("client-go published %v", want)
			}
			if !maps.Equal(got, want) {
				t.Errorf("we published %v, client-go %v", got, want)
			}
		}
		if _, timed := p.of("ours"); timed == 0 {
			t.Error("nothing was timed")
		}
		if s.Struck()[synthetic.FaultGone] == 0 {
			t.Error("no list was done again")
		}
	})
}

// TestMetricsOfABacklog: waiting events are counted, and the call that delays them is timed.
func TestMetricsOfABacklog(t *testing.T) {
	for _, fifo := range []string{"", "InOrderAtomic", "InOrder", "Coalescing", "upstreamReal",
		"client-go"} {
		t.Run(fifo, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, s, gate := newPublished(), newSource(t, 0), make(chan struct{})
				options := cache.SharedIndexInformerOptions{
					Identifier: newName(t, "i").WithResource(metricResource), InformerMetricsProvider: p,
					Indexers: cache.Indexers{"slow": func(obj any) ([]string, error) {
						if obj.(*corev1.Pod).Name == "slow" {
							<-gate
						}
						return nil, nil
					}},
				}
				var inf cache.SharedIndexInformer
				switch fifo {
				case "client-go":
					inf = cache.NewSharedIndexInformerWithOptions(s, &corev1.Pod{}, options)
				case "":
					inf = informer.NewSharedIndexInformerWithOptions(s, &corev1.Pod{}, options)
				default:
					inf = informer.New(s, &corev1.Pod{}, informer.Options{
						NewFIFO: fifos[fifo], Identifier: options.Identifier, InformerMetricsProvider: p,
						Indexers: options.Indexers,
					})
				}
				defer start(t, inf)()
				synctest.Wait()
				_, before := p.of("i")
				for _, key := range []string{"ns/slow", "ns/a", "ns/b", "ns/c"} {
					must[any](t)(s.Create(pod(key)))
					synctest.Wait()
					if got, _ := p.of("i"); key == "ns/slow" && got["queued"] != 0 {
						t.Errorf("%v queued while the only one is processed", got["queued"])
					}
				}
				if got, timed := p.of("i"); got["queued"] != 3 || timed != before {
					t.Errorf("while one of four is processed: %v queued, %d were timed before it and %d now",
						got["queued"], before, timed)
				}
				close(gate)
				synctest.Wait()
				if got, timed := p.of("i"); got["queued"] != 0 || timed < before+2 {
					t.Errorf("in the end: %v queued, %d were timed, and %d before", got["queued"], timed, before)
				}
			})
		})
	}
}

// TestLatencyIsInSeconds: the observed value is the duration of Process.
func TestLatencyIsInSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took []float64
		p := latencies{newPublished(), &took}
		s := newSource(t, 0)
		_, c := informer.NewInformerWithOptions(cache.InformerOptions{
			ListerWatcher: s, ObjectType: &corev1.Pod{},
			Identifier: newName(t, "i").WithResource(metricResource), InformerMetricsProvider: p,
			Handler: cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
				time.Sleep(1500 * time.Millisecond)
			}},
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); c.RunWithContext(ctx) }()
		synctest.Wait()
		took = nil
		must[any](t)(s.Create(pod("ns/a")))
		time.Sleep(10 * time.Second) // the source has no bookmark by then
		cancel()
		<-done
		if len(took) != 1 || took[0] != 1.5 {
			t.Errorf("observed %v, want one of 1.5 seconds", took)
		}
		if got, _ := p.of("i"); got["version"] == 0 {
			t.Error("the version was not published")
		}
	})
}

// latencies keeps the values that are observed.
type latencies struct {
	*published
	took *[]float64
}

func (l latencies) NewProcessingLatencyMetric(cache.InformerNameAndResource) cache.HistogramMetric {
	return l
}

func (l latencies) Observe(seconds float64) { *l.took = append(*l.took, seconds) }

// TestNoMetrics: without a reservation no metric is made, and after its end none is set.
func TestNoMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := newPublished(), newSource(t, 3)
		released := newName(t, "released")
		of := map[string]cache.InformerNameAndResource{"no name": {},
			"a released name": released.WithResource(metricResource)}
		released.Release()
		twice := newName(t, "twice")
		twice.WithResource(metricResource)
		of["a name that another has"] = twice.WithResource(metricResource)
		for what, id := range of {
			inf := informer.New(s, &corev1.Pod{},
				informer.Options{Identifier: id, InformerMetricsProvider: p})
			stop := start(t, inf)
			synctest.Wait()
			stop()
			if p.made > 0 || len(p.values)+len(p.timed) > 0 {
				t.Errorf("with %s: %d metrics, %v, %v", what, p.made, p.values, p.timed)
			}
		}

		name := newName(t, "i")
		inf := informer.New(s, &corev1.Pod{},
			informer.Options{Identifier: name.WithResource(metricResource), InformerMetricsProvider: p})
		defer start(t, inf)()
		synctest.Wait()
		name.Release()
		sets, timed := maps.Clone(p.sets), maps.Clone(p.timed)
		must[any](t)(s.Create(pod("ns/a")))
		synctest.Wait()
		if !maps.Equal(p.sets, sets) || !maps.Equal(p.timed, timed) || len(sets) != 2 || len(timed) != 1 {
			t.Errorf("after the release %v and %v became %v and %v", sets, timed, p.sets, p.timed)
		}
	})
}

// TestVersionMetric: the number follows bookmarks and deletions of objects that are not
// there, and is cut as client-go cuts it.
func TestVersionMetric(t *testing.T) {
	for name, newInformer := range map[string]func(cache.ListerWatcher,
		cache.SharedIndexInformerOptions) cache.SharedIndexInformer{
		"client-go": func(lw cache.ListerWatcher,
			o cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, o)
		},
		"ours": func(lw cache.ListerWatcher,
			o cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			return informer.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, o)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, w := newPublished(), watch.NewFake()
				inf := newInformer(listWatch{&cache.ListWatch{
					ListWithContextFunc: listFunc(
						&corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}),
					WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
						return w, nil
					},
				}}, cache.SharedIndexInformerOptions{Identifier: newName(t, "i").WithResource(metricResource),
					InformerMetricsProvider: p})
				defer start(t, inf)()
				synctest.Wait()
				version := func(v string) *corev1.Pod {
					return &corev1.Pod{
						ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", ResourceVersion: v}}
				}
				check := func(what string, want float64) {
					t.Helper()
					synctest.Wait()
					if got, _ := p.of("i"); got["version"] != want {
						t.Errorf("%s: the version is %v, want %v", what, got["version"], want)
					}
				}
				check("the list", 7)
				w.Action(watch.Bookmark, version("500"))
				check("a bookmark", 500)
				w.Add(version("501"))
				check("an event", 501)
				w.Delete(version("502"))
				check("a deletion", 502)
				w.Delete(version("503"))
				check("a deletion of what is not there", 503)
				w.Add(version("1000000000000000504"))
				check("a long version", 504)
				w.Modify(version("none"))
				check("no number", 504)
			})
		})
	}
}

// TestGlobalProvider: of client-go's global provider only the metric of the store can be
// reached, and the others are published nowhere.
func TestGlobalProvider(t *testing.T) {
	p := newPublished()
	cache.SetInformerMetricsProvider(p) // of this process, once: no other test counts on another
	synctest.Test(t, func(t *testing.T) {
		s := newSource(t, 3)
		inf := informer.New(s, &corev1.Pod{},
			informer.Options{Identifier: newName(t, "global").WithResource(metricResource)})
		defer start(t, inf)()
		synctest.Wait()
		got, timed := p.of("global")
		if _, queued := got["queued"]; queued || timed > 0 || got["version"] == 0 {
			t.Errorf("published %v, %d processings", got, timed)
		}
	})
}
