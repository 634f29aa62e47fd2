package informer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/informer/dynamicinformer"
	"github.com/informerbench/informerbench/informer/informers"
	"github.com/informerbench/informerbench/informer/metadatainformer"
)

// firstHalf is the shard of the UIDs whose hash has no highest bit.
var firstHalf = sharding.NewSelector(sharding.ShardRangeRequirement{
	Key: "object.metadata.uid", Start: "0x0000000000000000", End: "0x8000000000000000"})

// uidPod is in firstHalf or not.
func uidPod(t *testing.T, n int) (p *corev1.Pod, mine bool) {
	t.Helper()
	p = pod(fmt.Sprint("ns/pod", n))
	p.UID, p.ResourceVersion = types.UID(fmt.Sprint("uid", n)), fmt.Sprint(n+1)
	return p, must[bool](t)(firstHalf.Matches(p))
}

// shardServer serves twenty pods, then events of twenty others.
type shardServer struct {
	heeds bool // it selects the shard itself
	asked []metav1.ListOptions
}

func (s *shardServer) source(t *testing.T) cache.ListerWatcher {
	return listWatch{&cache.ListWatch{
		ListWithContextFunc: func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
			s.asked = append(s.asked, o)
			list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "20"}}
			for n := range 20 {
				if p, mine := uidPod(t, n); mine || !s.heeds {
					list.Items = append(list.Items, *p)
				}
			}
			if s.heeds {
				list.ShardInfo = &metav1.ShardInfo{Selector: o.ShardSelector}
			}
			return list, nil
		},
		WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			s.asked = append(s.asked, o)
			w := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 100})
			for n := range 40 {
				switch p, mine := uidPod(t, n); {
				case !mine && s.heeds:
				case n < 20:
					w.Delete(p)
				default:
					w.Add(p)
				}
			}
			p, _ := uidPod(t, 100)
			w.Action(watch.Bookmark, p)
			return w, nil
		},
	}}
}

// keepsTheShard runs an informer that newInformer makes for firstHalf.
func keepsTheShard(t *testing.T, newInformer func(cache.ListerWatcher) cache.SharedIndexInformer) {
	t.Helper()
	for _, heeds := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := &shardServer{heeds: heeds}
			inf := newInformer(s.source(t))
			var told []string
			must[cache.ResourceEventHandlerRegistration](t)(inf.AddEventHandler(
				cache.ResourceEventHandlerFuncs{
					AddFunc:    func(obj any) { told = append(told, obj.(*corev1.Pod).Name) },
					DeleteFunc: func(obj any) { told = append(told, "-"+obj.(*corev1.Pod).Name) },
				}))
			stop := start(t, inf)
			synctest.Wait()
			var want []string
			for n := range 20 {
				if p, mine := uidPod(t, n); mine {
					want = append(want, p.Name, "-"+p.Name)
				}
				if p, mine := uidPod(t, n+20); mine {
					want = append(want, p.Name)
				}
			}
			slices.Sort(told)
			if slices.Sort(want); !slices.Equal(told, want) {
				t.Errorf("the server heeds the selector: %v: the handler is told of %v, want %v", heeds,
					told, want)
			}
			for _, o := range s.asked {
				if o.ShardSelector != firstHalf.String() {
					t.Errorf("the server is asked for the shard %q, want %q", o.ShardSelector, firstHalf.String())
				}
			}
			if v := inf.GetStore().LastStoreSyncResourceVersion(); v != "101" {
				t.Errorf("the store is at version %q after a bookmark of 101", v)
			}
			stop()
			if s, ok := inf.(*informer.SharedIndexInformer); ok {
				if err := s.SetShardSelector(nil); !errors.Is(err, informer.ErrStarted) {
					t.Errorf("SetShardSelector of a started informer: %v", err)
				}
			}
		})
	}
}

func TestInformersOfAShard(t *testing.T) {
	t.Run("option", func(t *testing.T) {
		keepsTheShard(t, func(lw cache.ListerWatcher) cache.SharedIndexInformer {
			return informer.New(lw, &corev1.Pod{}, informer.Options{ShardSelector: firstHalf})
		})
	})
	t.Run("set", func(t *testing.T) {
		keepsTheShard(t, func(lw cache.ListerWatcher) cache.SharedIndexInformer {
			i := informer.New(lw, &corev1.Pod{}, informer.Options{ShardSelector: sharding.Everything()})
			if err := i.SetShardSelector(firstHalf); err != nil {
				t.Error(err)
			}
			return i
		})
	})
	t.Run("unshared", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store, c := informer.NewUnshared((&shardServer{}).source(t), &corev1.Pod{}, nil,
				informer.Options{ShardSelector: firstHalf})
			ctx, cancel := context.WithCancel(t.Context())
			go c.RunWithContext(ctx)
			synctest.Wait()
			for _, obj := range store.List() {
				if mine := must[bool](t)(firstHalf.Matches(obj.(*corev1.Pod))); !mine {
					t.Errorf("the store has %s, which is of another shard", obj.(*corev1.Pod).Name)
				}
			}
			cancel()
			synctest.Wait()
		})
	})
}

type shardFactory interface {
	Start(stopCh <-chan struct{})
	Shutdown()
}

// Each factory hands its selector on. Its fake client does not select shards.
func TestFactoriesOfAShard(t *testing.T) {
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	for name, newInformer := range map[string]func(objects []runtime.Object) (
		cache.SharedIndexInformer, shardFactory){
		"informers": func(o []runtime.Object) (
			cache.SharedIndexInformer, shardFactory) {
			f := informers.NewSharedInformerFactoryWithOptions(fake.NewClientset(o...), 0,
				informers.WithShardSelector(firstHalf))
			return f.Core().V1().Pods().Informer(), f
		},
		"InformerFor": func(o []runtime.Object) (
			cache.SharedIndexInformer, shardFactory) {
			f := informers.NewSharedInformerFactoryWithOptions(fake.NewClientset(o...), 0,
				informers.WithShardSelector(firstHalf))
			newFunc := must[internalinterfaces.NewInformerFunc](t)(
				informers.NewInformerFunc(&corev1.Pod{}))
			return f.InformerFor(&corev1.Pod{}, newFunc), f
		},
		"dynamicinformer": func(o []runtime.Object) (
			cache.SharedIndexInformer, shardFactory) {
			f := dynamicinformer.NewDynamicSharedInformerFactoryWithOptions(
				dynamicfake.NewSimpleDynamicClient(scheme.Scheme, o...), 0,
				dynamicinformer.WithShardSelector(firstHalf))
			return f.ForResource(pods).Informer(), f
		},
		"metadatainformer": func(o []runtime.Object) (
			cache.SharedIndexInformer, shardFactory) {
			for i, obj := range o {
				p := obj.(*corev1.Pod)
				o[i] = &metav1.PartialObjectMetadata{ObjectMeta: p.ObjectMeta,
					TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
			}
			types := metadatafake.NewTestScheme()
			if err := metav1.AddMetaToScheme(types); err != nil {
				t.Error(err)
			}
			f := metadatainformer.NewSharedInformerFactoryWithOptions(
				metadatafake.NewSimpleMetadataClient(types, o...), 0,
				metadatainformer.WithShardSelector(firstHalf))
			return f.ForResource(pods).Informer(), f
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var objects []runtime.Object
				var want []string
				for n := range 20 {
					p, mine := uidPod(t, n)
					objects = append(objects, p)
					if mine {
						want = append(want, "ns/"+p.Name)
					}
				}
				i, f := newInformer(objects)
				stop := make(chan struct{})
				f.Start(stop)
				synctest.Wait()
				got := i.GetStore().ListKeys()
				slices.Sort(got)
				if slices.Sort(want); !slices.Equal(got, want) {
					t.Errorf("the store has %v, want %v", got, want)
				}
				close(stop)
				f.Shutdown()
			})
		})
	}
}

// What the server or the list options say against the selector is an error, and so is what is no
// list.
func TestShardsThatDoNotFit(t *testing.T) {
	serve := func(list runtime.Object, err error) cache.ListerWatcherWithContext {
		return cache.ToListerWatcherWithContext(informer.NewShardedListWatch(listWatch{&cache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				return list, err
			},
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				return nil, err
			},
		}}, firstHalf))
	}
	broken := errors.New("broken")
	other := &corev1.PodList{ListMeta: metav1.ListMeta{ShardInfo: &metav1.ShardInfo{Selector: "x"}}}
	for want, c := range map[string]struct {
		lw cache.ListerWatcherWithContext
		o  metav1.ListOptions
	}{
		"contradicts": {serve(&corev1.PodList{}, nil), metav1.ListOptions{ShardSelector: "another"}},
		"was asked":   {serve(other, nil), metav1.ListOptions{}},
		"List inter":  {serve(&corev1.Pod{}, nil), metav1.ListOptions{}},
		"broken":      {serve(nil, broken), metav1.ListOptions{}},
	} {
		list, err := c.lw.ListWithContext(t.Context(), c.o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v, want an error with %q", list, err, want)
		}
	}
	_, err := serve(nil, broken).WatchWithContext(t.Context(), metav1.ListOptions{})
	if !errors.Is(err, broken) {
		t.Errorf("Watch: %v", err)
	}
	_, err = serve(nil, nil).WatchWithContext(t.Context(),
		metav1.ListOptions{ShardSelector: "another"})
	if err == nil {
		t.Error("Watch with another selector: no error")
	}
	lw := listWatch{&cache.ListWatch{}}
	if informer.NewShardedListWatch(lw, nil) != cache.ListerWatcher(lw) ||
		informer.NewShardedListWatch(lw, sharding.Everything()) != cache.ListerWatcher(lw) {
		t.Error("all shards are no shard")
	}
}
