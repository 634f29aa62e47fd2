// Package byresource is what client-go's factories have in common that name informers by group,
// version and resource: those of dynamicinformer and metadatainformer, whose objects are of one Go
// type, and ForResource of informers.
//
// Everything here may be used by any number of goroutines at once.
package byresource

import (
	"context"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer"
)

// Source makes the informers of one client. Make one with NewSource.
type Source struct {
	example   runtime.Object
	listWatch func(gvr schema.GroupVersionResource, namespace string,
		tweak func(*metav1.ListOptions)) cache.ListerWatcher
}

// NewSource returns the source of a client's informers, whose objects are of the type of
// example. resource returns the client of a resource in a namespace, or in all if that is empty.
// It is called for each list and watch, and not before: a test may have no client, and fill the
// store by hand.
func NewSource[L runtime.Object](client any, example runtime.Object,
	resource func(gvr schema.GroupVersionResource,
		namespace string) informer.ResourceClient[L]) Source {
	return Source{example, func(gvr schema.GroupVersionResource, namespace string,
		tweak func(*metav1.ListOptions)) cache.ListerWatcher {
		return informer.NewListWatch(client, lateClient[L](func() informer.ResourceClient[L] {
			return resource(gvr, namespace)
		}), tweak)
	}}
}

// lateClient asks for the client when it is needed.
type lateClient[L runtime.Object] func() informer.ResourceClient[L]

func (c lateClient[L]) List(ctx context.Context, options metav1.ListOptions) (L, error) {
	return c().List(ctx, options)
}

func (c lateClient[L]) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface,
	error) {
	return c().Watch(ctx, options)
}

// NewInformer returns an informer that belongs to no factory.
func (s Source) NewInformer(gvr schema.GroupVersionResource, namespace string,
	tweak func(*metav1.ListOptions), options informer.Options) informers.GenericInformer {
	return Generic(s.newInformer(gvr, namespace, tweak, options), gvr)
}

func (s Source) newInformer(gvr schema.GroupVersionResource, namespace string,
	tweak func(*metav1.ListOptions), options informer.Options) cache.SharedIndexInformer {
	options.ObjectDescription = gvr.String()
	return informer.New(s.listWatch(gvr, namespace, tweak), s.example, options)
}

// Config says what a factory's informers watch and what they are made of.
type Config struct {
	Namespace    string                    // empty: all
	Tweak        func(*metav1.ListOptions) // nil: no change
	Informer     informer.Options          // Indexers come on top of the namespace index
	InformerName *cache.InformerName       // nil: no metrics; Shutdown releases it
}

// NewFactory returns a factory without informers.
func (s Source) NewFactory(defaultResync time.Duration, config Config) *Factory {
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	maps.Copy(indexers, config.Informer.Indexers)
	config.Informer.ResyncPeriod, config.Informer.Indexers = defaultResync, indexers
	return &Factory{source: s, config: config}
}

// Factory has one informer for each resource.
type Factory struct {
	informer.SharedInformerFactory[schema.GroupVersionResource]
	source Source
	config Config
}

// ForResource returns the informer and the lister of a resource. If the server lacks the
// resource, the running informer tells its watch error handler.
func (f *Factory) ForResource(gvr schema.GroupVersionResource) informers.GenericInformer {
	return Generic(f.InformerFor(gvr, func() cache.SharedIndexInformer {
		options := f.config.Informer
		if f.config.InformerName != nil {
			options.Identifier = f.config.InformerName.WithResource(gvr)
		}
		return f.source.newInformer(gvr, f.config.Namespace, f.config.Tweak, options)
	}), gvr)
}

// Shutdown waits until every informer has ended, and releases the name.
func (f *Factory) Shutdown() {
	f.SharedInformerFactory.Shutdown()
	f.config.InformerName.Release()
}

// Generic returns an informer with a lister of its resource.
func Generic(i cache.SharedIndexInformer,
	gvr schema.GroupVersionResource) informers.GenericInformer {
	return genericInformer{i, gvr.GroupResource()}
}

type genericInformer struct {
	informer cache.SharedIndexInformer
	resource schema.GroupResource
}

func (g genericInformer) Informer() cache.SharedIndexInformer { return g.informer }
func (g genericInformer) Lister() cache.GenericLister {
	return informer.NewGenericLister(g.informer.GetIndexer(), g.resource)
}
