package load_test

import (
	"fmt"

	"github.com/informerbench/informerbench/load"
)

func ExampleParseWorkload() {
	_, err := load.ParseWorkload("w.yaml", []byte(`
name: mine
component: fifo
objects: {count: 0}
groups:
  - {name: consumer, op: pup, goroutines: 1}
`))
	fmt.Println(err)
	// Output:
	// w.yaml:4: objects.count: 0 is out of range: use 1 to 50000000
	// w.yaml:6: groups[0].op: unknown operation "pup" of a fifo: use one of add, add-pop, pop, replace, resync
}
