// Command peer-stores is benchrun with other projects' stores and way to keep objects beside the
// implementations that it knows:
//
//	go run . run --preset stores --impl 'clientgo,lockfree,statedb,memdb'
//	go run . run --preset objects --impl 'clientgo,interned,packed,protobuf,mappedfile'
package main

import (
	"fmt"
	"os"

	"example.com/peer-stores/mappedfile"
	"example.com/peer-stores/memdb"
	"example.com/peer-stores/statedb"

	"github.com/informerbench/informerbench/cmd/benchrun/benchcmd"
)

func main() {
	entries := []benchcmd.Entry{
		benchcmd.Store("statedb", statedb.New,
			benchcmd.Description("cilium/statedb: immutable radix trees and revisions; readers take no "+
				"lock, a write copies paths"),
			benchcmd.Waive("STORE-49", statedb.Quadratic)),
		benchcmd.Store("memdb", memdb.New,
			benchcmd.Description("hashicorp/go-memdb: immutable radix trees; readers take no lock, a "+
				"write copies paths")),
	}
	if _, err := mappedfile.New(""); err != nil {
		fmt.Fprintf(os.Stderr, "peer-stores: mappedfile is left out: %v\n", err)
	} else {
		entries = append(entries, benchcmd.Keeper("mappedfile", newMappedFile,
			benchcmd.Description("protobuf in mapped files, decoded at every read (kubernetes#141683); "+
				"the heap's bytes are without those of the files"),
			benchcmd.Waive("OBJECT-1", mappedfile.Loses),
			benchcmd.Waive("OBJECT-4", mappedfile.Decodes),
			benchcmd.Waive("OBJECT-6", mappedfile.Decodes)))
	}
	benchcmd.Main(entries...)
}

func newMappedFile() *mappedfile.Keeper {
	k, err := mappedfile.New("")
	if err != nil {
		panic(err) // main has tried it
	}
	return k
}
