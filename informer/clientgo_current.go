//go:build !next

package informer

import (
	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/client-go/tools/cache"
)

// shardSelectorOf is nil: client-go has the option from v0.38 on (build tag next).
func shardSelectorOf(cache.SharedIndexInformerOptions) sharding.Selector { return nil }
