package deltafifo

// The time of Add then Pop, beside that of a FIFO that does only what each must do. make turns
// runs it and keeps what it prints.

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/internal/inturns"
)

// bare is what each FIFO does at least: it computes the key, keeps the object under a lock that
// it takes twice, and hands out Deltas of one delta. It holds one event and can do nothing
// else: no order, no merging, no waiting, no HasSynced.
type bare struct {
	keys keyer
	mu   sync.Mutex
	ev   event
	out  boxPool
}

func (f *bare) Add(obj any) error {
	key, err := f.keys.of(obj)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.ev = event{key: key, obj: obj}
	f.mu.Unlock()
	return nil
}

func (f *bare) Pop(process contract.PopProcessFunc) (any, error) {
	f.mu.Lock()
	item := f.out.one(f.ev.delta())
	f.ev = event{}
	f.mu.Unlock()
	return item, process(item, false)
}

// BenchmarkAddPopInTurns reports the times of Add then Pop to those of client-go's DeltaFIFO:
// one goroutine, over more objects than a cache holds.
func BenchmarkAddPopInTurns(b *testing.B) {
	objs := make([]any, 100_000)
	for i := range objs {
		objs[i] = &metav1.PartialObjectMetadata{
			ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprint("namespace-", i%50),
				Name: fmt.Sprint("pod-", i)}}
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(objs), func(i, j int) {
		objs[i], objs[j] = objs[j], objs[i]
	})
	process := func(any, bool) error { return nil }
	var runs []inturns.Run
	for _, c := range []struct {
		name string
		fifo interface {
			Add(obj any) error
			Pop(process contract.PopProcessFunc) (any, error)
		}
	}{
		{"clientgo", cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{})},
		{"coalescing", NewCoalescing(contract.FIFOConfig{}, Options{})},
		{"inorder-atomic", NewInOrder(contract.FIFOConfig{}, Options{Atomic: true})},
		{"bare", &bare{keys: newKeyer(nil)}},
	} {
		runs = append(runs, inturns.Run{Name: c.name, Round: func(int) {
			for _, obj := range objs {
				if err := c.fifo.Add(obj); err != nil {
					b.Fatal(err)
				}
				if _, err := c.fifo.Pop(process); err != nil {
					b.Fatal(err)
				}
			}
		}})
	}
	inturns.Compare(b, runs...)
}
