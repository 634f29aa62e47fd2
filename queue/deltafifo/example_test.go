package deltafifo_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/queue/deltafifo"
)

// A consumer applies what it pops to the store that the FIFO knows.
func ExampleNewCoalescing() {
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	fifo := deltafifo.NewCoalescing(contract.FIFOConfig{KnownObjects: store}, deltafifo.Options{})

	object := func(name string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	check := func(err error) {
		if err != nil {
			fmt.Println(err)
		}
	}
	check(fifo.Replace([]any{object("a"), object("b")}, "1"))
	check(fifo.Update(object("a")))
	check(fifo.Delete(object("b")))
	fifo.Close()

	for {
		_, err := fifo.Pop(func(item any, isInInitialList bool) error {
			for _, delta := range item.(contract.Deltas) {
				key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(delta.Object)
				fmt.Println(delta.Type, key, isInInitialList)
				if err != nil {
					return err
				}
				if delta.Type == contract.Deleted {
					err = store.Delete(delta.Object)
				} else {
					err = store.Add(delta.Object)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			fmt.Println(err)
			break
		}
	}
	fmt.Println(store.ListKeys(), fifo.HasSynced())
	// Output:
	// Replaced a true
	// Updated a true
	// Replaced b true
	// Deleted b true
	// DeltaFIFO: manipulating with closed queue
	// [a] true
}

// A consumer that takes batches gets what waits in few calls, and may itself feed
// the FIFO: no lock is held while it works.
func ExampleNewInOrder() {
	fifo := deltafifo.NewInOrder(contract.FIFOConfig{}, deltafifo.Options{Atomic: true})
	key := func(name string) any { return contract.ExplicitKey(name) }
	check := func(err error) {
		if err != nil {
			fmt.Println(err)
		}
	}
	check(fifo.Replace([]any{key("a"), key("b")}, "1"))
	check(fifo.Add(key("c")))
	check(fifo.Update(key("d")))
	check(fifo.Update(key("c")))

	one := func(item any, isInInitialList bool) error {
		delta := item.(contract.Deltas)[0]
		fmt.Println("alone:", delta.Type, isInInitialList)
		if delta.Type == contract.ReplacedAll {
			return fifo.Add(key("e"))
		}
		return nil
	}
	batch := func(deltas []contract.Delta, _ bool) error {
		for _, delta := range deltas {
			fmt.Println("together:", delta.Type, delta.Object)
		}
		return nil
	}
	for range 3 {
		check(fifo.PopBatch(batch, one))
	}
	fmt.Println(fifo.HasSynced())
	// Output:
	// alone: ReplacedAll true
	// together: Added c
	// together: Updated d
	// together: Updated c
	// together: Added e
	// true
}
