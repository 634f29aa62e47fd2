package informer

import (
	"fmt"
	"reflect"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/contract"
)

// Lister reads the objects of one resource out of an indexer, with their own type. It does
// for every type what client-go's lister-gen generates for one. The zero value is not
// usable, see [NewLister].
//
// The objects are the cache's own: copy one before changing it. Get returns a NotFound
// error that names the resource (apierrors.IsNotFound). An object of another type than T in
// the indexer is an error too, where client-go's listers panic. Methods may be called by
// any number of goroutines at once, if the indexer allows it.
type Lister[T runtime.Object] struct {
	indexer  cache.Indexer
	resource schema.GroupResource
	labels   func(T) map[string]string // see labelsOf
}

// NewLister returns a lister over indexer. The resource is what its NotFound
// errors name.
func NewLister[T runtime.Object](indexer cache.Indexer, resource schema.GroupResource) Lister[T] {
	return Lister[T]{indexer: indexer, resource: resource, labels: labelsOf[T]()}
}

// List returns the objects of all namespaces whose labels match, in any order;
// nil if there is none. It costs O(n) in the objects of the indexer.
func (l Lister[T]) List(selector labels.Selector) ([]T, error) {
	if labels.MatchesNothing(selector) {
		return nil, nil
	}
	room := borrow()
	defer room.giveBack()
	return l.matching(room, room.list(l.indexer), selector)
}

// Get returns the object with the given key: the name of a cluster-scoped object, or
// namespace/name. O(1).
func (l Lister[T]) Get(key string) (T, error) { return get[T](l.indexer, l.resource, key, key) }

// ByNamespace returns the lister of one namespace. If it is empty, List returns all objects, and
// Get finds none, as in client-go.
func (l Lister[T]) ByNamespace(namespace string) NamespaceLister[T] {
	return NamespaceLister[T]{Lister: l, namespace: namespace}
}

// NamespaceLister is a [Lister] of one namespace.
type NamespaceLister[T runtime.Object] struct {
	Lister[T]
	namespace string
}

// List returns the namespace's objects whose labels match, in any order; nil if there is
// none. It costs O(n) in the objects of the namespace if the indexer has the index
// cache.NamespaceIndex. Without it, each call costs O(n) in all objects, and a warning.
func (l NamespaceLister[T]) List(selector labels.Selector) ([]T, error) {
	if l.namespace == metav1.NamespaceAll || labels.MatchesNothing(selector) {
		return l.Lister.List(selector)
	}
	room := borrow()
	defer room.giveBack()
	objects, err := room.byIndex(l.indexer, cache.NamespaceIndex, l.namespace)
	if err == nil {
		return l.matching(room, objects, selector)
	}
	klog.Background().Info("A namespace is listed by a look at all objects: give the informer the "+
		"index cache.NamespaceIndex", "namespace", l.namespace, "err", err)
	objects, err = room.inNamespace(room.list(l.indexer), l.namespace)
	if err != nil {
		return nil, err
	}
	return l.matching(room, objects, selector)
}

// Get returns the object of that name. O(1).
func (l NamespaceLister[T]) Get(name string) (T, error) {
	return get[T](l.indexer, l.resource, l.namespace+"/"+name, name)
}

// get reads the object with a key; name is what the error calls it.
func get[T runtime.Object](indexer cache.Indexer, resource schema.GroupResource, key,
	name string) (T, error) {
	var none T
	obj, exists, err := indexer.GetByKey(key)
	if err != nil {
		return none, err
	}
	if !exists {
		return none, apierrors.NewNotFound(resource, name)
	}
	return as[T](obj)
}

// room is memory for the objects that a lister looks through and for the positions of those
// that match, from a pool: what it returns is a slice of its own, of another type.
type room struct {
	objects []any
	matches []int
}

var rooms = sync.Pool{New: func() any { return new(room) }}

func borrow() *room { return rooms.Get().(*room) }

// giveBack keeps no object alive.
func (r *room) giveBack() {
	clear(r.objects)
	r.objects = r.objects[:0]
	rooms.Put(r)
}

// list returns all objects of an indexer, in r if the indexer can append. The list of another
// indexer is not changed, nor kept: it may be the indexer's own.
func (r *room) list(indexer cache.Indexer) []any {
	a, ok := indexer.(contract.Appender)
	if !ok {
		return indexer.List()
	}
	r.objects = a.AppendList(r.objects[:0])
	return r.objects
}

// byIndex returns the objects that have a value in an index, as list does.
func (r *room) byIndex(indexer cache.Indexer, name, value string) (objects []any, err error) {
	a, ok := indexer.(contract.Appender)
	if !ok {
		return indexer.ByIndex(name, value)
	}
	r.objects, err = a.AppendByIndex(r.objects[:0], name, value)
	return r.objects, err
}

// inNamespace returns those of the objects, which list returned, that are in a namespace.
func (r *room) inNamespace(objects []any, namespace string) ([]any, error) {
	in := r.objects[:0] // if the objects lie in r, each is read before it is written over
	defer func() {      // or giveBack would not clear them
		if len(in) > len(r.objects) {
			r.objects = in
		}
	}()
	for _, obj := range objects {
		o, err := accessor(obj)
		if err != nil {
			return nil, err
		}
		if o.GetNamespace() == namespace {
			in = append(in, obj)
		}
	}
	return in, nil
}

// labelsAtOnce is how many objects matching looks up together. The labels of an object lie
// apart from it in memory; processors fetch those of several objects at a time if one look-up
// does not wait for the last.
const labelsAtOnce = 32

// matching returns the objects that match the selector, in memory that is asked for once. It
// reads no metadata if all do.
func (l Lister[T]) matching(room *room, objects []any, selector labels.Selector) ([]T, error) {
	if len(objects) == 0 {
		return nil, nil
	}
	if selector.Empty() {
		return converted[T](make([]T, 0, len(objects)), objects)
	}
	var (
		m       = newMatcher(selector)
		sets    [labelsAtOnce]map[string]string
		found   [labelsAtOnce]int
		matches = room.matches[:0]
	)
	for first := 0; first < len(objects); first += labelsAtOnce {
		chunk := objects[first:min(first+labelsAtOnce, len(objects))]
		for i, obj := range chunk {
			if t, ok := obj.(T); ok && l.labels != nil {
				sets[i] = l.labels(t)
				continue
			}
			o, err := accessor(obj)
			if err != nil {
				return nil, err
			}
			sets[i] = o.GetLabels()
		}
		for _, i := range m.matching(sets[:len(chunk)], found[:0]) {
			matches = append(matches, first+i)
		}
	}
	room.matches = matches
	if len(matches) == 0 {
		return nil, nil
	}
	out := make([]T, len(matches))
	for i, at := range matches {
		t, err := as[T](objects[at])
		if err != nil {
			return nil, err
		}
		out[i] = t
	}
	return out, nil
}

// labelsOf returns GetLabels of T as a function: to call it takes less time than to look for
// the method of each object. It returns nil if T is an interface or has no such method.
func labelsOf[T any]() func(T) map[string]string {
	method, ok := reflect.TypeFor[T]().MethodByName("GetLabels")
	if !ok || !method.Func.IsValid() {
		return nil
	}
	labels, _ := method.Func.Interface().(func(T) map[string]string)
	return labels
}

func accessor(obj any) (metav1.Object, error) {
	o, err := meta.Accessor(obj)
	if err != nil {
		err = fmt.Errorf("the indexer holds a %T: %w", obj, err)
	}
	return o, err
}

// converted appends the objects to out, with their own type.
func converted[T runtime.Object](out []T, objects []any) ([]T, error) {
	for _, obj := range objects {
		t, err := as[T](obj)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

func as[T runtime.Object](obj any) (T, error) {
	t, ok := obj.(T)
	if !ok {
		return t, fmt.Errorf(
			"the indexer holds a %T, which is no %T: make the lister for the informer's type", obj, t)
	}
	return t, nil
}

// NewGenericLister returns a cache.GenericLister over indexer, for code that
// works on any resource: a [Lister] behind client-go's interface.
func NewGenericLister(indexer cache.Indexer, resource schema.GroupResource) cache.GenericLister {
	return genericLister{NewLister[runtime.Object](indexer, resource)}
}

type genericLister struct{ Lister[runtime.Object] }

func (l genericLister) ByNamespace(namespace string) cache.GenericNamespaceLister {
	return l.Lister.ByNamespace(namespace)
}
