package mutexmap_test

import (
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/mutexmap"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNewCopiesIndexers(t *testing.T) {
	t.Parallel()
	given := contract.Indexers{"first": byLength}
	s := mutexmap.New(given)
	if err := s.AddIndexers(contract.Indexers{"second": byLength}); err != nil {
		t.Fatal(err)
	}
	delete(given, "first")
	if got := s.GetIndexers(); len(got) != 2 || len(given) != 0 {
		t.Errorf("the store has %d indexers and the caller's map %d; want 2 and 0", len(got), len(given))
	}
	mutexmap.New(nil).Add("k", "object")
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	s := mutexmap.New(contract.Indexers{"length": byLength})
	_, unknown := s.ByIndex("width", "1")
	taken := s.AddIndexers(contract.Indexers{"length": byLength})
	for _, c := range []struct {
		err  error
		want []string
	}{
		{unknown, []string{"name width", "AddIndexers"}},
		{taken, []string{`"length"`, "another name"}},
	} {
		for _, want := range c.want {
			if c.err == nil || !strings.Contains(c.err.Error(), want) {
				t.Errorf("error %v does not say %s", c.err, want)
			}
		}
	}
}

// A write on whose way nothing needs to grow must not allocate: the harness's
// numbers for this store are its algorithm's.
func TestWritesDoNotAllocate(t *testing.T) {
	s := mutexmap.New(contract.Indexers{"namespace": cache.MetaNamespaceIndexFunc})
	a, b := versioned("1"), versioned("2")
	s.Add("k", a)
	valuesOfIndexFunc := 2.0 // one slice each for the old object and the new
	if got := testing.AllocsPerRun(100, func() { s.Update("k", b) }); got > valuesOfIndexFunc {
		t.Errorf("Update allocates %v times; want no more than its IndexFunc, %v", got, valuesOfIndexFunc)
	}
	if got := testing.AllocsPerRun(100, func() { s.Get("k") }); got != 0 {
		t.Errorf("Get allocates %v times", got)
	}
}

func versioned(rv string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "n", ResourceVersion: rv}}
}

func byLength(obj any) ([]string, error) { return []string{fmt.Sprint(len(obj.(string)))}, nil }
