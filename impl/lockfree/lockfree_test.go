package lockfree_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/lockfree"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The IndexFunc of an object may read the store that indexes it: a write calls it under the
// writer's mutex, which no reader takes. Every write shows it the content before the write.
func TestIndexFuncMayReadItsOwnStore(t *testing.T) {
	t.Parallel()
	var s *lockfree.Store
	company := func(any) ([]string, error) { return []string{fmt.Sprint(len(s.List()))}, nil }
	s = lockfree.New(contract.Indexers{"company": company})
	want := func(index, value string, keys ...string) {
		t.Helper()
		if got, err := s.IndexKeys(index, value); err != nil || !slices.Equal(got, keys) {
			t.Errorf("the keys under %s in %s are %q, %v; want %q", value, index, got, err, keys)
		}
	}
	s.Add("a", 1)
	s.Add("b", 2)
	want("company", "1", "b")
	s.Transaction(
		contract.StoreTransaction{Key: "c",
			Transaction: contract.Transaction{Type: contract.TransactionTypeAdd, Object: 3}},
		contract.StoreTransaction{Key: "d",
			Transaction: contract.Transaction{Type: contract.TransactionTypeAdd, Object: 4}})
	want("company", "2", "c", "d")
	s.Replace(map[string]any{"e": 5}, "1")
	want("company", "4", "e")
	if err := s.AddIndexers(contract.Indexers{"later": company}); err != nil {
		t.Fatal(err)
	}
	want("later", "1", "e")
}

// Replace shares a large content out to several goroutines.
func TestReplaceOfMany(t *testing.T) {
	if testing.Short() { // as make race runs tests
		t.Skip("one goroutine, and slow")
	}
	t.Parallel()
	const n = 20000
	byLastDigits := func(obj any) ([]string, error) {
		i := obj.(int)
		if i < 0 {
			return nil, errors.New("negative")
		}
		return []string{fmt.Sprint(i % 10), fmt.Sprint("hundred ", i%100), fmt.Sprint(i % 10)}, nil
	}
	s := lockfree.New(contract.Indexers{"digits": byLastDigits, "none": func(any) ([]string, error) {
		return nil, nil
	}})
	items := map[string]any{}
	for i := range n {
		items[fmt.Sprint(i)] = i
	}
	s.Replace(items, "7")
	if len(s.List()) != n || len(s.ListKeys()) != n || len(s.ListIndexFuncValues("digits")) != 110 ||
		len(s.ListIndexFuncValues("none")) != 0 {
		t.Fatalf("%d objects, %d keys, %d values", len(s.List()), len(s.ListKeys()),
			len(s.ListIndexFuncValues("digits")))
	}
	for i := range n {
		if got, ok := s.Get(fmt.Sprint(i)); !ok || got != any(i) {
			t.Fatalf("Get(%d) gave %v, %v", i, got, ok)
		}
	}
	for digit := range 10 {
		list, err := s.ByIndex("digits", fmt.Sprint(digit))
		if err != nil || len(list) != n/10 {
			t.Fatalf("%d objects end in %d, %v; want %d", len(list), digit, err, n/10)
		}
		for _, obj := range list {
			if obj.(int)%10 != digit {
				t.Fatalf("%d is found under %d", obj, digit)
			}
		}
	}
	// Objects that came by Replace can be deleted like any other.
	for i := range n {
		s.Delete(fmt.Sprint(i))
	}
	if len(s.List()) != 0 || len(s.ListIndexFuncValues("digits")) != 0 {
		t.Error("something is left")
	}

	s.Add("kept", 1)
	items["bad"] = -1
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic of an IndexFunc that fails")
			}
		}()
		s.Replace(items, "8")
	}()
	if len(s.List()) != 1 || s.LastStoreSyncResourceVersion() != "7" {
		t.Error("a Replace that failed changed the store")
	}
}

// DeleteWithObject reads the object during the call only: the caller may then use it again.
func TestADeletedObjectMayBeUsedAgain(t *testing.T) {
	t.Parallel()
	s := lockfree.New(nil)
	s.Add("ns/n", versioned("7"))
	last := versioned("8")
	s.DeleteWithObject("ns/n", last)
	last.ResourceVersion = "another object's"
	if got := s.LastStoreSyncResourceVersion(); got != "8" {
		t.Errorf("the resource version is %q, want that of the deleted object", got)
	}
}

// A read allocates its result only, a write in place nothing, and another write a version, as the
// package promises.
func TestAllocations(t *testing.T) {
	s := lockfree.New(contract.Indexers{"namespace": cache.MetaNamespaceIndexFunc})
	for i := range 100 {
		s.Add(fmt.Sprint("ns/", i), versioned(fmt.Sprint(i)))
	}
	obj, elsewhere := versioned("x"), versioned("y")
	elsewhere.Namespace = "elsewhere"
	s.Add("other", elsewhere)
	for range 3 {
		s.List() // until it has made its copies
	}
	const (
		indexFunc = 1 // the slice of values
		write     = 1 // the version
		inPlace   = 0
	)
	for name, c := range map[string]struct {
		f    func()
		most float64
	}{
		"Get":     {func() { s.Get("ns/7") }, 0},
		"List":    {func() { s.List() }, 1},
		"ByIndex": {func() { _, _ = s.ByIndex(cache.NamespaceIndex, "ns") }, 1},
		"Update":  {func() { s.Update("ns/7", obj) }, indexFunc + inPlace},
		// The stand-ins in the cells of both namespaces are used again and again.
		"Update to another namespace and back": {
			func() { s.Update("ns/7", elsewhere); s.Update("ns/7", obj) }, 2 * (indexFunc + write),
		},
	} {
		if got := testing.AllocsPerRun(100, c.f); got > c.most {
			t.Errorf("%s allocates %v times; want %v at most", name, got, c.most)
		}
	}
}

func versioned(rv string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n", ResourceVersion: rv}}
}
