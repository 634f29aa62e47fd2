package informer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/lockfree"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/informer/indexer"
)

var podResource = corev1.Resource("pods")

func labelled(namespace, name, app string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name,
			Labels: map[string]string{"app": app}}}
}

// indexerOf returns an Indexer over lockfree's store, with some pods in two namespaces.
func indexerOf(t *testing.T, indexers contract.Indexers) cache.Indexer {
	t.Helper()
	x := indexer.New(nil, lockfree.New(indexers), indexer.Options{})
	for _, p := range []*corev1.Pod{labelled("a", "1", "web"), labelled("a", "2", "db"),
		labelled("b", "1", "web"), labelled("", "cluster", "web")} {
		if err := x.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

func keys[T runtime.Object](objects []T, err error) string {
	if err != nil {
		return err.Error()
	}
	out := []string{fmt.Sprint(objects == nil)}
	for _, o := range objects {
		key, _ := cache.MetaNamespaceKeyFunc(o)
		out = append(out, key)
	}
	slices.Sort(out[1:])
	return strings.Join(out, " ")
}

// Whatever is asked, client-go's lister over the same indexer answers the same.
func TestListersAnswerAsClientGoDoes(t *testing.T) {
	t.Parallel()
	for name, indexers := range map[string]contract.Indexers{
		"indexed": {cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		"scanned": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := indexerOf(t, indexers)
			theirs := cache.NewGenericLister(x, podResource)
			generic := informer.NewGenericLister(x, podResource)
			typed := informer.NewLister[*corev1.Pod](x, podResource)
			for _, text := range []string{"", "app=web", "app!=web", "app=none", "nothing"} {
				selector := labels.Nothing()
				if text != "nothing" {
					var err error
					if selector, err = labels.Parse(text); err != nil {
						t.Fatal(err)
					}
				}
				want := keys(theirs.List(selector))
				if got := keys(generic.List(selector)); got != want {
					t.Errorf("generic List(%s) = %s, want %s", text, got, want)
				}
				if got := keys(typed.List(selector)); got != want {
					t.Errorf("List(%s) = %s, want %s", text, got, want)
				}
				for _, namespace := range []string{"", "a", "b", "none"} {
					want := keys(theirs.ByNamespace(namespace).List(selector))
					if got := keys(generic.ByNamespace(namespace).List(selector)); got != want {
						t.Errorf("generic List(%s) in %q = %s, want %s", text, namespace, got, want)
					}
					if got := keys(typed.ByNamespace(namespace).List(selector)); got != want {
						t.Errorf("List(%s) in %q = %s, want %s", text, namespace, got, want)
					}
				}
			}
			for _, key := range []string{"a/1", "a/3", "cluster", "none", ""} {
				object, theirErr := theirs.Get(key)
				ours, err := generic.Get(key)
				pod, podErr := typed.Get(key)
				if fmt.Sprint(err) != fmt.Sprint(theirErr) || fmt.Sprint(podErr) != fmt.Sprint(theirErr) ||
					ours != object {
					t.Errorf("Get(%q) = %v, %v and %v, want %v, %v", key, ours, err, podErr, object, theirErr)
				}
				if err == nil && pod != object {
					t.Errorf("Get(%q) gives two objects", key)
				}
				if err != nil && !apierrors.IsNotFound(err) {
					t.Errorf("Get(%q): %v is no NotFound", key, err)
				}
			}
			for _, at := range [][2]string{{"a", "1"}, {"a", "3"}, {"", "cluster"}} {
				_, want := theirs.ByNamespace(at[0]).Get(at[1])
				if _, err := typed.ByNamespace(at[0]).Get(at[1]); fmt.Sprint(err) != fmt.Sprint(want) {
					t.Errorf("Get(%s) in %q: %v, want %v", at[1], at[0], err, want)
				}
			}
		})
	}
}

func TestAListerOfAnotherTypeSaysSo(t *testing.T) {
	t.Parallel()
	x := indexerOf(t, byNamespace())
	nodes := informer.NewLister[*corev1.Node](x, corev1.Resource("nodes"))
	_, listErr := nodes.List(labels.Everything())
	_, getErr := nodes.Get("a/1")
	for _, err := range []error{listErr, getErr} {
		if err == nil || !strings.Contains(err.Error(), "holds a *v1.Pod, which is no *v1.Node") {
			t.Errorf("got %v", err)
		}
	}
	y := cache.NewIndexer(func(any) (string, error) { return "k", nil }, cache.Indexers{})
	if err := y.Add("text"); err != nil {
		t.Fatal(err)
	}
	selector := labels.SelectorFromSet(labels.Set{"app": "web"})
	if _, err := informer.NewLister[*corev1.Pod](y, podResource).List(selector); err == nil ||
		!strings.Contains(err.Error(), "holds a string") {
		t.Errorf("an object without labels: %v", err)
	}
}

// Listers look through memory that they share, and return memory of their own.
func TestAListStaysAsItWas(t *testing.T) {
	t.Parallel()
	lister := informer.NewLister[*corev1.Pod](indexerOf(t, byNamespace()), podResource)
	of := func(app string) labels.Selector { return labels.SelectorFromSet(labels.Set{"app": app}) }
	web, err := lister.List(of("web"))
	before := keys(web, err)
	if db := keys(lister.ByNamespace("a").List(of("db"))); db != "false a/2" {
		t.Errorf("the pods of db in a are %q", db)
	}
	if after := keys(web, nil); after != before || before != "false a/1 b/1 cluster" {
		t.Errorf("a list became %q, was %q", after, before)
	}
}

func byNamespace() contract.Indexers {
	return contract.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
}

// What a namespace lister costs does not depend on what is in other namespaces.
func TestANamespaceIsReadThroughItsIndex(t *testing.T) {
	t.Parallel()
	counting := &countingIndexer{Indexer: indexerOf(t, byNamespace())}
	if _, err := informer.NewLister[*corev1.Pod](counting,
		podResource).ByNamespace("a").List(labels.Everything()); err != nil || counting.lists != 0 {
		t.Errorf("%d scans, %v", counting.lists, err)
	}
	counting = &countingIndexer{Indexer: indexerOf(t, nil)}
	if _, err := informer.NewLister[*corev1.Pod](counting,
		podResource).ByNamespace("a").List(labels.Everything()); err != nil || counting.lists != 1 {
		t.Errorf("without an index: %d scans, %v", counting.lists, err)
	}
}

// An indexer that returns its own slices finds them as they were.
func TestAListerLeavesForeignListsAlone(t *testing.T) {
	t.Parallel()
	own := ownIndexer{objects: []any{labelled("a", "1", "web"), labelled("b", "1", "web"),
		labelled("a", "2", "db")}}
	before := slices.Clone(own.objects)
	lister := informer.NewLister[*corev1.Pod](own, podResource)
	web := labels.SelectorFromSet(labels.Set{"app": "web"})
	if got := keys(lister.List(web)); got != "false a/1 b/1" {
		t.Errorf("the pods of web are %q", got)
	}
	if got := keys(lister.ByNamespace("b").List(labels.Everything())); got != "false b/1" {
		t.Errorf("the pods in b are %q", got)
	}
	if !slices.Equal(own.objects, before) {
		t.Errorf("the indexer's slice became %v", own.objects)
	}
}

type ownIndexer struct {
	cache.Indexer
	objects []any
}

func (x ownIndexer) List() []any { return x.objects }

func (x ownIndexer) ByIndex(string, string) ([]any, error) { return nil, fmt.Errorf("no index") }

type countingIndexer struct {
	cache.Indexer
	lists int
}

func (c *countingIndexer) List() []any {
	c.lists++
	return c.Indexer.List()
}
