package concurrentmap_test

import (
	"fmt"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/peers/concurrentmap"
)

func Example() {
	s := concurrentmap.NewXSync(contract.Indexers{"words": words})
	s.Add("1", "the cat")
	s.Add("2", "the dog")
	keys, err := s.IndexKeys("words", "the")
	fmt.Println(len(s.List()), keys, err)
	// Output: 2 [1 2] <nil>
}
