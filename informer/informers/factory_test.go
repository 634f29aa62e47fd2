package informers_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgo "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/mutexmap"
	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/informer/informers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func pod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: "1"}}
}

// beneath returns the informer under client-go's typed wrapper, client-go's too, which informer.Of
// does not return.
func beneath(i cache.SharedIndexInformer) cache.SharedIndexInformer {
	for {
		v := reflect.Indirect(reflect.ValueOf(i))
		if v.Kind() != reflect.Struct {
			return i
		}
		f := v.FieldByName("SharedIndexInformer")
		if !f.IsValid() || !f.CanInterface() {
			return i
		}
		i = f.Interface().(cache.SharedIndexInformer)
	}
}

func isOurs(i cache.SharedIndexInformer) bool {
	_, ours := informer.Of(i)
	return ours
}

// TestAFactoryWithoutAClient: tests of programs make one, and fill the store by hand.
func TestAFactoryWithoutAClient(t *testing.T) {
	for whose, newFactory := range map[string]func(kubernetes.Interface,
		time.Duration) clientgo.SharedInformerFactory{
		"ours": informers.NewSharedInformerFactory, "client-go": clientgo.NewSharedInformerFactory,
	} {
		pods := newFactory(nil, 0).Core().V1().Pods()
		if err := pods.Informer().GetIndexer().Add(pod("ns", "a")); err != nil {
			t.Errorf("%s: %v", whose, err)
		}
		if p, err := pods.Lister().Pods("ns").Get("a"); err != nil || p.Name != "a" {
			t.Errorf("%s: the lister gives %v, %v", whose, p, err)
		}
	}
}

// kindsOf calls visit with every generated informer of a factory, such as that of
// Core().V1().Pods().
func kindsOf(f clientgo.SharedInformerFactory,
	visit func(path string, i cache.SharedIndexInformer, lister bool)) {
	factory := reflect.TypeFor[clientgo.SharedInformerFactory]()
	for g := range factory.NumMethod() {
		group := reflect.ValueOf(f).MethodByName(factory.Method(g).Name)
		if group.Type().NumIn() != 0 || group.Type().NumOut() != 1 ||
			group.Type().Out(0).Kind() != reflect.Interface {
			continue
		}
		versions := group.Call(nil)[0].Elem()
		for v := range versions.NumMethod() {
			kinds := versions.Method(v).Call(nil)[0].Elem()
			for k := range kinds.NumMethod() {
				kind := kinds.Method(k).Call(nil)[0].Elem()
				path := factory.Method(g).Name + "." + versions.Type().Method(v).Name + "." +
					kinds.Type().Method(k).Name
				visit(path, kind.MethodByName("Informer").Call(nil)[0].Interface().(cache.SharedIndexInformer),
					!kind.MethodByName("Lister").Call(nil)[0].IsNil())
			}
		}
	}
}

// For every type that client-go's factory has, ours has an informer of this project.
func TestEveryTypeIsOurs(t *testing.T) {
	client := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	n, distinct := 0, map[cache.SharedIndexInformer]bool{}
	kindsOf(factory, func(path string, i cache.SharedIndexInformer, lister bool) {
		n++
		distinct[beneath(i)] = true
		if !isOurs(i) || !lister {
			t.Errorf("%s is a %T", path, beneath(i))
		}
	})
	if n < 60 || len(distinct) != n {
		t.Errorf("%d informers for %d types", len(distinct), n)
	}

	// By name and by object: ours knows every resource that client-go's factory knows, by name as
	// the same informer.
	theirs, known := clientgo.NewSharedInformerFactory(client, 0), 0
	for kind, goType := range scheme.Scheme.AllKnownTypes() {
		gvr, _ := meta.UnsafeGuessKindToResource(kind)
		if _, err := theirs.ForResource(gvr); err != nil {
			continue
		}
		known++
		ours, err := factory.ForResource(gvr)
		if err != nil || !distinct[beneath(ours.Informer())] {
			t.Errorf("%v has another informer by name, or %v", gvr, err)
		}
		newFunc, err := informers.NewInformerFunc(reflect.New(goType).Interface().(runtime.Object))
		if err != nil || !isOurs(newFunc(client, 0)) {
			t.Errorf("%v has another informer by object, or %v", goType, err)
		}
	}
	if known != n {
		t.Errorf("%d resources by name, %d by type", known, n)
	}
	_, err := factory.ForResource(
		schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"})
	if err == nil || !strings.Contains(err.Error(), "dynamic") {
		t.Errorf("an unknown resource: %v", err)
	}
}

// recorder notes the lists and watches that a clientset is asked for.
func recorder(client *fake.Clientset) func() []string {
	return func() (out []string) {
		for _, a := range client.Actions() {
			var options metav1.ListOptions
			switch a := a.(type) {
			case clienttesting.ListActionImpl:
				options = a.ListOptions
			case clienttesting.WatchActionImpl:
				options = a.ListOptions
			}
			out = append(out, fmt.Sprintf("%s %s %q %q", a.GetVerb(), a.GetResource().Resource,
				a.GetNamespace(), options.LabelSelector))
		}
		return out
	}
}

// A program written for client-go's factory, run on ours and on client-go's, sees
// the same.
func TestAProgramOfClientGosRunsUnchanged(t *testing.T) {
	for whose, newFactory := range map[string]func(*fake.Clientset) clientgo.SharedInformerFactory{
		"ours": func(client *fake.Clientset) clientgo.SharedInformerFactory {
			return informers.NewSharedInformerFactoryWithOptions(client, time.Hour,
				informers.WithNamespace("a"),
				informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "!skip" }),
				informers.WithTransform(transform),
				informers.WithCustomResyncConfig(map[metav1.Object]time.Duration{&corev1.Pod{}: time.Minute}))
		},
		"client-go": func(client *fake.Clientset) clientgo.SharedInformerFactory {
			return clientgo.NewSharedInformerFactoryWithOptions(client, time.Hour,
				clientgo.WithNamespace("a"),
				clientgo.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "!skip" }),
				clientgo.WithTransform(transform),
				clientgo.WithCustomResyncConfig(map[metav1.Object]time.Duration{&corev1.Pod{}: time.Minute}))
		},
	} {
		t.Run(whose, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(pod("a", "1"), pod("b", "1"),
					&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
				program(t, client, newFactory(client))
			})
		})
	}
}

func transform(obj any) (any, error) {
	if p, ok := obj.(*corev1.Pod); ok {
		p = p.DeepCopy()
		p.Annotations = map[string]string{"seen": "yes"}
		return p, nil
	}
	return obj, nil
}

func program(t *testing.T, client *fake.Clientset, factory clientgo.SharedInformerFactory) {
	asked := recorder(client)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pods, nodes := factory.Core().V1().Pods(), factory.Core().V1().Nodes()
	var told []string
	registration, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			told = append(told, "add "+obj.(*corev1.Pod).Name+obj.(*corev1.Pod).Annotations["seen"])
		},
		UpdateFunc: func(_, obj any) { told = append(told, "update "+obj.(*corev1.Pod).ResourceVersion) },
		DeleteFunc: func(obj any) { told = append(told, "delete "+obj.(*corev1.Pod).Name) },
	})
	if err != nil {
		t.Fatal(err)
	}
	nodeLister := nodes.Lister()
	factory.StartWithContext(ctx)
	if err := factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		t.Fatal(err)
	}
	cache.WaitFor(ctx, "", registration.HasSyncedChecker())
	synctest.Wait()

	if list, err := pods.Lister().List(labels.Everything()); err != nil || len(list) != 1 {
		t.Errorf("pods of one namespace: %v, %v", list, err)
	}
	if p, err := pods.Lister().Pods("a").Get("1"); err != nil || p.Annotations["seen"] != "yes" {
		t.Errorf("a pod: %v, %v", p, err)
	}
	if _, err := pods.Lister().Pods("b").Get("1"); !apierrors.IsNotFound(err) {
		t.Errorf("a pod of another namespace: %v", err)
	}
	if node, err := nodeLister.Get("n"); err != nil || node.Name != "n" {
		t.Errorf("a node: %v, %v", node, err)
	}
	generic, err := factory.ForResource(corev1.SchemeGroupVersion.WithResource("pods"))
	if err != nil || beneath(generic.Informer()) != beneath(pods.Informer()) {
		t.Errorf("the informer by name is another: %v", err)
	}
	if obj, err := generic.Lister().ByNamespace("a").Get("1"); err != nil ||
		obj.(*corev1.Pod).Name != "1" {
		t.Errorf("by name: %v, %v", obj, err)
	}
	got := asked()
	slices.Sort(got)
	want := []string{
		`list nodes "" "!skip"`, `list pods "a" "!skip"`,
		`watch nodes "" "!skip"`, `watch pods "a" "!skip"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("the server was asked %q, want %q", got, want)
	}

	changed := pod("a", "1")
	changed.ResourceVersion = "2"
	if _, err := client.CoreV1().Pods("a").Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	if err := client.CoreV1().Pods("a").Delete(ctx, "1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	if want := []string{"add 1yes", "update 2", "delete 1"}; !slices.Equal(told, want) {
		t.Errorf("the handler was told %q, want %q", told, want)
	}
	cancel()
	factory.Shutdown()
	factory.Start(t.Context().Done())
	if !pods.Informer().IsStopped() {
		t.Error("an informer runs after Shutdown")
	}
}

// A factory makes informers with its options, and with the resync period of their type.
func TestFactoryOptionsReachTheInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(pod("a", "1"))
		stores := 0
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
			informers.WithCustomResyncConfig(map[metav1.Object]time.Duration{&corev1.Pod{}: time.Minute}),
			informers.WithInformerOptions(informer.Options{
				NewStore: func(i contract.Indexers) contract.Store { stores++; return mutexmap.New(i) },
				Indexers: cache.Indexers{"name": func(obj any) ([]string, error) {
					return []string{obj.(metav1.Object).GetName()}, nil
				}},
			}))
		pods := factory.Core().V1().Pods().Informer()
		updates := 0
		if _, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) {
			updates++
		}}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		factory.StartWithContext(ctx)
		factory.WaitForCacheSync(ctx.Done())
		if keys, err := pods.GetIndexer().IndexKeys("name", "1"); err != nil || len(keys) != 1 ||
			stores != 1 {
			t.Errorf("%d stores; index %v, %v", stores, keys, err)
		}
		if list, err := factory.Core().V1().Pods().Lister().Pods("a").List(
			labels.Everything()); err != nil || len(list) != 1 {
			t.Errorf("the namespace index is gone: %v, %v", list, err)
		}
		time.Sleep(150 * time.Second)
		synctest.Wait()
		if updates != 2 {
			t.Errorf("%d resyncs in 2.5 periods", updates)
		}
		cancel()
		factory.Shutdown()
	})
}

// A factory of client-go's holds our informer if that is put in before anything asks.
func TestClientGosFactoryOverOurInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(pod("a", "1"), pod("b", "1"))
		factory := clientgo.NewSharedInformerFactory(client, 0)
		newPods, err := informers.NewInformerFunc(&corev1.Pod{}, informers.WithNamespace("b"))
		if err != nil {
			t.Fatal(err)
		}
		factory.InformerFor(&corev1.Pod{}, newPods)
		pods := factory.Core().V1().Pods()
		if !isOurs(pods.Informer()) || isOurs(factory.Core().V1().Nodes().Informer()) {
			t.Error("the factory has other informers than it was told")
		}
		ctx, cancel := context.WithCancel(t.Context())
		factory.StartWithContext(ctx)
		factory.WaitForCacheSync(ctx.Done())
		if list, err := pods.Lister().List(labels.Everything()); err != nil || len(list) != 1 ||
			list[0].Namespace != "b" {
			t.Errorf("pods: %v, %v", list, err)
		}
		cancel()
		factory.Shutdown()
	})
	if _, err := informers.NewInformerFunc(&metav1.Status{}); err == nil ||
		!strings.Contains(err.Error(), "*v1.Status") {
		t.Errorf("a type without a client: %v", err)
	}
}

// And our factory holds any informer that is put in.
func TestInformerForTakesAnyInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name, err := cache.NewInformerName("informers-test")
		if err != nil {
			t.Fatal(err)
		}
		client := fake.NewClientset(pod("a", "1"))
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
			informers.WithInformerName(name), informers.WithTransform(transform))
		theirs := clientgo.NewSharedInformerFactory(client, 0)
		given := theirs.Core().V1().Pods().Informer()
		got := factory.InformerFor(&corev1.Pod{},
			func(_ kubernetes.Interface, _ time.Duration) cache.SharedIndexInformer {
				return given
			})
		if got != given || beneath(factory.Core().V1().Pods().Informer()) != beneath(given) {
			t.Error("the factory has another informer than it was told")
		}
		ctx, cancel := context.WithCancel(t.Context())
		factory.StartWithContext(ctx)
		if synced := factory.WaitForCacheSync(ctx.Done()); !synced[reflect.TypeFor[*corev1.Pod]()] {
			t.Errorf("synced: %v", synced)
		}
		if p, err := factory.Core().V1().Pods().Lister().Pods("a").Get("1"); err != nil ||
			p.Annotations["seen"] != "yes" {
			t.Errorf("the factory's transform: %v, %v", p, err)
		}
		cancel()
		factory.Shutdown()
		if factory.InformerName() != name {
			t.Error("the name is another")
		}
		again, err := cache.NewInformerName("informers-test")
		if err != nil {
			t.Errorf("Shutdown did not give the name back: %v", err)
		}
		again.Release()
	})
}

// A server that refuses: the error comes through, and the factory says what did not
// sync.
func TestAForbiddenResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		forbidden := apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("not you"))
		client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, forbidden
		})
		var heard error
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
			informers.WithInformerOptions(informer.Options{
				WatchErrorHandler: func(_ context.Context, _ *cache.Reflector, err error) { heard = err },
			}))
		factory.Core().V1().Pods().Informer()
		factory.Core().V1().Nodes().Informer()
		ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Second, errors.New("too long"))
		defer cancel()
		factory.StartWithContext(ctx)
		err := factory.WaitForCacheSyncWithContext(ctx).AsError()
		if err == nil || !strings.Contains(err.Error(), "*v1.Pod: too long") ||
			strings.Contains(err.Error(), "Node") {
			t.Errorf("got %v", err)
		}
		factory.Shutdown()
		if !apierrors.IsForbidden(heard) {
			t.Errorf("the watch error handler heard %v", heard)
		}
	})
}
