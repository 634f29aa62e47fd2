package lockfree

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/informerbench/informerbench/contract"
)

// An open snapshot that is older than an index keeps the past of the objects, but it
// cannot read the index. The buckets of the index must outlive the cells that wait for
// that snapshot.
func TestAnIndexAddedBesideAStalledReader(t *testing.T) {
	t.Parallel()
	for name, rest := range map[string]func(s *Store){
		"objects move to values that are new": func(s *Store) {
			for i := range things {
				s.Update(fmt.Sprint(i), thing{2, fmt.Sprint("new", i%groups)})
			}
		},
		"objects move, and their values come back": func(s *Store) {
			for round := range 4 {
				for i := range things {
					s.Update(fmt.Sprint(i), thing{2, fmt.Sprint("g", (i+round)%2)})
				}
			}
		},
		"objects go": func(s *Store) {
			for i := range things {
				s.Delete(fmt.Sprint(i))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := filled()
			v := s.view.Load()
			slot, seq := v.readers.acquire(&v.committed)
			all, group := sorted(v.objects.objects(nil, seq, &v.shown)),
				sorted(v.indexes[0].bucketAt("g3", seq).list(nil, seq, &v.shown))

			s.Update("1", thing{1, "g1"})
			if err := s.AddIndexers(contract.Indexers{"added": byGroup}); err != nil {
				t.Fatal(err)
			}
			rest(s)

			if !slices.Equal(all, sorted(v.objects.objects(nil, seq, &v.shown))) ||
				!slices.Equal(group, sorted(v.indexes[0].bucketAt("g3", seq).list(nil, seq, &v.shown))) {
				t.Error("the snapshot before AddIndexers changed")
			}
			slot.release(0)
			s.Update("last", thing{})
			past, standIns, buckets := kept(s)
			if values := len(s.ListIndexFuncValues("group")) + len(s.ListIndexFuncValues("added")); past+
				standIns > 0 || buckets != values {
				t.Errorf("%d past versions, %d stand-ins and %d buckets for %d values are kept without a "+
					"reader", past, standIns, buckets, values)
			}
		})
	}
}

// The same through the public methods, as it was found: on one processor a List is
// interrupted inside its snapshot.
func TestAddIndexersBesideALister(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	n, rounds := 20000, 4
	if testing.Short() {
		n, rounds = 5000, 1
	}
	s := New(contract.Indexers{"group": byGroup})
	for i := range n {
		s.Add(fmt.Sprint(i), thing{0, fmt.Sprint("g", i%groups)})
	}
	stop := make(chan struct{})
	var lister sync.WaitGroup
	lister.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if got := len(s.List()); got != n {
					t.Errorf("a list of %d objects; want %d", got, n)
				}
			}
		}
	})
	defer lister.Wait()
	defer close(stop)
	for round := range rounds {
		s.Update("1", thing{round, "g1"})
		if err := s.AddIndexers(contract.Indexers{fmt.Sprint("added", round): byGroup}); err != nil {
			t.Fatal(err)
		}
		for i := range 3000 {
			s.Update(fmt.Sprint(i), thing{round, fmt.Sprint("round ", round, ", ", i/10)})
		}
	}
}
