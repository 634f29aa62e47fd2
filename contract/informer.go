package contract

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// NewInformer makes an informer that has not been started. client-go's
// cache.NewSharedIndexInformer has this signature, and so has the function that
// controller-runtime's cache.Options.NewInformer points to.
type NewInformer = func(lw cache.ListerWatcher, exampleObject runtime.Object,
	resyncPeriod time.Duration, indexers Indexers) cache.SharedIndexInformer
