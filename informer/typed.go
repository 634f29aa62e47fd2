package informer

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// Object is what typed informers hold: any generated API type, by its pointer.
type Object interface {
	cache.Object
	runtime.Object
}

// TypedSharedIndexInformer is a shared informer whose handlers, indexes and lister take and
// return objects of type T: client-go's cache.TypedSharedIndexInformer[T] with a lister.
// Code that uses it needs no type assertions.
type TypedSharedIndexInformer[T Object] struct {
	cache.TypedSharedIndexInformer[T]
}

// NewTyped returns an informer like [New] with T's types; exampleObject is an
// empty object of the type that is watched.
func NewTyped[T Object](lw cache.ListerWatcher, exampleObject T,
	options Options) *TypedSharedIndexInformer[T] {
	return Typed[T](New(lw, exampleObject, options))
}

// Typed gives T's types to an informer, of this package or client-go's. The informer must
// hold objects of type T: a handler that is given another panics.
func Typed[T Object](informer cache.SharedIndexInformer) *TypedSharedIndexInformer[T] {
	return &TypedSharedIndexInformer[T]{cache.NewTypedSharedIndexInformer[T](informer)}
}

// Lister returns the lister of the informer's store. The resource is what its
// NotFound errors name.
func (i *TypedSharedIndexInformer[T]) Lister(resource schema.GroupResource) Lister[T] {
	return NewLister[T](i.GetIndexer(), resource)
}
