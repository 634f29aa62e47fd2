package informer

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/lockfree"
)

func named(name, version string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: version}}
}

// newContent returns a content that writes what it publishes to the returned lines.
func newContent(t *testing.T) (c *content, lines func() string) {
	t.Helper()
	var log []string
	c = &content{failures: &indexFailures{},
		keyFunc: cache.DeletionHandlingMetaNamespaceKeyFunc, store: lockfree.New(nil),
		logger: klog.Background(),
		publish: func(batch []notification) {
			for _, n := range batch {
				obj, kind := n.obj, [...]string{onAdd: "add", onInitialAdd: "initial", onUpdate: "update",
					onResync: "resync", onDelete: "delete"}[n.kind]
				if tombstone, ok := obj.(contract.DeletedFinalStateUnknown); ok {
					obj, kind = tombstone.Obj, "tombstone"
				}
				line := kind + " " + obj.(*corev1.Pod).Name + obj.(*corev1.Pod).ResourceVersion
				if n.old != nil {
					line += "<" + n.old.(*corev1.Pod).ResourceVersion
				}
				log = append(log, line)
			}
		},
	}
	return c, func() string {
		defer func() { log = nil }()
		return strings.Join(log, ", ")
	}
}

// goOnAfterPanics turns utilruntime.ReallyCrash off for the whole process until the test ends, so
// the test must not be parallel.
func goOnAfterPanics(t *testing.T) {
	t.Helper()
	crash := utilruntime.ReallyCrash
	utilruntime.ReallyCrash = false
	t.Cleanup(func() { utilruntime.ReallyCrash = crash })
}

func sorted(lines string) string {
	l := strings.Split(lines, ", ")
	slices.Sort(l)
	return strings.Join(l, ", ")
}

// TestContent: what each kind of delta does to the store and says to handlers, in Deltas
// of one key and in batches.
func TestContent(t *testing.T) {
	t.Parallel()
	type step struct {
		name    string
		deltas  []contract.Delta
		batch   bool
		initial bool
		want    string
		keys    int
		version string // of the store
	}
	d := func(kind contract.DeltaType, obj any) contract.Delta {
		return contract.Delta{Type: kind, Object: obj}
	}
	replaced := func(pods ...any) contract.Delta {
		return d(contract.ReplacedAll, contract.ReplacedAllInfo{ResourceVersion: "9", Objects: pods})
	}
	c, lines := newContent(t)
	for _, s := range []step{
		{"first list", []contract.Delta{replaced(named("a", "1"), named("b", "1"))}, false, true,
			"initial a1, initial b1", 2, "9"},
		{"life in one", []contract.Delta{d(contract.Added, named("c", "2")),
			d(contract.Updated, named("c", "3")), d(contract.Deleted, named("c", "4"))}, false, false,
			"add c2, update c3<2, delete c4", 2, "4"},
		{"unknown deletion", []contract.Delta{d(contract.Deleted, named("c", "5"))}, false, false,
			"delete c5", 2, "5"},
		{"batch", []contract.Delta{d(contract.Added, named("a", "5")), d(contract.Sync, named("b", "1")),
			d(contract.Updated, named("c", "6")), d(contract.Deleted, named("x", "7"))}, true, false,
			"update a5<1, resync b1<1, add c6, delete x7", 3, "7"},
		{"batch with deletions", []contract.Delta{d(contract.Deleted, named("a", "8")),
			d(contract.Replaced, named("d", "8"))}, true, true, "delete a8, initial d8", 3, "8"},
		{"batch with a list", []contract.Delta{d(contract.Added, named("e", "9")),
			replaced(named("b", "1"), named("c", "9"))}, true, false,
			"add e9, tombstone d8, tombstone e9, resync b1<1, update c9<6", 2, "9"},
		{"resync", []contract.Delta{d(contract.SyncAll, contract.SyncAllInfo{})}, false, false,
			"resync b1<1, resync c9<9", 2, "9"},
		{"bookmark", []contract.Delta{d(contract.Bookmark, cache.BookmarkInfo{ResourceVersion: "77"})},
			false, false, "", 2, "77"},
		{"empty list", []contract.Delta{replaced()}, false, false, "tombstone b1, tombstone c9", 0, "9"},
	} {
		var err error
		if s.batch {
			err = c.processBatch(s.deltas, s.initial)
		} else {
			err = c.process(contract.Deltas(s.deltas), s.initial)
		}
		// The order of a store's lists is free.
		if got := lines(); err != nil || sorted(got) != sorted(s.want) || s.batch &&
			!strings.HasPrefix(got, strings.SplitN(s.want, ",", 2)[0]) {
			t.Errorf("%s: told %q, want %q; error %v", s.name, got, s.want, err)
		}
		if n := len(c.store.ListKeys()); n != s.keys {
			t.Errorf("%s: %d keys in the store, want %d", s.name, n, s.keys)
		}
		if got := c.store.LastStoreSyncResourceVersion(); got != s.version {
			t.Errorf("%s: the store's version is %q, want %q", s.name, got, s.version)
		}
		if len(c.notes)+len(c.writes) > 0 {
			t.Errorf("%s: %d notifications and %d writes are left", s.name, len(c.notes), len(c.writes))
		}
	}
}

// TestRepeatedKeys: of a key that comes several times in a batch, as client-go 0.38's RealFIFO and
// ours hand them out, handlers are told of each event with the object before it, and the store has
// the last. A write that fails is as if it had not come.
func TestRepeatedKeys(t *testing.T) {
	c, lines := newContent(t)
	if err := c.store.AddIndexers(
		c.failures.around(contract.Indexers{"fails at 2": func(obj any) ([]string, error) {
			if obj.(*corev1.Pod).ResourceVersion == "2" {
				return nil, errors.New("on purpose")
			}
			return nil, nil
		}})); err != nil {
		t.Fatal(err)
	}
	goOnAfterPanics(t)
	for _, step := range []struct{ batch, told, stored string }{
		{"+a1 ~a3 +b1", "add a1, update a3<1, add b1", "a3 b1"},
		{"~a4 -a5 +c5 -c6 -b7 +b8", "update a4<3, delete a5, add c5, delete c6, delete b7, add b8", "b8"},
		{"~b9 ~b10 ~b10", "update b9<8, update b10<9, resync b10<10", "b10"},
		{"~b2 ~b11 +d2 ~d12 ~d2 -d13 +e2", "update b11<10, add d12, delete d13", "b11"},
		{"-b14 -b15", "delete b14, delete b15", ""},
	} {
		var batch []contract.Delta
		for _, e := range strings.Fields(step.batch) {
			kind := map[byte]contract.DeltaType{'+': contract.Added, '~': contract.Updated,
				'-': contract.Deleted}[e[0]]
			batch = append(batch, contract.Delta{Type: kind, Object: named(e[1:2], e[2:])})
		}
		if err := c.processBatch(batch, false); err != nil {
			t.Fatal(err)
		}
		var stored []string
		for _, obj := range c.store.List() {
			stored = append(stored, obj.(*corev1.Pod).Name+obj.(*corev1.Pod).ResourceVersion)
		}
		slices.Sort(stored)
		if told, has := lines(), strings.Join(stored, " "); told != step.told || has != step.stored {
			t.Errorf("%s: told %q, want %q; stored %q, want %q", step.batch, told, step.told, has,
				step.stored)
		}
	}
}

// TestContentGoesOnAfterAPanic: a bug in an IndexFunc panics in the middle of a batch. Nothing
// of that batch is left for the next one, and what was written is published.
func TestContentGoesOnAfterAPanic(t *testing.T) {
	c, lines := newContent(t)
	panics := func(deltas ...contract.Delta) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		t.Error(c.processBatch(deltas, false))
	}
	if err := c.store.AddIndexers(
		c.failures.around(contract.Indexers{"by name": func(obj any) ([]string, error) {
			switch obj.(*corev1.Pod).Name {
			case "fails":
				return nil, errors.New("on purpose")
			case "panics":
				panic("a bug of the program")
			}
			return nil, nil
		}})); err != nil {
		t.Fatal(err)
	}
	goOnAfterPanics(t)

	added := func(name, version string) contract.Delta {
		return contract.Delta{Type: contract.Added, Object: named(name, version)}
	}
	unknown := contract.Delta{Type: contract.Deleted, Object: named("unknown", "3")}
	panics(added("a", "1"), added("panics", "2"), unknown)
	if got := lines(); got != "" {
		t.Errorf("nothing of the batch was written, and told was %q", got)
	}
	if err := c.processBatch([]contract.Delta{added("a", "4"), added("b", "5")}, false); err != nil {
		t.Fatal(err)
	}
	if got := c.store.LastStoreSyncResourceVersion(); got != "5" {
		t.Errorf("the store's version is %q, want 5: the deletion of version 3 was in the batch before",
			got)
	}
	if got := lines(); got != "add a4, add b5" {
		t.Errorf("told %q", got)
	}
	// A failed IndexFunc makes the writes come one by one, and the next of them panics.
	panics(added("c", "6"), added("fails", "7"), added("panics", "8"), added("d", "9"))
	if got, keys := lines(), len(c.store.ListKeys()); got != "add c6" || keys != 3 {
		t.Errorf("told %q of a store with %d objects, want add c6 and 3", got, keys)
	}
}

// TestContentRefuses: a delta that cannot be applied is an error that describes it, and the
// rest is applied.
func TestContentRefuses(t *testing.T) {
	t.Parallel()
	c, lines := newContent(t)
	for want, deltas := range map[string][]contract.Delta{
		"not a ReplacedAllInfo": {{Type: contract.ReplacedAll, Object: 1}},
		"not a BookmarkInfo":    {{Type: contract.Bookmark, Object: 1}},
		`unknown type "Moved"`:  {{Type: "Moved", Object: named("a", "1")}},
	} {
		if err := c.process(contract.Deltas(deltas), false); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
	if err := c.process(1, false); err == nil {
		t.Error("an int was taken for Deltas")
	}
	if got := lines(); got != "" || len(c.store.ListKeys()) > 0 {
		t.Errorf("told %q", got)
	}
	err := c.processBatch(
		[]contract.Delta{{Type: contract.Added, Object: 1},
			{Type: contract.Added, Object: named("a", "1")}}, false)
	if key := (contract.KeyError{}); !errors.As(err, &key) || key.Obj != 1 {
		t.Errorf("error %v", err)
	}
	if got := lines(); got != "add a1" {
		t.Errorf("told %q", got)
	}
}

// Objects of a list that have no key cost themselves only, in a first list and in a later one.
func TestAListWithObjectsThatHaveNoKey(t *testing.T) {
	t.Parallel()
	c, lines := newContent(t)
	for _, l := range []struct {
		version, want string
	}{{"1", "add a1, add b1, add c1"}, {"2", "update a2<1, update b2<1, update c2<1"}} {
		list := contract.ReplacedAllInfo{
			Objects: []any{named("a", l.version), 1, named("b", l.version), 2,
				named("c", l.version)},
			ResourceVersion: l.version}
		err := c.process(contract.Deltas{{Type: contract.ReplacedAll, Object: list}}, false)
		if key := (contract.KeyError{}); !errors.As(err, &key) ||
			strings.Count(err.Error(), "couldn't create key") != 2 {
			t.Errorf("error %v, want that of the two objects", err)
		}
		if got := lines(); got != l.want {
			t.Errorf("told %q, want %q", got, l.want)
		}
		if keys := c.store.ListKeys(); len(keys) != 3 {
			t.Errorf("the store has %q", keys)
		}
	}
}

// The error of a list of secrets whose transformer dropped the metadata has none of them, and
// does not grow with the list.
func TestTheErrorOfAListHasNoObjects(t *testing.T) {
	t.Parallel()
	c, _ := newContent(t)
	type bare struct{ Data string }
	list := contract.ReplacedAllInfo{ResourceVersion: "1"}
	for range 1000 {
		list.Objects = append(list.Objects, &bare{"hunter2"})
	}
	err := c.process(contract.Deltas{{Type: contract.ReplacedAll, Object: list}}, false)
	if err == nil || strings.Contains(err.Error(), "hunter2") || len(err.Error()) > 4<<10 ||
		!strings.Contains(err.Error(), "and 990 more") || !strings.Contains(err.Error(), "bare") {
		t.Errorf("error %v", err)
	}
}

// Room for a list is given back at once, and room for a batch after a few small ones: an informer in
// which nothing happens keeps neither.
func TestContentGivesRoomBack(t *testing.T) {
	t.Parallel()
	c, _ := newContent(t)
	updated := func(n int) (deltas []contract.Delta) {
		for i := range n {
			deltas = append(deltas, contract.Delta{Type: contract.Updated,
				Object: named(strconv.Itoa(i), "2")})
		}
		return deltas
	}
	var list []any
	for i := range 2 * chunk {
		list = append(list, named(strconv.Itoa(i), "1"))
	}
	if err := c.process(contract.Deltas{{Type: contract.ReplacedAll,
		Object: contract.ReplacedAllInfo{Objects: list, ResourceVersion: "1"}}}, true); err != nil {
		t.Fatal(err)
	}
	if err := c.process(contract.Deltas{{Type: contract.SyncAll}}, false); err != nil {
		t.Fatal(err)
	}
	if cap(c.notes) > 0 {
		t.Errorf("room for %d notifications of a list is kept", cap(c.notes))
	}
	for _, n := range []int{chunk, 1, chunk} { // one small batch says nothing
		if err := c.processBatch(updated(n), false); err != nil {
			t.Fatal(err)
		}
		if cap(c.writes) < chunk {
			t.Errorf("after a batch of %d there is room for %d writes", n, cap(c.writes))
		}
	}
	for range smallBatches {
		if err := c.processBatch(updated(2), false); err != nil {
			t.Fatal(err)
		}
	}
	if cap(c.writes) > littleRoom || cap(c.notes) > littleRoom {
		t.Errorf("room for %d writes and %d notifications is kept", cap(c.writes), cap(c.notes))
	}
}
