package delay_test

// To choose between designs; the numbers that count are the harness's (presets
// delay-million and delay-scaling).
//
//	go -C core test -run='^$' -bench=. -count=5 ./queue/delay | go tool benchstat -col /impl -

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/peers/clientgo"
)

var benchSizes = []int{1_000, 100_000, 1_000_000}

// compared are the package's structures and the peers.
func compared() []structure[string] {
	var out []structure[string]
	for _, s := range structures[string]() {
		switch s.name {
		case "wheel of nanoseconds":
			s.name = "bucketwheel"
		case "wheel of milliseconds":
			s.name = "wheel"
		case "wheel of 7 s", "wheel of minutes":
			continue
		}
		out = append(out, s)
	}
	return append(out,
		structure[string]{"containerheap", 0, clientgo.NewContainerHeap[string]},
		structure[string]{"btree", 0, clientgo.NewBTree[string]})
}

// BenchmarkHold takes the earliest item out and adds it again, as many waiting as before.
func BenchmarkHold(b *testing.B) {
	each(b, func(b *testing.B, h contract.DelayHeap[string], rnd *rand.Rand, _ []string) {
		for b.Loop() {
			now, _ := h.Next()
			item, _ := h.PopReady(now)
			h.Add(item, now.Add(time.Duration(rnd.Int64N(int64(10*time.Minute)))))
		}
	})
}

// BenchmarkEarlier moves items, each to a random place among the first: each lap is ten
// minutes earlier than the one before.
func BenchmarkEarlier(b *testing.B) {
	each(b, func(b *testing.B, h contract.DelayHeap[string], rnd *rand.Rand, items []string) {
		from, i := time.Now(), 0
		for b.Loop() {
			if i%len(items) == 0 {
				from = from.Add(-10 * time.Minute)
			}
			h.Add(items[i*7919%len(items)], from.Add(time.Duration(rnd.Int64N(int64(10*time.Minute)))))
			i++
		}
	})
}

// BenchmarkFillAndDrain adds all items and takes all out: the time is for one of each.
func BenchmarkFillAndDrain(b *testing.B) {
	for _, n := range benchSizes {
		items := names(n)
		for _, s := range compared() {
			b.Run(fmt.Sprintf("waiting=%d/impl=%s", n, s.name), func(b *testing.B) {
				for b.Loop() {
					h := s.construct()
					fill(h, items, time.Now(), 10*time.Minute)
					for h.Len() > 0 {
						now, _ := h.Next()
						h.PopReady(now)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/item")
			})
		}
	}
}

// BenchmarkMemory tells what an item takes.
func BenchmarkMemory(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 300_000, 1_000_000} {
		items := names(n)
		for _, s := range compared() {
			b.Run(fmt.Sprintf("waiting=%d/impl=%s", n, s.name), func(b *testing.B) {
				for b.Loop() {
					before := inUse()
					h := s.construct()
					fill(h, items, time.Now(), 10*time.Minute)
					b.ReportMetric(float64(inUse()-before)/float64(n), "B/item")
					runtime.KeepAlive(h)
				}
			})
		}
	}
}

func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func each(b *testing.B, f func(b *testing.B, h contract.DelayHeap[string], rnd *rand.Rand,
	items []string)) {
	for _, n := range benchSizes {
		items := names(n)
		for _, s := range compared() {
			b.Run(fmt.Sprintf("waiting=%d/impl=%s", n, s.name), func(b *testing.B) {
				h := s.construct()
				fill(h, items, time.Now(), 10*time.Minute)
				b.ReportAllocs()
				f(b, h, rand.New(rand.NewPCG(3, 4)), items)
			})
		}
	}
}
