package indexing_test

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/indexing"
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
		itself := func(any) ([]string, error) { return given, nil }
		got := indexing.Values{}.Append("itself", itself, "k", 0).Append("itself", itself, "k", 0)
		if got.Len() != 2 || got.Count() != 2*len(c.want) || !slices.Equal(got.List(0), c.want) ||
			!slices.Equal(got.List(1), c.want) {
			t.Errorf("the values of %q twice are %q; want %q", c.values, lists(got), c.want)
		}
		var added indexing.Values
		added.Add(given)
		added.Add(given)
		want := c.want
		if len(given) > indexing.Few {
			want = given
		}
		if added.Len() != 2 || added.Count() != 2*len(want) || !slices.Equal(added.List(0), want) ||
			!slices.Equal(added.List(1), want) {
			t.Errorf("%q added twice are %q; want %q", c.values, lists(added), want)
		}
		if !slices.Equal(given, c.values) {
			t.Errorf("Append changed what it was given from %q to %q: it may be the object's own", c.values,
				given)
		}
		if got, err := indexing.NewSet(contract.Indexers{"itself": itself}).Probe(0, 0); err != nil ||
			!slices.Equal(got, c.want) {
			t.Errorf("Probe gave %q, %v; want %q", got, err, c.want)
		}
	}
}

func TestValuesOf(t *testing.T) {
	t.Parallel()
	if got := indexing.ValuesOf("words", fields, "k", "a b a"); !slices.Equal(got,
		[]string{"a", "b", "a"}) {
		t.Errorf("got %q", got)
	}
	if got := indexing.ValuesOf("words", fields, "k", nil); got != nil {
		t.Errorf("a nil object has the values %q", got)
	}

	cause := errors.New("no words")
	defer func() {
		err, _ := recover().(error)
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), `"k"`) ||
			!strings.Contains(err.Error(), `"words"`) {
			t.Errorf("panic %v; want one that names the key and the index and wraps the cause", err)
		}
	}()
	indexing.ValuesOf("words", func(any) ([]string, error) { return nil, cause }, "k", "a")
}

// valuesOf returns Values of these lists.
func valuesOf(lists ...[]string) (values indexing.Values) {
	for _, list := range lists {
		values = values.Append("", func(any) ([]string, error) { return list, nil }, "", 0)
	}
	return values
}

func lists(values indexing.Values) (lists [][]string) {
	for i := range values.Len() {
		lists = append(lists, values.List(i))
	}
	return lists
}

// A later Append does not change an earlier list, even if it appends to a part of the lists.
func TestObjectsOfABatch(t *testing.T) {
	t.Parallel()
	all := valuesOf([]string{"a"}, nil, []string{"b", "c"}, []string{"d"})
	for i, want := range [][][]string{{{"a"}, {}}, {{"b", "c"}, {"d"}}} {
		if got := lists(all.Object(i, 2)); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("object %d has %q; want %q", i, got, want)
		}
	}
	if n := all.Object(1, 2).Count(); n != 3 {
		t.Errorf("object 1 has %d values; want 3", n)
	}
	if got := all.Object(1, 0); got.Len() != 0 || got.Count() != 0 {
		t.Errorf("an object without indexes has %q", lists(got))
	}
	_ = append(all.List(0), "overwrites")
	if got := fmt.Sprint(lists(all)); got != "[[a] [] [b c] [d]]" {
		t.Errorf("an append to the first list made %s of the others", got)
	}
}

func TestValuesDoNotAllocate(t *testing.T) {
	own := []string{"a", "b", "c"}
	itself := func(any) ([]string, error) { return own, nil }
	set := indexing.NewSet(contract.Indexers{"own": itself, "too": itself})
	if got := testing.AllocsPerRun(100, func() {
		var room indexing.Room
		set.AppendValues(room.Values(), 0, "k", set)
	}); got != 0 {
		t.Errorf("computing values allocates %v times beside the IndexFunc", got)
	}
	var kept indexing.Values
	if got := testing.AllocsPerRun(100, func() {
		kept.Empty()
		kept.Add(own)
		kept.Add(own[:1])
	}); got != 0 {
		t.Errorf("adding to values that were emptied allocates %v times", got)
	}
}

// Empty removes every list. Values keeps at most Few strings alive afterwards, and gives a
// large buffer back to the collector.
func TestEmpty(t *testing.T) {
	t.Parallel()
	var values indexing.Values
	var finalized sync.WaitGroup
	for _, n := range []int{2 * indexing.Few, 100_000} {
		values.Empty()
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprint("more than sixteen bytes: ", i)
		}
		finalized.Add(1)
		runtime.AddCleanup(unsafe.StringData(list[0]), func(int) { finalized.Done() }, 0)
		values.Add(list)
		values.Empty()
		if values.Len() != 0 || values.Count() != 0 {
			t.Errorf("%d lists of %d values after Empty", values.Len(), values.Count())
		}
	}
	runtime.GC()
	finalized.Wait()
	runtime.KeepAlive(&values)
}

func TestSet(t *testing.T) {
	t.Parallel()
	small := indexing.NewSet(contract.Indexers{"words": fields})
	large, err := small.With(contract.Indexers{"more": fields, "most": fields})
	if err != nil {
		t.Fatal(err)
	}
	if small.Len() != 1 || large.Len() != 3 || len(large.Indexers()) != 3 {
		t.Errorf("the sets have %d and %d indexes and %d indexers; want 1, 3 and 3", small.Len(),
			large.Len(), len(large.Indexers()))
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
	if _, err := large.With(contract.Indexers{"new": fields, "most": fields}); err == nil ||
		!strings.Contains(err.Error(), `"most"`) {
		t.Errorf("a name that is taken gave error %v", err)
	}
	values := lists(large.AppendValues(valuesOf([]string{"before"}), 1, "k", "a"))
	if want := [][]string{{"before"}, {"a"}, {"a"}}; !reflect.DeepEqual(values, want) {
		t.Errorf("values from number 1 on are %q; want %q", values, want)
	}
	cause := errors.New("no words")
	failing := indexing.NewSet(contract.Indexers{"words": func(any) ([]string, error) {
		return nil, cause
	}})
	if _, err := failing.Probe(0, "a"); !errors.Is(err, cause) {
		t.Errorf("Probe gave error %v; want the IndexFunc's own", err)
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	set := indexing.NewSet(contract.Indexers{"words": fields})
	txn := func(kind contract.TransactionType, key string, obj any) contract.StoreTransaction {
		return contract.StoreTransaction{Key: key,
			Transaction: contract.Transaction{Type: kind, Object: obj}}
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
	want := []string{"k new false [old] [new]", "k <nil> true [new] []", "k again false [] [again]",
		"k again false [again] [again]", "absent <nil> true [] []"}
	var plan []string
	for _, c := range got {
		m := c.Moves.Move(0)
		plan = append(plan, fmt.Sprint(c.Key, " ", c.Object, " ", c.Delete, " ", m.From, " ", m.To))
	}
	if !slices.Equal(plan, want) {
		t.Errorf("plan\n  %q\nwant\n  %q", plan, want)
	}
	if stays := got[3].Moves.Move(0).Stays(); !stays {
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
	var many []string
	for i := range 5 * indexing.Few {
		many = append(many, fmt.Sprint("v", i))
	}
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
		{{"a"}, {"n1"}}, {{"a"}, {"n22"}}, {{"a", "b", "ccc"}, {"n22"}}, {{}, {"ccc"}}, {{"ccc"}, {}},
		{nil, nil},
		{{"a", "b", "c", "d", "e", "f", "g", "h", "i"}, {"a"}}, {{"i"}, {"a"}},
		{many, {"a"}}, {many[indexing.Few:], {"a", "b"}}, {many[:indexing.Few+1], many}, {{"v1"}, {"a"}},
		{many, nil}, {nil, nil}, {{"v1"}, nil},
	} {
		renewed := 0
		before := len(places.Append(nil))
		entered := 0
		places.Move(valuesOf(values...), func(indexing.Place[*words]) {
			renewed++
		}, leave, func(index int, value string) indexing.Place[*words] {
			entered++
			return enter(index, value)
		})
		want := len(values[0]) + len(values[1])
		all := places.Append(nil)
		if len(all) != want || renewed+entered != want || renewed > before {
			t.Fatalf("%q: %d places, %d renewed and %d entered; want %d", values, len(all), renewed, entered,
				want)
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

// counting is a bucket that counts how often it is asked what it is.
type counting struct {
	words
	asked *int
}

func (c *counting) Of() (index int, value string) {
	*c.asked++
	return c.index, c.value
}

// The cost of an object's places does not depend on how they are compared with each other:
// twice as many take twice as many steps.
func TestPlacesAreLinear(t *testing.T) {
	t.Parallel()
	steps := func(n int) (asked int) {
		var places indexing.Places[*counting]
		enter := func(index int, value string) indexing.Place[*counting] {
			return indexing.Place[*counting]{Bucket: &counting{words{index, value}, &asked}}
		}
		nothing := func(indexing.Place[*counting]) {}
		for from := range 3 {
			values := make([]string, n)
			for i := range values {
				values[i] = fmt.Sprint(i + from*n/2)
			}
			places.Move(valuesOf(values), nothing, nothing, enter)
		}
		return asked
	}
	if few, more := steps(1000), steps(4000); few == 0 || more > 5*few {
		t.Errorf("%d steps for 1,000 values and %d for 4,000", few, more)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 3 * indexing.Few {
		many = append(many, fmt.Sprint(i))
	}
	for _, m := range []indexing.Move{
		{}, {To: []string{"a"}}, {From: []string{"a"}},
		{From: []string{"a", "b"}, To: []string{"b", "c"}},
		{From: many, To: []string{"1", "a"}}, {From: []string{"a", "1"}, To: many},
		{From: many[:2*indexing.Few], To: many[indexing.Few:]},
	} {
		keys := slices.Clone(m.From)
		m.Diff(
			func(value string) { keys = slices.DeleteFunc(keys, func(k string) bool { return k == value }) },
			func(value string) { keys = append(keys, value) })
		slices.Sort(keys)
		if want := slices.Sorted(slices.Values(m.To)); !slices.Equal(keys, want) {
			t.Errorf("%q to %q ends in %q", m.From, m.To, keys)
		}
	}
}
