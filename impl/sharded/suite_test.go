package sharded_test

import (
	"fmt"
	"testing"

	"github.com/informerbench/informerbench/conformance/storetest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/sharded"
)

// One shard has lists of several chunks even of the suite's few objects; of 64
// shards most hold nothing, and a read notes more lists than it has room for.
func TestSharded(t *testing.T) {
	for shards, effort := range map[int]float64{0: 0.3, 1: 0.05, 64: 0.05} {
		t.Run(fmt.Sprintf("shards=%d", shards), func(t *testing.T) {
			storetest.Run(t, func(ix contract.Indexers) contract.Store {
				return sharded.New(ix, sharded.Options{Shards: shards})
			}, suite.WithEffort(effort))
		})
	}
}
