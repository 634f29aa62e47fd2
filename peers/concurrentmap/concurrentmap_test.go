package concurrentmap_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/informerbench/informerbench/conformance/storetest"
	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/peers/concurrentmap"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// eachMap runs a test with both maps.
func eachMap(t *testing.T, test func(t *testing.T,
	newStore func(contract.Indexers) *concurrentmap.Store)) {
	t.Run("sync", func(t *testing.T) { test(t, concurrentmap.NewSync) })
	t.Run("xsync", func(t *testing.T) { test(t, concurrentmap.NewXSync) })
}

func TestConformance(t *testing.T) {
	eachMap(t, func(t *testing.T, newStore func(contract.Indexers) *concurrentmap.Store) {
		storetest.Run(t, func(ix contract.Indexers) contract.Store { return newStore(ix) },
			storetest.Waive("STORE-7", "List walks the map while writers go on"),
			storetest.Waive("STORE-8", "ListKeys walks the map while writers go on"),
			storetest.Waive("STORE-35", "List is no single instant"),
			storetest.Waive("STORE-38", "List sees the writes of a Transaction one by one"),
			suite.WithEffort(0.1),
		)
	})
}

// List takes no lock. It still lists no key twice, lists every key that is stored
// throughout, and after Replace nothing of the former content.
func TestListBesideWriters(t *testing.T) {
	t.Parallel()
	eachMap(t, func(t *testing.T, newStore func(contract.Indexers) *concurrentmap.Store) {
		s := newStore(contract.Indexers{"words": words})
		const stay = 200
		for i := range stay {
			s.Add(fmt.Sprint("stays", i), fmt.Sprint("stays", i))
		}
		var wg sync.WaitGroup
		stop := make(chan struct{})
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				// The map grows and shrinks around those that stay.
				key := fmt.Sprint("comes", i%1000)
				s.Add(key, key)
				s.Delete(fmt.Sprint("comes", (i+500)%1000))
				s.Update(fmt.Sprint("stays", i%stay), fmt.Sprint("stays", i%stay))
			}
		})
		for range 200 {
			seen := map[any]int{}
			for _, obj := range s.List() {
				seen[obj]++
				if seen[obj] > 1 {
					t.Errorf("List has %v twice", obj)
				}
			}
			for i := range stay {
				if seen[fmt.Sprint("stays", i)] == 0 {
					t.Errorf("List lacks stays%d, which was there throughout", i)
				}
			}
			if t.Failed() {
				break
			}
		}
		close(stop)
		wg.Wait()
		s.Replace(map[string]any{"new": "new"}, "1")
		if got := s.List(); len(got) != 1 {
			t.Errorf("List after Replace: %v", got)
		}
	})
}

// Get allocates nothing with either map. A Store of sync.Map does: it takes keys and
// values as interfaces and makes a node of them.
func TestWhatAllocates(t *testing.T) {
	for _, c := range []struct {
		name   string
		store  *concurrentmap.Store
		update float64
	}{{"sync", concurrentmap.NewSync(nil), 3}, {"xsync", concurrentmap.NewXSync(nil), 1}} {
		keys := []string{"namespace/a", "namespace/b"}
		c.store.Add(keys[0], "a")
		c.store.Add(keys[1], "b")
		i := 0
		if got := testing.AllocsPerRun(100, func() {
			i++
			c.store.Get(keys[i%2])
		}); got != 0 {
			t.Errorf("%s: Get allocates %v times", c.name, got)
		}
		var obj any = "c"
		if got := testing.AllocsPerRun(100, func() {
			i++
			c.store.Update(keys[i%2], obj)
		}); got > c.update {
			t.Errorf("%s: Update allocates %v times; want %v or fewer", c.name, got, c.update)
		}
	}
}

func words(obj any) ([]string, error) { return strings.Fields(obj.(string)), nil }
