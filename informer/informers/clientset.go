package informers

import (
	"context"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
)

// resource is a resource that the clientset lists and watches. Its client is
// client.<group>().<kinds>(namespace).
type resource struct {
	gvr        schema.GroupVersionResource
	object     reflect.Type // of an object, such as *corev1.Pod
	group      string       // method of the clientset, such as CoreV1
	kinds      string       // method of the group, such as Pods
	namespaced bool
}

type table struct {
	byType map[reflect.Type]*resource
	byName map[schema.GroupVersionResource]*resource
}

// resources is the table of kubernetes.Interface. client-gen names a resource's
// method by the plural of its kind, which in lower case is the resource's name; the
// type's group and version stand in client-go's scheme.
var resources = sync.OnceValue(func() table {
	t := table{map[reflect.Type]*resource{}, map[schema.GroupVersionResource]*resource{}}
	for group := range methodsOf(reflect.TypeFor[kubernetes.Interface]()) {
		if group.Type.NumIn() != 0 || group.Type.NumOut() != 1 ||
			group.Type.Out(0).Kind() != reflect.Interface {
			continue
		}
		for kinds := range methodsOf(group.Type.Out(0)) {
			if r := resourceOf(group, kinds); r != nil {
				t.byType[r.object], t.byName[r.gvr] = r, r
			}
		}
	}
	return t
})

// Resources returns the resources that a factory's ForResource knows, in no order: all that
// client-go's clientset lists and watches. The slice belongs to the caller.
func Resources() []schema.GroupVersionResource {
	return slices.Collect(maps.Keys(resources().byName))
}

func methodsOf(t reflect.Type) iter.Seq[reflect.Method] {
	return func(yield func(reflect.Method) bool) {
		for i := range t.NumMethod() {
			if !yield(t.Method(i)) {
				return
			}
		}
	}
}

// resourceOf returns the resource that a method of a group leads to, or nil if it
// leads to something that cannot be listed and watched.
func resourceOf(group, kinds reflect.Method) *resource {
	if kinds.Type.NumOut() != 1 || kinds.Type.Out(0).Kind() != reflect.Interface {
		return nil
	}
	client := kinds.Type.Out(0)
	get, gets := client.MethodByName("Get")
	_, lists := client.MethodByName("List")
	_, watches := client.MethodByName("Watch")
	if !gets || !lists || !watches {
		return nil
	}
	r := &resource{object: get.Type.Out(0), group: group.Name, kinds: kinds.Name,
		namespaced: kinds.Type.NumIn() == 1}
	kind, _, err := scheme.Scheme.ObjectKinds(r.newObject())
	if err != nil {
		return nil
	}
	r.gvr = kind[0].GroupVersion().WithResource(strings.ToLower(kinds.Name))
	return r
}

// newObject returns an empty object of the resource's type.
func (r *resource) newObject() runtime.Object {
	return reflect.New(r.object.Elem()).Interface().(runtime.Object)
}

// resourceClient lists and watches a resource in a namespace, or in all if it is empty. It
// asks the clientset only then: a test may have none, and fill the store by hand.
type resourceClient struct {
	resource  *resource
	clientset kubernetes.Interface
	namespace string
}

// typed returns the clientset's client of the resource. A cluster-scoped resource has no
// namespace.
func (c resourceClient) typed() any {
	r := c.resource
	group := reflect.ValueOf(c.clientset).MethodByName(r.group).Call(nil)[0]
	var where []reflect.Value
	if r.namespaced {
		where = []reflect.Value{reflect.ValueOf(c.namespace)}
	}
	return reflect.ValueOf(group.Interface()).MethodByName(r.kinds).Call(where)[0].Interface()
}

// List calls the client's by reflection, because each client's List returns a type of its own.
func (c resourceClient) List(ctx context.Context, options metav1.ListOptions) (runtime.Object,
	error) {
	list := reflect.ValueOf(c.typed()).MethodByName("List")
	out := list.Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(options)})
	if err, failed := out[1].Interface().(error); failed {
		return nil, err
	}
	return out[0].Interface().(runtime.Object), nil
}

func (c resourceClient) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface,
	error) {
	return c.typed().(watcher).Watch(ctx, options)
}

type watcher interface {
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}
