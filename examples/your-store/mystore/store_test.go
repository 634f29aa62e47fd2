package mystore_test

import (
	"testing"

	"example.com/your-store/mystore"

	"github.com/informerbench/informerbench/bench"
	"github.com/informerbench/informerbench/conformance/storetest"
	"github.com/informerbench/informerbench/contract"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(ix contract.Indexers) contract.Store { return mystore.New(ix) })
}

func BenchmarkStore(b *testing.B) { bench.Store(b, mystore.New) }
