package delaytest_test

import (
	"fmt"
	"time"

	"github.com/informerbench/informerbench/conformance/delaytest"
	"github.com/informerbench/informerbench/contract"
)

// forgetful is a DelayHeap that holds one item.
type forgetful struct {
	item    string
	readyAt time.Time
	full    bool
}

func (f *forgetful) Add(item string, readyAt time.Time) {
	f.item, f.readyAt, f.full = item, readyAt, true
}
func (f *forgetful) Next() (time.Time, bool) { return f.readyAt, f.full }
func (f *forgetful) Len() int                { return 1 }
func (f *forgetful) PopReady(now time.Time) (string, bool) {
	if !f.full || f.readyAt.After(now) {
		return "", false
	}
	f.full = false
	return f.item, true
}

func ExampleCheck() {
	err := delaytest.Check(func() contract.DelayHeap[string] { return &forgetful{} })
	fmt.Println("it passes:", err == nil)
	// Output: it passes: false
}
