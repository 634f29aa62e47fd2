package lockfree_test

import (
	"fmt"
	"strings"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/lockfree"
)

func Example() {
	byFirstLetter := func(obj any) ([]string, error) { return []string{obj.(string)[:1]}, nil }
	s := lockfree.New(contract.Indexers{"letter": byFirstLetter})

	s.Add("1", "ant")
	s.Transaction(
		contract.StoreTransaction{Key: "2",
			Transaction: contract.Transaction{Type: contract.TransactionTypeAdd, Object: "bee"}},
		contract.StoreTransaction{Key: "3",
			Transaction: contract.Transaction{Type: contract.TransactionTypeAdd, Object: "ape"}},
	)
	keys, err := s.IndexKeys("letter", "a")
	fmt.Println(keys, err)

	_, err = s.ByIndex("colour", "red")
	fmt.Println(strings.ReplaceAll(err.Error(), ": ", ":\n"))
	// Output:
	// [1 3] <nil>
	// reading from the store:
	// Index with name colour does not exist:
	// give it to the constructor or to AddIndexers
}
