package advise_test

import (
	"fmt"

	"github.com/informerbench/informerbench/advise"
)

func ExampleTable_Advise() {
	load := advise.Load{Reads: advise.ReadList}.
		With(advise.Objects, 50_000).With(advise.Readers, 10).With(advise.Writes, 2_000)
	for _, a := range advise.Rules().Advise(advise.Question{Load: load}) {
		fmt.Printf("%s: %s %q\n", a.Component, a.Decision, a.Use)
	}
	// Output:
	// store: use "lockfree"
	// fifo: use "inorder-atomic"
	// delay: measure ""
	// queue: measure ""
	// informer: use "informerbench"
}
