//go:build explore || degraded

package stores

import (
	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/core/impl/lockfree"
)

func newLockFree(ix contract.Indexers) contract.Store { return lockfree.New(ix) }
