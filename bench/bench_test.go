package bench_test

// The entry points of go test -bench: the loops of package bench over the whole
// catalog, under names that benchstat and benchproc project by key.
//
//	go test -run='^$' -bench=. ./bench
//	go test -run='^$' -bench='Store/op=list/' -count=10 ./bench | benchstat -col /impl -

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/informerbench/informerbench/bench/internal/engine"
	"github.com/informerbench/informerbench/bench/internal/subject"
	"github.com/informerbench/informerbench/catalog"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/load"
)

// The size of every component under go test -bench, so small that all benchmarks run in
// some minutes. benchrun's presets use larger sizes.
const (
	benchObjects = 10_000
	benchWaiting = 10_000
	benchListers = 4
)

func BenchmarkStore(b *testing.B)    { benchmark(b, contract.ComponentStore) }
func BenchmarkFIFO(b *testing.B)     { benchmark(b, contract.ComponentFIFO) }
func BenchmarkDelay(b *testing.B)    { benchmark(b, contract.ComponentDelay) }
func BenchmarkQueue(b *testing.B)    { benchmark(b, contract.ComponentQueue) }
func BenchmarkInformer(b *testing.B) { benchmark(b, contract.ComponentInformer) }

// contests measure one operation while goroutines do another.
var contests = []struct {
	component  contract.Component
	op, others load.Op
	goroutines int // that do the other operation
}{
	{contract.ComponentStore, load.OpUpdate, load.OpList, benchListers},
	{contract.ComponentFIFO, load.OpAdd, load.OpPop, 1},
	{contract.ComponentQueue, load.OpAdd, load.OpGetDone, benchListers},
	{contract.ComponentInformer, load.OpDeliver, load.OpListNamespace, benchListers},
}

// BenchmarkContended measures a writer against readers, and producers against
// consumers.
func BenchmarkContended(b *testing.B) {
	for _, c := range contests {
		w := workload(c.component)
		objects := load.Generate(w.Objects, w.Seed)
		for _, e := range entries(b, c.component) {
			name := fmt.Sprintf("component=%s/op=%s/impl=%s/objects=%d/others=%s/goroutines=%d", c.component, c.op, e.Name, w.Objects.Count, c.others, c.goroutines)
			b.Run(name, func(b *testing.B) {
				s := filled(b, e, objects, w)
				measured := actor(b, s, c.op, load.Group{Name: "measured", Goroutines: 1}, 0)
				var stop atomic.Bool
				var others sync.WaitGroup
				for who := range c.goroutines {
					other := actor(b, s, c.others, load.Group{Name: "others", Goroutines: c.goroutines, Batch: 1}, who)
					others.Go(func() {
						for !stop.Load() && other.Loop(1) > 0 {
						}
					})
				}
				b.ReportAllocs()
				b.ResetTimer()
				for done := 0; done < b.N; {
					n := b.N - done
					if measured.Chunk > 0 {
						n = min(n, measured.Chunk)
					}
					measured.Loop(n)
					done += n
				}
				b.StopTimer()
				stop.Store(true)
				s.Stop()
				others.Wait()
			})
		}
	}
}

func benchmark(b *testing.B, c contract.Component) {
	w := workload(c)
	objects := load.Generate(w.Objects, w.Seed)
	for _, op := range load.Operations(c) {
		if !op.Single {
			continue
		}
		for _, e := range entries(b, c) {
			for _, goroutines := range widths(c) {
				name := fmt.Sprintf("op=%s/impl=%s/objects=%d/goroutines=%d", op.Op, e.Name, w.Objects.Count, goroutines)
				b.Run(name, func(b *testing.B) { operation(b, filled(b, e, objects, w), op.Op, goroutines) })
			}
		}
	}
}

// widths are the numbers of goroutines with which each operation is measured: a delay heap
// has one owner, and a FIFO one consumer.
func widths(c contract.Component) []int {
	if n := runtime.GOMAXPROCS(0); n > 1 && c != contract.ComponentDelay && c != contract.ComponentFIFO {
		return []int{1, n}
	}
	return []int{1}
}

// operation does b.N operations on each goroutine. ns/op therefore stays the same if the
// goroutines do not hinder each other.
func operation(b *testing.B, s engine.Subject, op load.Op, goroutines int) {
	var actors []engine.Actor
	for who := range goroutines {
		actors = append(actors, actor(b, s, op, load.Group{Goroutines: goroutines}, who))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; {
		n := b.N - done
		for _, a := range actors {
			if a.Chunk > 0 {
				n = min(n, a.Chunk)
			}
		}
		b.StopTimer()
		for _, a := range actors {
			if a.Prepare != nil {
				a.Prepare(n)
			}
		}
		b.StartTimer()
		var wg sync.WaitGroup
		for _, a := range actors[1:] {
			wg.Go(func() { a.Loop(n) })
		}
		actors[0].Loop(n)
		wg.Wait()
		done += n
	}
}

func actor(b *testing.B, s engine.Subject, op load.Op, g load.Group, who int) engine.Actor {
	b.Helper()
	a, err := s.Actor(op, g, who)
	if errors.Is(err, engine.ErrUnsupported) {
		b.Skip(err)
	}
	if err != nil {
		b.Fatal(err)
	}
	return a
}

func filled(b *testing.B, e catalog.Entry, objects *load.Objects, w load.Workload) engine.Subject {
	b.Helper()
	s, err := subject.New(e, objects, w)
	if err != nil {
		b.Fatal(err)
	}
	s.Fill()
	b.Cleanup(s.Stop)
	return s
}

func entries(b *testing.B, c contract.Component) []catalog.Entry {
	b.Helper()
	all, err := catalog.Select([]string{string(c)}, nil)
	if err != nil {
		b.Fatal(err)
	}
	return all
}

func workload(c contract.Component) load.Workload {
	w := load.Workload{Name: "bench", Component: c, Objects: load.ObjectSpec{Count: benchObjects}}
	if c == contract.ComponentDelay {
		w.Waiting, w.Ahead = benchWaiting/2, 10*time.Minute
	}
	return w.WithDefaults()
}
