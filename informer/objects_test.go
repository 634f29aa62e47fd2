package informer_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/informerbench/informerbench/conformance/informertest"
	"github.com/informerbench/informerbench/conformance/keepertest"
	"github.com/informerbench/informerbench/conformance/storetest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/lockfree"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/objects"
)

// boxKeeper keeps objects in boxes, so that a place which forgets to open one is found: a box has
// no field of the object's.
type boxKeeper struct{}

type box struct{ obj any }

func (b *box) GetObjectMeta() metav1.Object {
	m, err := meta.Accessor(b.obj)
	if err != nil {
		panic(err) // Keep has asked
	}
	return &metav1.ObjectMeta{Namespace: m.GetNamespace(), Name: m.GetName(), UID: m.GetUID(),
		ResourceVersion: m.GetResourceVersion()}
}

func (boxKeeper) Keep(obj any) any {
	if _, boxed := obj.(*box); boxed {
		return obj
	}
	if _, err := meta.Accessor(obj); err != nil {
		return obj
	}
	return &box{obj}
}

func (boxKeeper) Object(kept any) any {
	if b, boxed := kept.(*box); boxed {
		return b.obj
	}
	return kept
}

func TestBoxKeeperKeepsTheClauses(t *testing.T) {
	keepertest.Run(t, func() contract.ObjectKeeper { return boxKeeper{} })
}

// Whatever is kept, readers and handlers get objects, in every clause of an informer.
func TestInformerOverKeptObjects(t *testing.T) {
	informertest.Run(t, informer.Func(informer.Options{Objects: boxKeeper{}}),
		suite.WithEffort(0.2), informertest.Histories(5))
}

func TestStoreOverKeptObjects(t *testing.T) {
	storetest.Run(t, func(indexers contract.Indexers) contract.Store {
		return objects.NewStore(boxKeeper{}, indexers,
			func(indexers contract.Indexers) cache.ThreadSafeStoreWithTransaction {
				return lockfree.New(indexers)
			})
	}, suite.WithEffort(0.1))
}

// A list is transformed page by page, so that at no time all of it is there untrimmed. An error of
// a transform refuses the whole list, as client-go does.
func TestPagesAreTransformedAsTheyCome(t *testing.T) {
	const pages, each = 3, 2
	for _, failing := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			transformed, lists := 0, 0
			lw := &cache.ListWatch{
				ListWithContextFunc: func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
					page := 0
					if o.Continue != "" {
						page, _ = strconv.Atoi(o.Continue)
					} else {
						lists++
					}
					if want := each * (page + pages*(lists-1)); !failing && transformed != want {
						t.Errorf("%d objects were transformed before page %d of list %d, want %d", transformed,
							page, lists, want)
					}
					list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}}
					for i := range each {
						list.Items = append(list.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{
							Name: fmt.Sprintf("pod-%d-%d", page, i), ResourceVersion: "1"}})
					}
					if page < pages-1 {
						list.Continue = strconv.Itoa(page + 1)
					}
					return list, nil
				},
				WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
					return watch.NewFake(), nil
				},
			}
			inf := informer.New(lw, &corev1.Pod{}, informer.Options{PageSize: each,
				UseWatchList: ptr.To(false), Transform: func(obj any) (any, error) {
					if transformed++; failing && transformed == each+1 {
						return nil, errors.New("not this one")
					}
					return obj, nil
				},
				WatchErrorHandler: func(_ context.Context, _ *cache.Reflector, err error) {
					if !failing || !strings.Contains(err.Error(), "not this one") {
						t.Errorf("unexpected: %v", err)
					}
				}})
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { inf.RunWithContext(ctx) })
			time.Sleep(time.Minute) // of the bubble
			if n := len(inf.GetStore().ListKeys()); n != pages*each {
				t.Errorf("%d objects in the store, want %d", n, pages*each)
			}
			if failing != (lists > 1) {
				t.Errorf("%d lists were asked for, and a transform failed: %v", lists, failing)
			}
			cancel()
			running.Wait()
		})
	}
}
