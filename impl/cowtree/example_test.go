package cowtree_test

import (
	"fmt"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/cowtree"
)

func Example() {
	s := cowtree.New(contract.Indexers{"words": words})
	s.Add("2", "the dog")
	s.Add("1", "the cat")
	s.Add("3", "a dog")

	// Trees are in order: so is everything that is read.
	fmt.Println(s.List(), s.ListIndexFuncValues("words"))
	dogs, err := s.ByIndex("words", "dog")
	fmt.Println(dogs, err)
	// Output:
	// [the cat the dog a dog] [a cat dog the]
	// [the dog a dog] <nil>
}
