package sharded_test

import (
	"fmt"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/sharded"
)

func Example() {
	s := sharded.New(contract.Indexers{"words": words}, sharded.Options{Shards: 8})
	s.Add("1", "the cat")
	s.Add("2", "the dog")

	before := s.List()
	s.Update("2", "a dog")
	fmt.Println(len(before), "objects are held, and the writer went on")

	keys, err := s.IndexKeys("words", "the")
	fmt.Println(keys, err)
	// Output:
	// 2 objects are held, and the writer went on
	// [1] <nil>
}
