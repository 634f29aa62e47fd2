// Package dynamicinformer is client-go's package of that name over package informer: a
// program that uses k8s.io/client-go/dynamic/dynamicinformer changes the import path.
// Objects are *unstructured.Unstructured.
//
// Everything here may be used by any number of goroutines at once. For the costs of an
// informer see package informer.
package dynamicinformer

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/client-go/dynamic"
	clientgo "k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/informer/internal/byresource"
)

// client-go's types, so that code needs one import.
type (
	// DynamicSharedInformerFactory is client-go's.
	DynamicSharedInformerFactory = clientgo.DynamicSharedInformerFactory
	// TweakListOptionsFunc is client-go's.
	TweakListOptionsFunc = clientgo.TweakListOptionsFunc
)

// Config says what a factory's informers watch and what they are made of. The
// zero value watches all namespaces with informers of default options.
type Config struct {
	Namespace        string               // empty: all
	TweakListOptions TweakListOptionsFunc // may change the options of each list and watch
	// for each informer; Indexers come on top of the namespace index
	Informer informer.Options
	// InformerName makes every informer publish its metrics, under this name and its
	// resource: see informer.Options.Identifier. The factory releases it at Shutdown.
	// Client-go's dynamic factories have no names. Nil: no metrics.
	InformerName *cache.InformerName
}

// DynamicSharedInformerOption changes the Config of NewDynamicSharedInformerFactoryWithOptions.
type DynamicSharedInformerOption func(*Config)

// WithShardSelector limits each informer to a shard: see informer.Options.ShardSelector.
func WithShardSelector(selector sharding.Selector) DynamicSharedInformerOption {
	return func(c *Config) { c.Informer.ShardSelector = selector }
}

// NewDynamicSharedInformerFactoryWithOptions returns a factory for all namespaces.
func NewDynamicSharedInformerFactoryWithOptions(client dynamic.Interface,
	defaultResync time.Duration,
	options ...DynamicSharedInformerOption) DynamicSharedInformerFactory {
	var config Config
	for _, option := range options {
		option(&config)
	}
	return New(client, defaultResync, config)
}

// NewDynamicSharedInformerFactory returns a factory for all namespaces.
func NewDynamicSharedInformerFactory(client dynamic.Interface,
	defaultResync time.Duration) DynamicSharedInformerFactory {
	return New(client, defaultResync, Config{})
}

// NewFilteredDynamicSharedInformerFactory returns a factory for one namespace,
// or all, whose lists and watches tweakListOptions may change.
func NewFilteredDynamicSharedInformerFactory(client dynamic.Interface, defaultResync time.Duration,
	namespace string, tweakListOptions TweakListOptionsFunc) DynamicSharedInformerFactory {
	return New(client, defaultResync, Config{Namespace: namespace, TweakListOptions: tweakListOptions})
}

// NewFilteredDynamicInformer returns an informer that belongs to no factory.
func NewFilteredDynamicInformer(client dynamic.Interface, gvr schema.GroupVersionResource,
	namespace string, resyncPeriod time.Duration, indexers cache.Indexers,
	tweakListOptions TweakListOptionsFunc) informers.GenericInformer {
	return sourceOf(client).NewInformer(gvr, namespace, tweakListOptions,
		informer.Options{ResyncPeriod: resyncPeriod, Indexers: indexers})
}

// New returns a factory with chosen options, such as another store.
func New(client dynamic.Interface, defaultResync time.Duration,
	config Config) DynamicSharedInformerFactory {
	return sourceOf(client).NewFactory(defaultResync, byresource.Config{
		Namespace: config.Namespace, Tweak: config.TweakListOptions, Informer: config.Informer,
		InformerName: config.InformerName,
	})
}

func sourceOf(client dynamic.Interface) byresource.Source {
	return byresource.NewSource(client, &unstructured.Unstructured{},
		func(gvr schema.GroupVersionResource,
			namespace string) informer.ResourceClient[*unstructured.UnstructuredList] {
			return client.Resource(gvr).Namespace(namespace)
		})
}
