package deltafifo_test

import (
	"testing"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

// TestLen: an event is counted until it is taken out, whether or not the consumer has
// folded it. While it is processed it is counted no more.
func TestLen(t *testing.T) {
	t.Parallel()
	type lengther interface {
		contract.FIFO
		Len() int
	}
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	config := contract.FIFOConfig{KnownObjects: known}
	for name, c := range map[string]struct {
		f lengther
		// after an Update of what waits, after a list of three, after the first Pop
		twice, listed, left int
	}{
		// nobody has looked yet
		"Coalescing": {deltafifo.NewCoalescing(config, deltafifo.Options{}), 3, 3, 2},
		"InOrder":    {deltafifo.NewInOrder(config, deltafifo.Options{}), 3, 6, 5},
		"atomic":     {deltafifo.NewInOrder(config, deltafifo.Options{Atomic: true}), 3, 4, 3},
	} {
		key := func(s string) any { return contract.ExplicitKey(s) }
		check := func(when string, want int) {
			t.Helper()
			if got := c.f.Len(); got != want {
				t.Errorf("%s: %s: %d wait, want %d", name, when, got, want)
			}
		}
		check("at first", 0)
		for i, err := range []error{c.f.Add(key("a")), c.f.Add(key("b")), c.f.Update(key("a"))} {
			if err != nil {
				t.Fatalf("call %d: %v", i, err)
			}
		}
		check("an update", c.twice)
		if err := c.f.Replace([]any{key("a"), key("b"), key("c")}, "1"); err != nil {
			t.Fatal(err)
		}
		check("a list", c.listed)
		_, err := c.f.Pop(func(any, bool) error {
			check("while the first is processed", c.left)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		check("after the first", c.left)
		for range c.left {
			if _, err := c.f.Pop(func(any, bool) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		check("in the end", 0)
	}
}
