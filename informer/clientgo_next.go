//go:build next

package informer

import (
	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/client-go/tools/cache"
)

func shardSelectorOf(options cache.SharedIndexInformerOptions) sharding.Selector {
	return options.ShardSelector
}
