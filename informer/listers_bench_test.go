package informer_test

import (
	"fmt"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/impl/lockfree"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/informer/indexer"
	"github.com/informerbench/informerbench/internal/inturns"
	"github.com/informerbench/informerbench/load/synthetic"
)

// BenchmarkSelectorInTurns reports the times of listers with a label selector, which 100 objects
// match, to that of client-go's.
func BenchmarkSelectorInTurns(b *testing.B) {
	selector := labels.SelectorFromSet(labels.Set{"chosen": "yes", "tier": "production"})
	for _, n := range []int{1_000, 10_000, 100_000} {
		generated := synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: n}, 1)
		pods := make([]*corev1.Pod, n)
		for i := range pods {
			p := *generated.At(i).(*corev1.Pod)
			p.Labels = maps.Clone(p.Labels) // as decoded from a server: a map of its own
			p.Labels["chosen"] = map[bool]string{true: "yes", false: "no"}[i%(n/100) == 0]
			pods[i] = &p
		}
		theirs := cache.NewIndexer(cache.MetaNamespaceKeyFunc,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		ours := indexer.New(cache.MetaNamespaceKeyFunc,
			lockfree.New(cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
			indexer.Options{})
		for _, p := range pods {
			if err := theirs.Add(p); err != nil {
				b.Fatal(err)
			}
			if err := ours.Add(p); err != nil {
				b.Fatal(err)
			}
		}
		var (
			theirLister    = listers.NewPodLister(theirs)
			theirsOverOurs = listers.NewPodLister(ours)
			ourLister      = informer.NewLister[*corev1.Pod](ours, corev1.Resource("pods"))
			runs           []inturns.Run
		)
		for _, c := range []struct {
			impl string
			list func() ([]*corev1.Pod, error)
		}{
			{"clientgo", func() ([]*corev1.Pod, error) { return theirLister.List(selector) }},
			{"clientgo-over-lockfree", func() ([]*corev1.Pod, error) {
				return theirsOverOurs.List(selector)
			}},
			{"informerbench", func() ([]*corev1.Pod, error) { return ourLister.List(selector) }},
			// Without a store, an interface or a selector: a look at one label of each pod.
			{"bare", func() (matching []*corev1.Pod, _ error) {
				for _, p := range pods {
					if p.Labels["chosen"] == "yes" {
						matching = append(matching, p)
					}
				}
				return matching, nil
			}},
		} {
			runs = append(runs, inturns.Run{Name: c.impl, Round: func(int) {
				for range 100_000 / n {
					if got, err := c.list(); err != nil || len(got) != 100 {
						b.Fatal(len(got), err)
					}
				}
			}})
		}
		b.Run(fmt.Sprintf("objects=%d", n), func(b *testing.B) { inturns.Compare(b, runs...) })
	}
}
