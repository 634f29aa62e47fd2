package informers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/sharding"
	clientgo "k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/informer"
	"github.com/informerbench/informerbench/informer/internal/byresource"
)

// client-go's types, so that code needs one import.
type (
	// SharedInformerFactory is client-go's.
	SharedInformerFactory = clientgo.SharedInformerFactory
	// GenericInformer is client-go's.
	GenericInformer = clientgo.GenericInformer
)

// SharedInformerOption changes what a factory makes.
type SharedInformerOption func(*config)

// config is what options set.
type config struct {
	namespace string
	tweak     internalinterfaces.TweakListOptionsFunc
	transform cache.TransformFunc
	shard     sharding.Selector
	resync    map[reflect.Type]time.Duration
	name      *cache.InformerName
	informer  informer.Options
}

func configured(options []SharedInformerOption) config {
	c := config{resync: map[reflect.Type]time.Duration{}}
	for _, option := range options {
		option(&c)
	}
	return c
}

// WithNamespace limits lists and watches to one namespace.
func WithNamespace(namespace string) SharedInformerOption {
	return func(c *config) { c.namespace = namespace }
}

// WithTweakListOptions lets tweak change the options of each list and watch.
func WithTweakListOptions(tweak internalinterfaces.TweakListOptionsFunc) SharedInformerOption {
	return func(c *config) { c.tweak = tweak }
}

// WithTransform has transform change every object before the store and handlers get it.
func WithTransform(transform cache.TransformFunc) SharedInformerOption {
	return func(c *config) { c.transform = transform }
}

// WithShardSelector limits every informer to a shard: see informer.Options.ShardSelector.
func WithShardSelector(selector sharding.Selector) SharedInformerOption {
	return func(c *config) { c.shard = selector }
}

// WithCustomResyncConfig gives the informers of some types, named by an object of
// each, a resync period of their own.
func WithCustomResyncConfig(resync map[metav1.Object]time.Duration) SharedInformerOption {
	return func(c *config) {
		for obj, period := range resync {
			c.resync[reflect.TypeOf(obj)] = period
		}
	}
}

// WithInformerName makes every informer publish its metrics, under this name and its
// resource: see informer.Options.Identifier. The InformerMetricsProvider of WithInformerOptions
// makes the metrics, or that of informer.SetInformerMetricsProvider. A factory also hands the name
// to informers that client-go makes (InformerFor with a function of client-go's), and releases it
// at Shutdown. For [NewInformerFunc] give the factory's name; the factory releases it then.
func WithInformerName(name *cache.InformerName) SharedInformerOption {
	return func(c *config) { c.name = name }
}

// WithInformerOptions sets the options of informers, such as their store. The factory's
// resync period replaces theirs; their indexes are added to the namespace index.
func WithInformerOptions(options informer.Options) SharedInformerOption {
	return func(c *config) { c.informer = options }
}

// NewSharedInformerFactory returns a factory for all namespaces.
func NewSharedInformerFactory(client kubernetes.Interface,
	defaultResync time.Duration) SharedInformerFactory {
	return NewSharedInformerFactoryWithOptions(client, defaultResync)
}

// NewFilteredSharedInformerFactory returns a factory for one namespace, or all if
// it is empty, whose lists and watches tweak may change.
func NewFilteredSharedInformerFactory(client kubernetes.Interface, defaultResync time.Duration,
	namespace string, tweak internalinterfaces.TweakListOptionsFunc) SharedInformerFactory {
	return NewSharedInformerFactoryWithOptions(client, defaultResync, WithNamespace(namespace),
		WithTweakListOptions(tweak))
}

// NewSharedInformerFactoryWithOptions returns a factory with chosen options.
func NewSharedInformerFactoryWithOptions(client kubernetes.Interface, defaultResync time.Duration,
	options ...SharedInformerOption) SharedInformerFactory {
	return &factory{client: client, defaultResync: defaultResync, config: configured(options)}
}

// NewInformerFunc returns a function that makes informers of this package for objects of
// obj's type, for InformerFor of client-go's factory. That factory's resync period and
// transform reach the informer. Its namespace and list options do not, so they are given
// here. The error says that the clientset cannot list and watch the type.
func NewInformerFunc(obj runtime.Object,
	options ...SharedInformerOption) (internalinterfaces.NewInformerFunc, error) {
	c := configured(options)
	var gvr schema.GroupVersionResource
	kinds, _, err := scheme.Scheme.ObjectKinds(obj)
	if err == nil {
		gvr, _ = meta.UnsafeGuessKindToResource(kinds[0])
		_, err = typeOf(gvr)
	}
	if err != nil {
		return nil, fmt.Errorf("client-go's clientset does not list and watch %T: give an object of a "+
			"type of k8s.io/api, by its pointer, such as &corev1.Pod{}: %w", obj, err)
	}
	return func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return c.newInformer(c.theirs(client, gvr, resync), resync)
	}, nil
}

// theirs makes client-go's informer of a resource that client-go's factory knows.
func (c *config) theirs(client kubernetes.Interface, gvr schema.GroupVersionResource,
	resync time.Duration) cache.SharedIndexInformer {
	i, err := clientgo.NewSharedInformerFactoryWithOptions(client, resync,
		clientgo.WithNamespace(c.namespace), clientgo.WithTweakListOptions(c.tweak),
		clientgo.WithInformerName(c.name)).ForResource(gvr)
	if err != nil {
		panic(err)
	}
	return i.Informer()
}

// errUnknown is for a client-go that the program has raised beyond what this package knows.
var errUnknown = errors.New("informers of this version of client-go have other fields than known")

// typeOf returns the type of a resource's objects. The error is client-go's factory's, or
// errUnknown.
func typeOf(gvr schema.GroupVersionResource) (reflect.Type, error) {
	i, err := clientgo.NewSharedInformerFactory(nil, 0).ForResource(gvr)
	if err != nil {
		return nil, err
	}
	p, ok := partsOf(i.Informer())
	if !ok {
		return nil, errUnknown
	}
	return reflect.TypeOf(p.example), nil
}

// newInformer makes the informer in place of client-go's.
func (c *config) newInformer(theirs cache.SharedIndexInformer,
	resync time.Duration) cache.SharedIndexInformer {
	i := theirs
	if p, ok := partsOf(theirs); ok {
		options := c.informer
		options.ResyncPeriod = resync
		options.Indexers = cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
		maps.Copy(options.Indexers, c.informer.Indexers)
		if c.name != nil {
			options.Identifier = p.identifier
		}
		if c.shard != nil {
			options.ShardSelector = c.shard
		}
		i = informer.New(p.lw, p.example, options)
	} else {
		klog.Background().Error(errUnknown, "An informer stays client-go's")
	}
	if c.transform != nil {
		// It cannot fail: the informer has not been started.
		_ = i.SetTransform(c.transform)
	}
	return i
}

type factory struct {
	shared        informer.SharedInformerFactory[reflect.Type]
	client        kubernetes.Interface
	defaultResync time.Duration
	config
}

func (f *factory) Start(stopCh <-chan struct{})         { f.shared.Start(stopCh) }
func (f *factory) StartWithContext(ctx context.Context) { f.shared.StartWithContext(ctx) }
func (f *factory) InformerName() *cache.InformerName    { return f.name }

func (f *factory) Shutdown() {
	f.shared.Shutdown()
	f.name.Release()
}

func (f *factory) WaitForCacheSync(stopCh <-chan struct{}) map[reflect.Type]bool {
	return f.shared.WaitForCacheSync(stopCh)
}

func (f *factory) WaitForCacheSyncWithContext(ctx context.Context) cache.SyncResult {
	synced, err := f.shared.WaitForCacheSyncWithContext(ctx)
	return cache.SyncResult{Err: err, Synced: synced}
}

// InformerFor returns the informer of obj's type. If there is none yet, newFunc makes it,
// and the factory uses it as it is.
func (f *factory) InformerFor(obj runtime.Object,
	newFunc internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	t := reflect.TypeOf(obj)
	return f.shared.InformerFor(t, func() cache.SharedIndexInformer {
		i := newFunc(f.client, f.resyncOf(t))
		if f.transform != nil {
			_ = i.SetTransform(f.transform) // as client-go: an informer that already runs keeps its own
		}
		// client-go's informers have the method from v0.38 on.
		if s, ok := i.(interface{ SetShardSelector(sharding.Selector) error }); ok && f.shard != nil {
			_ = s.SetShardSelector(f.shard) // as above
		}
		return i
	})
}

func (f *factory) resyncOf(t reflect.Type) time.Duration {
	if period, ok := f.resync[t]; ok {
		return period
	}
	return f.defaultResync
}

// ForResource returns the informer and the lister of a resource of the clientset.
func (f *factory) ForResource(gvr schema.GroupVersionResource) (GenericInformer, error) {
	t, err := typeOf(gvr)
	if err != nil {
		return nil, fmt.Errorf("%w: client-go's clientset does not list and watch it; use a dynamic "+
			"client and package dynamicinformer", err)
	}
	return byresource.Generic(f.shared.InformerFor(t, func() cache.SharedIndexInformer {
		return f.newInformer(f.theirs(f.client, gvr, f.resyncOf(t)), f.resyncOf(t))
	}), gvr), nil
}
