package mutants_test

import (
	"context"
	"fmt"

	"github.com/informerbench/informerbench/conformance/mutants"
)

// The score of one suite: how many of the mistakes that it must find it finds.
func ExampleScore() {
	for _, row := range mutants.Score(mutants.Try(context.Background(), mutants.Limiters())) {
		fmt.Printf("%s: %d of %d caught\n", row.Component, row.Caught, row.Total)
		for _, survivor := range row.Survivors {
			fmt.Println(survivor)
		}
	}
	// Output: limiter: 10 of 10 caught
}
