// Package metadatainformer is client-go's package of that name over package informer: a
// program that uses k8s.io/client-go/metadata/metadatainformer changes the import path.
// Objects are *metav1.PartialObjectMetadata: the server sends nothing else of them.
//
// Everything here may be used by any number of goroutines at once. For the costs of an
// informer see package informer.
package metadatainformer

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	clientgo "k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/informer/internal/byresource"
)

// client-go's types, so that code needs one import.
type (
	// SharedInformerFactory is client-go's.
	SharedInformerFactory = clientgo.SharedInformerFactory
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
	// Client-go's metadata factories have no names. Nil: no metrics.
	InformerName *cache.InformerName
}

// SharedInformerOption changes the Config of NewSharedInformerFactoryWithOptions.
type SharedInformerOption func(*Config)

// WithTransform has each informer transform its objects: see informer.Options.Transform.
func WithTransform(transform cache.TransformFunc) SharedInformerOption {
	return func(c *Config) { c.Informer.Transform = transform }
}

// WithShardSelector limits each informer to a shard: see informer.Options.ShardSelector.
func WithShardSelector(selector sharding.Selector) SharedInformerOption {
	return func(c *Config) { c.Informer.ShardSelector = selector }
}

// NewSharedInformerFactory returns a factory for all namespaces.
func NewSharedInformerFactory(client metadata.Interface,
	defaultResync time.Duration) SharedInformerFactory {
	return New(client, defaultResync, Config{})
}

// NewFilteredSharedInformerFactory returns a factory for one namespace, or all, whose lists and
// watches tweakListOptions may change.
func NewFilteredSharedInformerFactory(client metadata.Interface, defaultResync time.Duration,
	namespace string, tweakListOptions TweakListOptionsFunc) SharedInformerFactory {
	return New(client, defaultResync, Config{Namespace: namespace, TweakListOptions: tweakListOptions})
}

// NewSharedInformerFactoryWithOptions returns a factory for all namespaces. client-go has two
// options, WithTransform and WithShardSelector. Use New for anything else.
func NewSharedInformerFactoryWithOptions(client metadata.Interface, defaultResync time.Duration,
	options ...SharedInformerOption) SharedInformerFactory {
	var config Config
	for _, option := range options {
		option(&config)
	}
	return New(client, defaultResync, config)
}

// NewFilteredMetadataInformer returns an informer that belongs to no factory.
func NewFilteredMetadataInformer(client metadata.Interface, gvr schema.GroupVersionResource,
	namespace string, resyncPeriod time.Duration, indexers cache.Indexers,
	tweakListOptions TweakListOptionsFunc) informers.GenericInformer {
	return sourceOf(client).NewInformer(gvr, namespace, tweakListOptions,
		informer.Options{ResyncPeriod: resyncPeriod, Indexers: indexers})
}

// New returns a factory with chosen options, such as another store.
func New(client metadata.Interface, defaultResync time.Duration,
	config Config) SharedInformerFactory {
	return sourceOf(client).NewFactory(defaultResync, byresource.Config{
		Namespace: config.Namespace, Tweak: config.TweakListOptions, Informer: config.Informer,
		InformerName: config.InformerName,
	})
}

func sourceOf(client metadata.Interface) byresource.Source {
	return byresource.NewSource(client, &metav1.PartialObjectMetadata{},
		func(gvr schema.GroupVersionResource,
			namespace string) informer.ResourceClient[*metav1.PartialObjectMetadataList] {
			return client.Resource(gvr).Namespace(namespace)
		})
}
