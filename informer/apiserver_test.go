package informer_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	clientdynamic "k8s.io/client-go/dynamic/dynamicinformer"
	clientgo "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer/dynamicinformer"
	"github.com/informerbench/informerbench/informer/informers"
	"github.com/informerbench/informerbench/load/apiserver"
	"github.com/informerbench/informerbench/load/synthetic"
)

// served starts an API server with pods and nodes; it ends with the test.
func served(t *testing.T, pods, nodes int, faults ...synthetic.Fault) (*apiserver.Server,
	map[schema.GroupVersionResource]*synthetic.Source) {
	t.Helper()
	sources := map[schema.GroupVersionResource]*synthetic.Source{
		apiserver.Pods: synthetic.NewSource(
			synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindPod, Count: pods}, 1).All(),
			synthetic.SourceOptions{Faults: faults}),
		apiserver.Nodes: synthetic.NewSource(
			synthetic.Generate(synthetic.ObjectSpec{Kind: synthetic.KindNode, Count: nodes}, 2).All(),
			synthetic.SourceOptions{}),
	}
	server, err := apiserver.New(sources, apiserver.Options{})
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Stop()
		for _, s := range sources {
			s.Stop()
		}
	})
	return server, sources
}

// factory has the methods that all factories share.
type factory interface {
	Start(<-chan struct{})
	Shutdown()
}

// versionsOf is the content of a cache or a source, as versions by key.
func versionsOf[T any](objects []T) map[string]string {
	out := map[string]string{}
	for _, obj := range objects {
		m := any(obj).(metav1.Object)
		out[m.GetNamespace()+"/"+m.GetName()] = m.GetResourceVersion()
	}
	return out
}

// client-go's typed and dynamic informers and ours, side by side against one server
// over HTTP, JSON and protobuf: after a client's writes, with watches that break, each
// cache equals the source.
func TestFactoriesAgainstAnAPIServer(t *testing.T) {
	server, sources := served(t, 200, 5,
		synthetic.Fault{Kind: synthetic.FaultClose, AfterEvents: 30, EveryEvents: 50, Count: 2},
		synthetic.Fault{Kind: synthetic.FaultGone, AfterEvents: 100})
	config := server.RESTConfig()
	protobuf := rest.CopyConfig(config)
	protobuf.ContentType = runtime.ContentTypeProtobuf
	client := must[*kubernetes.Clientset](t)(kubernetes.NewForConfig(config))
	binary := must[*kubernetes.Clientset](t)(kubernetes.NewForConfig(protobuf))
	dyn := must[*dynamic.DynamicClient](t)(dynamic.NewForConfig(config))

	changed := make(chan struct{}, 1)
	notify := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	caches := map[string]map[schema.GroupVersionResource]cache.SharedIndexInformer{}
	watchOver := func(name string, gvr schema.GroupVersionResource, i cache.SharedIndexInformer) {
		if caches[name] == nil {
			caches[name] = map[schema.GroupVersionResource]cache.SharedIndexInformer{}
		}
		caches[name][gvr] = i
		must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) {
				notify()
			}, UpdateFunc: func(_, _ any) { notify() }, DeleteFunc: func(any) { notify() },
		}))
	}
	var factories []factory
	for name, f := range map[string]clientgo.SharedInformerFactory{
		"client-go typed":    clientgo.NewSharedInformerFactory(client, 0),
		"client-go protobuf": clientgo.NewSharedInformerFactory(binary, 0),
		"our typed":          informers.NewSharedInformerFactory(client, 0),
		"our protobuf":       informers.NewSharedInformerFactory(binary, 0),
	} {
		factories = append(factories, f)
		watchOver(name, apiserver.Pods, f.Core().V1().Pods().Informer())
		watchOver(name, apiserver.Nodes, f.Core().V1().Nodes().Informer())
	}
	for name, f := range map[string]clientdynamic.DynamicSharedInformerFactory{
		"client-go dynamic": clientdynamic.NewDynamicSharedInformerFactory(dyn, 0),
		"our dynamic":       dynamicinformer.NewDynamicSharedInformerFactory(dyn, 0),
	} {
		factories = append(factories, f)
		for gvr := range sources {
			watchOver(name, gvr, f.ForResource(gvr).Informer())
		}
	}

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
	defer cancel()
	for _, f := range factories {
		f.Start(ctx.Done())
	}
	serverWrite(ctx, t, client)

	different := func() string {
		for name, byResource := range caches {
			for gvr, i := range byResource {
				want := versionsOf(slices.Collect(maps.Values(sources[gvr].Snapshot())))
				if got := versionsOf(i.GetStore().List()); !maps.Equal(got, want) {
					return fmt.Sprintf("%s, %s: %d objects, want %d, or their versions differ", name, gvr.Resource,
						len(got), len(want))
				}
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
	for name, byResource := range caches {
		ns, err := byResource[apiserver.Pods].GetIndexer().ByIndex(cache.NamespaceIndex, "made")
		if err != nil || len(ns) != 10 {
			t.Errorf("%s: %d of 10 pods by namespace, %v", name, len(ns), err)
		}
	}
	if struck := sources[apiserver.Pods].Struck(); struck[synthetic.FaultClose] == 0 ||
		struck[synthetic.FaultGone] != 1 {
		t.Errorf("the faults that struck: %v", struck)
	}
	cancel()
	for _, f := range factories {
		f.Shutdown()
	}
}

// write creates 20 pods, updates them and some of the server's own, and deletes half
// of the new ones, through the API.
func serverWrite(ctx context.Context, t *testing.T, client kubernetes.Interface) {
	t.Helper()
	pods := client.CoreV1().Pods("made")
	for i := range 20 {
		created := must[*corev1.Pod](t)(
			pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "made-" + strconv.Itoa(i)}},
				metav1.CreateOptions{}))
		created.Labels = map[string]string{"round": "2"}
		must[*corev1.Pod](t)(pods.Update(ctx, created, metav1.UpdateOptions{}))
		if i%2 == 0 {
			if err := pods.Delete(ctx, created.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	nodes := must[*corev1.NodeList](t)(client.CoreV1().Nodes().List(ctx, metav1.ListOptions{}))
	for i := range nodes.Items {
		node := &nodes.Items[i]
		node.Labels = map[string]string{"round": "2"}
		must[*corev1.Node](t)(client.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{}))
	}
}
