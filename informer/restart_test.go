package informer_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/informer/dynamicinformer"
	"github.com/informerbench/informerbench/informer/informers"
	"github.com/informerbench/informerbench/load/apiserver"
	"github.com/informerbench/informerbench/load/synthetic"
)

// Every kind of informer that pages gets over a restart of the server's watch cache: each
// is answered 410, while the server still lists the version that each knows.
func TestPagedInformersGetOverACacheRestart(t *testing.T) {
	server, sources := served(t, 120, 1,
		synthetic.Fault{Kind: synthetic.FaultCacheRestart, AfterEvents: 20})
	config := server.RESTConfig()
	config.QPS = -1
	protobuf := rest.CopyConfig(config)
	protobuf.ContentType = runtime.ContentTypeProtobuf
	client := must[*kubernetes.Clientset](t)(kubernetes.NewForConfig(config))
	binary := must[*kubernetes.Clientset](t)(kubernetes.NewForConfig(protobuf))
	dyn := must[*dynamic.DynamicClient](t)(dynamic.NewForConfig(config))
	meta := must[metadata.Interface](t)(metadata.NewForConfig(config))

	changed := make(chan struct{}, 1)
	notify := cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) {
			wake(changed)
		}, UpdateFunc: func(_, _ any) { wake(changed) }, DeleteFunc: func(any) { wake(changed) },
	}
	paged := informer.Options{PageSize: 50, UseWatchList: new(bool)}
	stores := map[string]cache.Store{}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
	defer cancel()
	share := func(name string, i cache.SharedIndexInformer) {
		must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(notify))
		stores[name] = i.GetStore()
	}
	typed := informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithInformerOptions(paged))
	share("typed", typed.Core().V1().Pods().Informer())
	encoded := informers.NewSharedInformerFactoryWithOptions(binary, 0,
		informers.WithInformerOptions(paged))
	share("protobuf", encoded.Core().V1().Pods().Informer())
	dynamically := dynamicinformer.New(dyn, 0, dynamicinformer.Config{Informer: paged})
	share("dynamic", dynamically.ForResource(apiserver.Pods).Informer())
	partial := informer.New(informer.NewListWatch(meta, meta.Resource(apiserver.Pods), nil),
		&metav1.PartialObjectMetadata{}, paged)
	share("metadata", partial)
	store, controller := informer.NewUnshared(
		informer.NewListWatch(client, client.CoreV1().Pods(metav1.NamespaceAll), nil), &corev1.Pod{},
		notify, paged)
	stores["unshared"] = store

	typed.Start(ctx.Done())
	encoded.Start(ctx.Done())
	dynamically.Start(ctx.Done())
	ended := make(chan struct{}, 2)
	go func() { partial.RunWithContext(ctx); ended <- struct{}{} }()
	go func() { controller.RunWithContext(ctx); ended <- struct{}{} }()
	if !cache.WaitForCacheSync(ctx.Done(), partial.HasSynced, controller.HasSynced) {
		t.Fatal("the caches do not fill")
	}
	serverWrite(ctx, t, client)

	different := func() string {
		want := versionsOf(slices.Collect(maps.Values(sources[apiserver.Pods].Snapshot())))
		for name, store := range stores {
			if got := versionsOf(store.List()); !maps.Equal(got, want) {
				return fmt.Sprintf("%s: %d objects, want %d, or their versions differ", name, len(got),
					len(want))
			}
		}
		return ""
	}
	for what := different(); what != ""; what = different() {
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("it does not settle: %s", what)
		}
	}
	if struck := sources[apiserver.Pods].Struck(); struck[synthetic.FaultCacheRestart] != 1 {
		t.Errorf("the faults that struck: %v", struck)
	}
	cancel()
	typed.Shutdown()
	encoded.Shutdown()
	dynamically.Shutdown()
	<-ended
	<-ended
}

func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
