package indexing_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/internal/indexing"
)

// fields is an IndexFunc for strings: their words.
func fields(obj any) ([]string, error) { return strings.Fields(obj.(string)), nil }

func TestDistinct(t *testing.T) {
	t.Parallel()
	many := make([]string, 0, 40)
	for i := range 40 {
		many = append(many, fmt.Sprint(i%30))
	}
	for _, c := range []struct{ values, want []string }{
		{nil, nil},
		{[]string{"a"}, []string{"a"}},
		{[]string{"b", "a"}, []string{"b", "a"}},
		{[]string{"b", "b"}, []string{"b"}},
		{[]string{"b", "a", "b", "c", "a"}, []string{"b", "a", "c"}},
		{many[:30], many[:30]},
		{many, many[:30]},
	} {
		given := slices.Clone(c.values)
		if got := indexing.Distinct(given); !slices.Equal(got, c.want) {
			t.Errorf("Distinct(%q) = %q; want %q", c.values, got, c.want)
		}
		if !slices.Equal(given, c.values) {
			t.Errorf("Distinct changed what it was given from %q to %q: it may be the object's own", c.values, given)
		}
	}
}

func TestValuesOf(t *testing.T) {
	t.Parallel()
	if got := indexing.ValuesOf("words", fields, "k", "a b a"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q", got)
	}
	if got := indexing.ValuesOf("words", fields, "k", nil); got != nil {
		t.Errorf("a nil object has the values %q", got)
	}

	cause := errors.New("no words")
	defer func() {
		err, _ := recover().(error)
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), `"k"`) || !strings.Contains(err.Error(), `"words"`) {
			t.Errorf("panic %v; want one that names the key and the index and wraps the cause", err)
		}
	}()
	indexing.ValuesOf("words", func(any) ([]string, error) { return nil, cause }, "k", "a")
}

func TestValuesDoNotAllocate(t *testing.T) {
	own := []string{"a", "b", "c"}
	set := indexing.NewSet(contract.Indexers{"own": func(any) ([]string, error) { return own, nil }})
	if got := testing.AllocsPerRun(100, func() {
		var room [2][]string
		set.AppendValues(room[:0], 0, "k", set)
	}); got != 0 {
		t.Errorf("computing values allocates %v times beside the IndexFunc", got)
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	small := indexing.NewSet(contract.Indexers{"words": fields})
	large, err := small.With(contract.Indexers{"more": fields, "most": fields})
	if err != nil {
		t.Fatal(err)
	}
	if small.Len() != 1 || large.Len() != 3 || len(large.Indexers()) != 3 {
		t.Errorf("the sets have %d and %d indexes and %d indexers; want 1, 3 and 3", small.Len(), large.Len(), len(large.Indexers()))
	}
	for i, name := range []string{"words", "more", "most"} {
		number, err := large.Find(name)
		if err != nil || (i == 0) != (number == 0) {
			t.Errorf("%s has the number %d, %v: a number must hold in a larger set", name, number, err)
		}
	}
	if _, err := small.Find("more"); err == nil {
		t.Error("the smaller set has an index of the larger one")
	}
	if _, err := large.With(contract.Indexers{"new": fields, "most": fields}); err == nil || !strings.Contains(err.Error(), `"most"`) {
		t.Errorf("a name that is taken gave error %v", err)
	}
	values := large.AppendValues([][]string{{"before"}}, 1, "k", "a")
	if want := [][]string{{"before"}, {"a"}, {"a"}}; !reflect.DeepEqual(values, want) {
		t.Errorf("values from number 1 on are %q; want %q", values, want)
	}
	cause := errors.New("no words")
	failing := indexing.NewSet(contract.Indexers{"words": func(any) ([]string, error) { return nil, cause }})
	if _, err := failing.Probe(0, "a"); !errors.Is(err, cause) {
		t.Errorf("Probe gave error %v; want the IndexFunc's own", err)
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	set := indexing.NewSet(contract.Indexers{"words": fields})
	txn := func(kind contract.TransactionType, key string, obj any) contract.StoreTransaction {
		return contract.StoreTransaction{Key: key, Transaction: contract.Transaction{Type: kind, Object: obj}}
	}
	stored := map[string]any{"k": "old"}
	got := set.Plan([]contract.StoreTransaction{
		txn(contract.TransactionTypeUpdate, "k", "new"),
		txn("unknown", "k", "ignored"),
		txn(contract.TransactionTypeDelete, "k", "new"),
		txn(contract.TransactionTypeAdd, "k", "again"),
		txn(contract.TransactionTypeUpdate, "k", "again"),
		txn(contract.TransactionTypeDelete, "absent", nil),
	}, func(key string) any { return stored[key] })
	want := []indexing.Change{
		{Key: "k", Object: "new", Moves: []indexing.Move{{From: []string{"old"}, To: []string{"new"}}}},
		{Key: "k", Delete: true, Moves: []indexing.Move{{From: []string{"new"}}}},
		{Key: "k", Object: "again", Moves: []indexing.Move{{To: []string{"again"}}}},
		{Key: "k", Object: "again", Moves: []indexing.Move{{From: []string{"again"}, To: []string{"again"}}}},
		{Key: "absent", Delete: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("plan\n  %+v\nwant\n  %+v", got, want)
	}
	if stays := got[3].Moves[0].Stays(); !stays {
		t.Error("a key whose values are the same does not stay")
	}
}

func TestVersionOf(t *testing.T) {
	t.Parallel()
	pod := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "7"}}
	for _, c := range []struct {
		obj   any
		want  string
		known bool
	}{{pod, "7", true}, {"no metadata", "", false}, {nil, "", false}} {
		if got, known := indexing.VersionOf(c.obj); got != c.want || known != c.known {
			t.Errorf("VersionOf(%v) = %q, %v; want %q, %v", c.obj, got, known, c.want, c.known)
		}
	}
}

type words struct {
	index int
	value string
}

func (b *words) Of() (index int, value string) { return b.index, b.value }

// An object is in the buckets of its values and in no others, however many it has.
func TestPlaces(t *testing.T) {
	t.Parallel()
	buckets := map[words]*words{}
	within := map[*words]int{}
	var places indexing.Places[*words]
	leave := func(p indexing.Place[*words]) { within[p.Bucket]-- }
	enter := func(index int, value string) indexing.Place[*words] {
		of := words{index, value}
		if buckets[of] == nil {
			buckets[of] = &of
		}
		within[buckets[of]]++
		return indexing.Place[*words]{Bucket: buckets[of], At: len(value)}
	}
	for _, values := range [][][]string{
		{{"a"}, {"n1"}}, {{"a"}, {"n22"}}, {{"a", "b", "ccc"}, {"n22"}}, {{}, {"ccc"}}, {{"ccc"}, {}}, {nil, nil},
		{{"a", "b", "c", "d", "e", "f", "g", "h", "i"}, {"a"}}, {{"i"}, {"a"}},
	} {
		renewed := 0
		before := len(places.Append(nil))
		entered := 0
		places.Move(values, func(indexing.Place[*words]) { renewed++ }, leave, func(index int, value string) indexing.Place[*words] {
			entered++
			return enter(index, value)
		})
		want := len(values[0]) + len(values[1])
		all := places.Append(nil)
		if len(all) != want || renewed+entered != want || renewed > before {
			t.Fatalf("%q: %d places, %d renewed and %d entered; want %d", values, len(all), renewed, entered, want)
		}
		for bucket, n := range within {
			if in := slices.Contains(values[bucket.index], bucket.value); in != (n == 1) || n > 1 {
				t.Fatalf("%q: %d times in the bucket of %q in index %d", values, n, bucket.value, bucket.index)
			}
			if within[bucket] == 1 && places.In(bucket).At != len(bucket.value) {
				t.Fatalf("%q: the place in the bucket of %q is %d", values, bucket.value, places.In(bucket).At)
			}
		}
	}
	places.Leave(leave)
	for bucket, n := range within {
		if n != 0 {
			t.Errorf("%d times in the bucket of %q after it left", n, bucket.value)
		}
	}
}
