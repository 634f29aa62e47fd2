package rows_test

import (
	"testing"

	"go.uber.org/goleak"

	"example.com/peer-stores/memdb"
	"example.com/peer-stores/statedb"

	"github.com/informerbench/informerbench/conformance/storetest"
	"github.com/informerbench/informerbench/contract"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStateDB(t *testing.T) {
	storetest.Run(t, func(ix contract.Indexers) contract.Store { return statedb.New(ix) },
		storetest.Waive("STORE-49", statedb.Quadratic))
}

func TestMemDB(t *testing.T) {
	storetest.Run(t, func(ix contract.Indexers) contract.Store { return memdb.New(ix) })
}
