package catalog

import (
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/lockfree"
	"github.com/informerbench/informerbench/objects"
	"github.com/informerbench/informerbench/peers/clientgo"
)

// keepers are the ways to keep objects.
func keepers() []Entry {
	ours := func(name, description string, construct NewKeeper) Entry {
		return Entry{Component: contract.ComponentObjects, Name: name, Module: own,
			Description: description, Guarantees: "the whole contract", NewKeeper: construct,
			Under: func(ix contract.Indexers) contract.Store { return lockfree.New(ix) }}
	}
	plain := ours("plain", "objects as they are, in our lockfree store", func() contract.ObjectKeeper {
		return objects.Plain{}
	})
	reference := plain
	reference.Name, reference.Module = "clientgo", clientgo.ClientGoModule
	reference.Under = clientgo.NewStore
	reference.Description, reference.Reference = "objects as they are, in client-go's store", true
	return []Entry{reference, plain}
}
