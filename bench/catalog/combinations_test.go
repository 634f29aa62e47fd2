package catalog

import (
	"testing"

	"github.com/informerbench/informerbench/conformance/informertest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/informer"
)

// This project's informer works over every store and every FIFO of the catalog, not only
// over those that share an entry.
func TestInformerOverEveryStoreAndFIFO(t *testing.T) {
	stores, err := Select([]string{string(contract.ComponentStore)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fifos, err := Select([]string{string(contract.ComponentFIFO)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stores {
		for _, f := range fifos {
			t.Run(s.Name+"+"+f.Name, func(t *testing.T) {
				newInformer := informer.Func(informer.Options{NewStore: s.NewStore, NewFIFO: f.NewFIFO})
				clauses := suite.Only("INFORMER-1", "INFORMER-7", "INFORMER-9", "INFORMER-11", "INFORMER-22",
					"INFORMER-29")
				if err := informertest.Check(newInformer, clauses, informertest.Histories(10)); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
