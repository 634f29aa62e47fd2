package catalog

import (
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/lockfree"
	"github.com/informerbench/informerbench/objects"
	"github.com/informerbench/informerbench/objects/interned"
	"github.com/informerbench/informerbench/objects/packed"
	"github.com/informerbench/informerbench/peers/atrest"
	"github.com/informerbench/informerbench/peers/clientgo"
)

// keepers are the ways to keep objects.
func keepers() []Entry {
	ours := func(name, description string, construct NewKeeper) Entry {
		return Entry{Component: contract.ComponentObjects, Name: name, Module: own,
			Description: description, Guarantees: "the whole contract", NewKeeper: construct,
			Under: func(ix contract.Indexers) contract.Store { return lockfree.New(ix) }}
	}
	plain := ours("plain", "objects as they are, in our lockfree store",
		func() contract.ObjectKeeper { return objects.Plain{} })
	reference := plain
	reference.Name, reference.Module = "clientgo", clientgo.ClientGoModule
	reference.Under = clientgo.NewStore
	reference.Description, reference.Reference = "objects as they are, in client-go's store", true
	atRest := func(name, description string, construct NewKeeper) Entry {
		e := study(ours(name, description, construct))
		e.Guarantees = "the contract but for the waived clauses"
		e.Waivers = []Waiver{
			{"OBJECT-1", "its encoding loses fields that JSON leaves out, or parts of a second"},
			{"OBJECT-4", "each read decodes anew, as in the proposal"},
			{"OBJECT-6", "each read decodes anew, as in the proposal"},
		}
		return e
	}
	cbor := atRest("cbor", "CBOR, decoded at every read (kubernetes#141341)",
		func() contract.ObjectKeeper { return atrest.NewCBOR() })
	cbor.Waivers = append(cbor.Waivers, Waiver{"OBJECT-5", "it rewrites the JSON of managed fields"})
	return []Entry{reference, plain,
		ours("interned", "equal parts of objects once, by hash-consing: reads are as fast as plain's",
			func() contract.ObjectKeeper { return interned.New(interned.Options{}) }),
		ours("packed", "compressed bytes, decoded at a read of what no reader holds",
			func() contract.ObjectKeeper { return packed.New(packed.Options{}) }),
		atRest("protobuf", "protobuf, decoded at every read (kubernetes#138342)",
			func() contract.ObjectKeeper { return atrest.NewProtobuf() }),
		cbor,
		atRest("gzip", "JSON with gzip, decoded at every read (argo-cd#28600)",
			func() contract.ObjectKeeper { return atrest.NewGzip() }),
	}
}
