package informer_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/lockfree"
	"github.com/informerbench/informerbench/informer"
)

// breaks is a store with a bug in one of its batch calls, which strikes once.
type breaks struct {
	*lockfree.Store
	in     string
	struck *bool
}

func (s breaks) strike(in string) {
	if in == s.in && !*s.struck {
		*s.struck = true
		var none *corev1.Pod
		_ = none.Name
	}
}

func (s breaks) Transaction(txns ...contract.StoreTransaction) {
	s.strike("Transaction")
	s.Store.Transaction(txns...)
}

func (s breaks) Replace(items map[string]any, version string) {
	s.strike("Replace")
	s.Store.Replace(items, version)
}

// TestStoreBugIsACrash: a bug in the store is not taken for a failed IndexFunc. It ends the
// process, unless utilruntime.ReallyCrash is off, as here.
func TestStoreBugIsACrash(t *testing.T) {
	reported := survivePanics(t)
	for _, in := range []string{"Transaction", "Replace"} {
		before, struck := len(reported()), false
		synctest.Test(t, func(t *testing.T) {
			s := newSource(t, 3)
			// The write of ns/first waits while the others arrive, so that they come as a batch.
			arrived := make(chan struct{})
			inf := informer.New(s, &corev1.Pod{}, informer.Options{
				NewStore: func(ix contract.Indexers) contract.Store {
					return breaks{lockfree.New(ix), in, &struck}
				},
				Indexers: contract.Indexers{"first waits": func(obj any) ([]string, error) {
					if obj.(*corev1.Pod).Name == "first" {
						<-arrived
					}
					return nil, nil
				}},
			})
			start(t, inf)
			synctest.Wait()
			must[any](t)(s.Create(pod("ns/first")))
			synctest.Wait()
			for i := range 40 {
				must[any](t)(s.Create(pod(fmt.Sprintf("ns/more-%d", i))))
			}
			synctest.Wait()
			close(arrived)
			waitInBubble()
		})
		if said := reported()[before:]; !struck || !slices.ContainsFunc(said, func(line string) bool {
			return strings.Contains(line, "nil pointer dereference")
		}) {
			t.Errorf("a bug in %s, which struck: %t, was reported as %q", in, struck, said)
		}
	}
}

// TestPanickingIndexFunc: an IndexFunc that panics is a bug of the program, as with
// client-go, also one that was added by way of the indexer.
func TestPanickingIndexFunc(t *testing.T) {
	reported := survivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		s := newSource(t, 3)
		inf := informer.New(s, &corev1.Pod{}, informer.Options{})
		err := inf.GetIndexer().AddIndexers(cache.Indexers{
			"panics": func(obj any) ([]string, error) {
				if obj.(*corev1.Pod).Name == "bad" {
					panic("a bug of the program")
				}
				return nil, nil
			},
			"fails": func(obj any) ([]string, error) {
				if obj.(*corev1.Pod).Name == "worse" {
					return nil, errors.New("no value")
				}
				return nil, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		start(t, inf)
		synctest.Wait()
		must[any](t)(s.Create(pod("ns/bad")))
		waitInBubble()
		must[any](t)(s.Create(pod("ns/worse")))
		waitInBubble()
		must[any](t)(s.Create(pod("ns/good")))
		waitInBubble()
		if _, there, _ := inf.GetStore().GetByKey("ns/good"); !there {
			t.Error("the informer did not go on")
		}
	})
	said := strings.Join(reported(), "\n")
	if !strings.Contains(said, "a bug of the program") || !strings.Contains(said, "no value") {
		t.Errorf("reported: %s", said)
	}
}
