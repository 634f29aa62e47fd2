package sharded_test

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/sharded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// One writer writes the numbers from 0 up under 500 keys in turn, over several
// chunks. So the content at one instant is 500 numbers in a row, and readers must never
// see anything else.
func TestReadsBesideAWriter(t *testing.T) {
	t.Parallel()
	const keys = 500
	mod3 := func(obj any) ([]string, error) { return []string{strconv.Itoa(obj.(int) % 3)}, nil }
	for _, shards := range []int{1, 4} {
		s := sharded.New(contract.Indexers{"mod3": mod3}, sharded.Options{Shards: shards})
		write := func(n int) { s.Update(strconv.Itoa(n%keys), n) }
		for n := range keys {
			write(n)
		}
		var stop atomic.Bool
		var writing, reading sync.WaitGroup
		writing.Go(func() {
			for n := keys; !stop.Load(); n++ {
				write(n)
				if n%100 == 0 {
					s.Delete("absent")
					runtime.Gosched()
				}
			}
		})
		for range 2 {
			reading.Go(func() {
				for range 300 {
					if err := inARow(s.List(), 1); err != nil {
						t.Errorf("%d shards: List: %v", shards, err)
						return
					}
					third, err := s.ByIndex("mod3", "1")
					if err == nil {
						err = inARow(third, 3)
					}
					if err != nil {
						t.Errorf("%d shards: ByIndex: %v", shards, err)
						return
					}
					if got := s.ListKeys(); len(got) != keys {
						t.Errorf("%d shards: ListKeys gave %d keys", shards, len(got))
						return
					}
				}
			})
		}
		reading.Wait()
		stop.Store(true)
		writing.Wait()
	}
}

// inARow checks that objects are 500/step numbers, rounded either way, each the
// last plus step.
func inARow(objects []any, step int) error {
	numbers := make([]int, len(objects))
	for i, obj := range objects {
		numbers[i] = obj.(int)
	}
	slices.Sort(numbers)
	if n := len(numbers); n != 500/step && n != 500/step+1 {
		return fmt.Errorf("%d objects", n)
	}
	for i, number := range numbers {
		if number != numbers[0]+i*step {
			return fmt.Errorf("%d comes after %d", number, numbers[i-1])
		}
	}
	return nil
}

// The store allocates nothing for an Update without a read before it, and one chunk for an
// Update after a List. Reads allocate their result only.
func TestWhatAllocates(t *testing.T) {
	s := sharded.New(contract.Indexers{"namespace": cache.MetaNamespaceIndexFunc}, sharded.Options{})
	for i := range 2000 {
		s.Add(fmt.Sprint(i), versioned("ns", "1"))
	}
	s.Add("few", versioned("small", "1"))
	a := versioned("ns", "2")
	for _, c := range []struct {
		name string
		most float64
		run  func()
	}{
		{"Update", 1, func() { s.Update("7", a) }}, // the IndexFunc's slice
		{"Get", 0, func() { s.Get("7") }},
		{"List", 1, func() { s.List() }},
		{"ListKeys", 1, func() { s.ListKeys() }},
		{"ByIndex", 1, func() { _, _ = s.ByIndex("namespace", "ns") }},
		{"ByIndex of one", 1, func() { _, _ = s.ByIndex("namespace", "small") }},
		{"Delete of an absent key", 0, func() { s.Delete("absent") }},
		{"List and Update", 2 + 4, func() { // a chunk, its two arrays, the directory
			s.List()
			s.Update("7", a)
		}},
	} {
		if got := testing.AllocsPerRun(100, c.run); got > c.most {
			t.Errorf("%s allocates %v times; want %v or fewer", c.name, got, c.most)
		}
	}
}

func versioned(namespace, rv string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, ResourceVersion: rv}}
}

func words(obj any) ([]string, error) { return strings.Fields(obj.(string)), nil }
