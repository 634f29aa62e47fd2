package catalog

import (
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/objects"
)

// keepers are the ways to keep objects.
func keepers() []Entry {
	ours := func(name, description string, construct NewKeeper) Entry {
		return Entry{Component: contract.ComponentObjects, Name: name, Module: own,
			Description: description, Guarantees: "the whole contract", NewKeeper: construct}
	}
	plain := ours("plain", "objects as they are", func() contract.ObjectKeeper {
		return objects.Plain{}
	})
	plain.Reference = true
	return []Entry{plain}
}
