package bench

// go test -bench over the whole catalog, by what package bench offers for one
// implementation.
//
//	go test -run='^$' -bench=. ./bench
//	go test -run='^$' -bench='Store/op=list/' -count=10 ./bench | go tool benchstat -col /impl -

import (
	"testing"

	"github.com/informerbench/informerbench/bench/catalog"
	"github.com/informerbench/informerbench/contract"
)

func BenchmarkStore(b *testing.B)    { benchmark(b, contract.ComponentStore) }
func BenchmarkFIFO(b *testing.B)     { benchmark(b, contract.ComponentFIFO) }
func BenchmarkDelay(b *testing.B)    { benchmark(b, contract.ComponentDelay) }
func BenchmarkQueue(b *testing.B)    { benchmark(b, contract.ComponentQueue) }
func BenchmarkInformer(b *testing.B) { benchmark(b, contract.ComponentInformer) }

func benchmark(b *testing.B, c contract.Component) {
	measure(b, entries(b, c))
}

func entries(b *testing.B, c contract.Component) []catalog.Entry {
	b.Helper()
	all, err := catalog.Select([]string{string(c)}, nil)
	if err != nil {
		b.Fatal(err)
	}
	return all
}
