//go:build explore || degraded

package lockfree_test

import (
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/lockfree"
)

func newLockFree(ix contract.Indexers) contract.Store { return lockfree.New(ix) }
