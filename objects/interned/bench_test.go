package interned_test

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/informerbench/informerbench/objects/interned"
)

var podCount = flag.Int("pods", 20_000, "pods of BenchmarkBytes")

// BenchmarkKeep times decoding alone and with Keep in turns, of pods that come again and again
// in new memory: the medians. ratio is what decoding with Keep takes of decoding alone.
//
//	go test -run - -bench Keep ./objects/interned
func BenchmarkKeep(b *testing.B) {
	for _, own := range []bool{false, true} {
		for _, c := range codecs {
			b.Run(fmt.Sprintf("own=%t/%s", own, c.name), func(b *testing.B) {
				encoded := c.encodeAll(podsOf(2_000, own))
				keeper := interned.New(interned.Options{})
				kept := make([]any, len(encoded))
				for i, e := range encoded {
					kept[i] = keeper.Keep(c.decode(e))
				}
				b.ReportAllocs()
				b.ResetTimer()
				const turn = 1
				var plain, with []float64
				for i := 0; i < b.N; i += turn {
					start := time.Now()
					for j := range turn {
						kept[(i+j)%len(kept)] = c.decode(encoded[(i+j)%len(kept)])
					}
					middle := time.Now()
					for j := range turn {
						kept[(i+j)%len(kept)] = keeper.Keep(c.decode(encoded[(i+j)%len(kept)]))
					}
					plain = append(plain, float64(middle.Sub(start).Nanoseconds())/turn)
					with = append(with, float64(time.Since(middle).Nanoseconds())/turn)
				}
				slices.Sort(plain)
				slices.Sort(with)
				n := len(plain) / 2
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(plain[n], "plain-ns")
				b.ReportMetric(with[n], "kept-ns")
				b.ReportMetric(with[n]/plain[n], "ratio")
			})
		}
	}
}

// BenchmarkBytes measures the heap of pods that are decoded each from bytes of its own, plain and
// kept. The pool counts with what is kept.
//
//	go test -run - -bench Bytes -benchtime 1x ./objects/interned -args -pods 100000
func BenchmarkBytes(b *testing.B) {
	for _, own := range []bool{false, true} {
		for _, c := range codecs {
			b.Run(fmt.Sprintf("own=%t/%s", own, c.name), func(b *testing.B) {
				encoded := c.encodeAll(podsOf(*podCount, own))
				measure := func(keep func(any) any) (bytes, objects float64) {
					bytes, objects = heap()
					kept := make([]any, len(encoded))
					for i, e := range encoded {
						kept[i] = keep(c.decode(e))
					}
					bytesAfter, objectsAfter := heap()
					runtime.KeepAlive(kept)
					n := float64(len(encoded))
					return (bytesAfter - bytes) / n, (objectsAfter - objects) / n
				}
				for b.Loop() {
					plain, plainObjects := measure(func(obj any) any { return obj })
					keeper := interned.New(interned.Options{})
					kept, keptObjects := measure(keeper.Keep)
					pool := keeper.PoolSize()
					runtime.KeepAlive(keeper)
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(plain, "plain-B")
					b.ReportMetric(kept, "kept-B")
					b.ReportMetric(kept/plain, "ratio")
					b.ReportMetric(plainObjects, "plain-objects")
					b.ReportMetric(keptObjects, "kept-objects")
					b.ReportMetric(float64(pool), "pooled")
				}
			})
		}
	}
}
