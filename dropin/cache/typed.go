package cache

import clientgo "k8s.io/client-go/tools/cache"

// NewTypedSharedIndexInformer gives an informer, of this package or of client-go, methods that
// take and return objects of type T. A handler that is given an object of another type panics.
func NewTypedSharedIndexInformer[T Object](
	informer SharedIndexInformer) TypedSharedIndexInformer[T] {
	return clientgo.NewTypedSharedIndexInformer[T](informer)
}

// TypedIndexerFuncToIndexerFunc returns an IndexFunc that calls indexer. It panics if it is given
// an object of another type than T.
func TypedIndexerFuncToIndexerFunc[T any](indexer TypedIndexFunc[T]) IndexFunc {
	return clientgo.TypedIndexerFuncToIndexerFunc(indexer)
}

// TypedIndexersToIndexers is TypedIndexerFuncToIndexerFunc for several.
func TypedIndexersToIndexers[T any](indexers TypedIndexers[T]) Indexers {
	return clientgo.TypedIndexersToIndexers(indexers)
}
