// Package byresource is what the factories of dynamicinformer and metadatainformer have in
// common: informers that are named by group, version and resource, of objects of one Go type.
//
// Everything here may be used by any number of goroutines at once.
package byresource

import (
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/core/informer"
)

// Source makes the informers of one client.
type Source struct {
	// Example is an object of the type that all have.
	Example runtime.Object
	// ListWatch makes the ListerWatcher of a resource in a namespace, or in all if that is
	// empty. tweak may be nil.
	ListWatch func(gvr schema.GroupVersionResource, namespace string, tweak func(*metav1.ListOptions)) cache.ListerWatcher
}

// NewInformer returns an informer that belongs to no factory.
func (s Source) NewInformer(gvr schema.GroupVersionResource, namespace string, tweak func(*metav1.ListOptions), options informer.Options) informers.GenericInformer {
	return genericInformer{s.newInformer(gvr, namespace, tweak, options), gvr.GroupResource()}
}

func (s Source) newInformer(gvr schema.GroupVersionResource, namespace string, tweak func(*metav1.ListOptions), options informer.Options) cache.SharedIndexInformer {
	options.ObjectDescription = gvr.String()
	return informer.New(s.ListWatch(gvr, namespace, tweak), s.Example, options)
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
	return genericInformer{f.InformerFor(gvr, func() cache.SharedIndexInformer {
		options := f.config.Informer
		if f.config.InformerName != nil {
			options.Identifier = f.config.InformerName.WithResource(gvr)
		}
		return f.source.newInformer(gvr, f.config.Namespace, f.config.Tweak, options)
	}), gvr.GroupResource()}
}

// Shutdown waits until every informer has ended, and releases the name.
func (f *Factory) Shutdown() {
	f.SharedInformerFactory.Shutdown()
	f.config.InformerName.Release()
}

type genericInformer struct {
	informer cache.SharedIndexInformer
	resource schema.GroupResource
}

func (g genericInformer) Informer() cache.SharedIndexInformer { return g.informer }
func (g genericInformer) Lister() cache.GenericLister {
	return informer.NewGenericLister(g.informer.GetIndexer(), g.resource)
}
