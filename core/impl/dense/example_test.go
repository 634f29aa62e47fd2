package dense_test

import (
	"fmt"

	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/core/impl/dense"
)

func Example() {
	byFirstLetter := func(obj any) ([]string, error) { return []string{obj.(string)[:1]}, nil }
	s := dense.New(contract.Indexers{"letter": byFirstLetter})
	s.Add("1", "ant")
	s.Add("2", "bee")
	s.Add("3", "ape")

	// Removal swaps the last object into the hole, so the list has no order.
	s.Delete("1")
	fmt.Println(s.List())
	keys, err := s.IndexKeys("letter", "a")
	fmt.Println(keys, err)
	// Output:
	// [ape bee]
	// [3] <nil>
}
