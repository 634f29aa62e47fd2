package dense_test

import (
	"fmt"
	"testing"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/core/contract"
	"github.com/informerbench/informerbench/core/impl/dense"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A nil object is kept under its key and is in no index, as in client-go.
func TestNilObject(t *testing.T) {
	t.Parallel()
	s := dense.New(contract.Indexers{"length": byLength})
	s.Add("k", "abc")
	s.Add("k", nil)
	if got, ok := s.Get("k"); got != nil || !ok {
		t.Errorf("Get gave %v, %v; want nil, true", got, ok)
	}
	if got := s.ListIndexFuncValues("length"); len(got) != 0 {
		t.Errorf("a nil object has index values %q", got)
	}
	s.Delete("k")
	if _, ok := s.Get("k"); ok {
		t.Error("the nil object remains")
	}
}

// An Update whose index values stay allocates nothing of the store's, whatever the
// number of objects; the values of the old object are remembered and not computed.
func TestWhatAllocates(t *testing.T) {
	calls := 0
	namespace := func(obj any) ([]string, error) {
		calls++
		return cache.MetaNamespaceIndexFunc(obj)
	}
	s := dense.New(contract.Indexers{"namespace": namespace})
	a, b := versioned("1"), versioned("2")
	s.Add("k", a)
	calls = 0
	s.Update("k", b)
	if calls != 1 {
		t.Errorf("Update computes values %d times, want once: the old object's are known", calls)
	}
	for _, c := range []struct {
		name string
		most float64
		run  func()
	}{
		{"Update", 1, func() { s.Update("k", a) }}, // the IndexFunc's slice
		{"Get", 0, func() { s.Get("k") }},
		{"List", 1, func() { s.List() }},
		{"ByIndex", 1, func() { _, _ = s.ByIndex("namespace", "ns") }},
		{"Delete of an absent key", 0, func() { s.Delete("absent") }},
	} {
		if got := testing.AllocsPerRun(100, c.run); got > c.most {
			t.Errorf("%s allocates %v times; want %v or fewer", c.name, got, c.most)
		}
	}
}

func versioned(rv string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n", ResourceVersion: rv}}
}

func byLength(obj any) ([]string, error) { return []string{fmt.Sprint(len(obj.(string)))}, nil }
