// Command your-store is benchrun with mystore beside the implementations that it knows:
//
//	go run . run --component store --impl 'clientgo,lockfree,mystore'
package main

import (
	"example.com/your-store/mystore"

	"github.com/informerbench/informerbench/cmd/benchrun/benchcmd"
)

func main() {
	benchcmd.Main(benchcmd.Store("mystore", mystore.New,
		benchcmd.Description(
			"one RWMutex and one map, the index values beside each object: cheap writes; ByIndex looks "+
				"at every object")))
}
