// Package cache is controller-runtime's pkg/cache whose caches have our informers. It is here to
// run controller-runtime's own tests of its cache on them; a program sets the option NewInformer.
package cache

import (
	"k8s.io/client-go/rest"
	theirs "sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/informerbench/informerbench/dropin/cache"
)

// New is controller-runtime's, with our informer where the options name none.
func New(cfg *rest.Config, opts Options) (Cache, error) {
	if opts.NewInformer == nil {
		opts.NewInformer = cache.NewSharedIndexInformer
	}
	return theirs.New(cfg, opts)
}
