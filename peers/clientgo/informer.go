package clientgo

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
)

// NewInformer returns client-go's shared informer as it is. It goes by the system's
// clock, or by that of the testing/synctest bubble that it lives in.
func NewInformer(lw cache.ListerWatcher, exampleObject runtime.Object, resyncPeriod time.Duration,
	indexers contract.Indexers) cache.SharedIndexInformer {
	return cache.NewSharedIndexInformer(lw, exampleObject, resyncPeriod, indexers)
}
