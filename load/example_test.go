package load_test

import (
	"fmt"

	"github.com/informerbench/informerbench/load"
)

func ExampleParseWorkload() {
	_, err := load.ParseWorkload("mine.yaml", []byte(`
name: mine
component: store
objects: {count: 0}
groups:
  - {name: readers, op: lst, goroutines: 4}
`))
	fmt.Println(err)
	// Output:
	// mine.yaml:4: objects.count: 0 is out of range: use 1 to 50000000
	// mine.yaml:6: groups[0].op: unknown operation "lst" of a store: use one of get, list, list-keys,
	// by-index, index, index-keys, update, update-index, add-delete, replace, transaction
}
