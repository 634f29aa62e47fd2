package ratelimit_test

import (
	"fmt"
	"time"

	"github.com/informerbench/informerbench/queue/ratelimit"
)

func ExampleItemExponentialFailure() {
	l := ratelimit.NewItemExponentialFailure[string](5*time.Millisecond, time.Second)
	for range 3 {
		fmt.Println(l.When("default/web"))
	}
	l.Forget("default/web") // it succeeded
	fmt.Println(l.When("default/web"))
	// Output:
	// 5ms
	// 10ms
	// 20ms
	// 5ms
}
