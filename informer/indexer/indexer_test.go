package indexer_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/mutexmap"
	"github.com/informerbench/informerbench/informer/indexer"
)

// cacheIndexer has the methods of client-go's own indexer.
type cacheIndexer interface {
	cache.Indexer
	cache.TransactionStore
}

// bare is a store with the methods of contract.Store and no other.
type bare struct{ contract.Store }

// versioned is a store that keeps versions and has neither batches nor deletions
// with an object.
type versioned struct {
	contract.Store
	contract.ResourceVersioner
}

// The same cases run over client-go's indexer, so what they expect is what
// client-go does.
var implementations = map[string]func(contract.KeyFunc, contract.Indexers,
	contract.TransformFunc) cacheIndexer{
	"client-go": func(k contract.KeyFunc, ix contract.Indexers,
		tr contract.TransformFunc) cacheIndexer {
		if k == nil {
			k = cache.DeletionHandlingMetaNamespaceKeyFunc
		}
		return cache.NewIndexer(k, ix, cache.WithTransformer(tr)).(cacheIndexer)
	},
	"over mutexmap": over(func(ix contract.Indexers) contract.Store { return mutexmap.New(ix) }),
	"over client-go's store": over(func(ix contract.Indexers) contract.Store {
		return cache.NewThreadSafeStore(ix, cache.Indices{})
	}),
	"over a bare store": over(func(ix contract.Indexers) contract.Store {
		return bare{mutexmap.New(ix)}
	}),
	"over a store with versions": over(func(ix contract.Indexers) contract.Store {
		s := mutexmap.New(ix)
		return versioned{s, s}
	}),
	"over a store with batches and deletions only": over(func(ix contract.Indexers) contract.Store {
		s := mutexmap.New(ix)
		return struct {
			contract.Store
			contract.Transactor
			contract.ObjectDeleter
		}{s, s, s}
	}),
}

func over(newStore func(contract.Indexers) contract.Store) func(contract.KeyFunc, contract.Indexers,
	contract.TransformFunc) cacheIndexer {
	return func(k contract.KeyFunc, ix contract.Indexers, tr contract.TransformFunc) cacheIndexer {
		return indexer.New(k, newStore(ix), indexer.Options{Transformer: tr})
	}
}

func pod(name, node, version string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: version},
		Spec:       corev1.PodSpec{NodeName: node},
	}
}

func byNode(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil }

var errTransform = errors.New("cannot be transformed")

// mark transforms a pod into a marked copy, and fails on the pod named "bad".
func mark(obj any) (any, error) {
	p := obj.(*corev1.Pod)
	if p.Name == "bad" {
		return nil, errTransform
	}
	p = p.DeepCopy()
	p.Labels = map[string]string{"marked": "yes"}
	return p, nil
}

var cases = []struct {
	name      string
	transform contract.TransformFunc
	run       func(t *testing.T, x cacheIndexer)
}{
	{"add, update, get, delete", nil, func(t *testing.T, x cacheIndexer) {
		a, b := pod("a", "n1", "1"), pod("a", "n2", "2")
		noError(t, x.Add(a))
		wantGet(t, x, a, a)
		noError(t, x.Update(b))
		wantGet(t, x, a, b)
		if got, exists, err := x.GetByKey("ns/a"); got != any(b) || !exists || err != nil {
			t.Errorf("GetByKey gave %v, %v, %v", got, exists, err)
		}
		noError(t, x.Delete(a))
		wantGet(t, x, a, nil)
		noError(t, x.Delete(a))
		noError(t, x.Resync())
	}},
	{"indexes", nil, func(t *testing.T, x cacheIndexer) {
		a, b, c := pod("a", "n1", "1"), pod("b", "n1", "2"), pod("c", "n2", "3")
		for _, p := range []*corev1.Pod{a, b, c} {
			noError(t, x.Add(p))
		}
		keys, err := x.IndexKeys("node", "n1")
		noError(t, err)
		equal(t, "IndexKeys", keys, []string{"ns/a", "ns/b"})
		objects, err := x.ByIndex("node", "n2")
		noError(t, err)
		equal(t, "ByIndex", objects, []any{c})
		objects, err = x.Index("node", pod("", "n2", ""))
		noError(t, err)
		equal(t, "Index", objects, []any{c})
		equal(t, "ListIndexFuncValues", slices.Sorted(slices.Values(x.ListIndexFuncValues("node"))),
			[]string{"n1", "n2"})
		equal(t, "List", len(x.List()), 3)
		noError(t, x.AddIndexers(contract.Indexers{"namespace": cache.MetaNamespaceIndexFunc}))
		keys, err = x.IndexKeys("namespace", "ns")
		noError(t, err)
		equal(t, "IndexKeys of the index that came later", keys, []string{"ns/a", "ns/b", "ns/c"})
		equal(t, "GetIndexers", slices.Sorted(maps.Keys(x.GetIndexers())), []string{"namespace", "node"})
		if err := x.AddIndexers(contract.Indexers{"node": byNode}); err == nil {
			t.Error("AddIndexers took a name that is there")
		}
		if _, err := x.ByIndex("nowhere", ""); err == nil {
			t.Error("ByIndex of an unknown index gave no error")
		}
	}},
	{"replace, a key twice", nil, func(t *testing.T, x cacheIndexer) {
		noError(t, x.Add(pod("old", "n1", "1")))
		last := pod("a", "n2", "3")
		noError(t, x.Replace([]any{pod("a", "n1", "2"), pod("b", "n1", "2"), last}, "9"))
		equal(t, "ListKeys", slices.Sorted(slices.Values(x.ListKeys())), []string{"ns/a", "ns/b"})
		wantGet(t, x, last, last)
		equal(t, "version", x.LastStoreSyncResourceVersion(), "9")
		noError(t, x.Replace(nil, "10"))
		equal(t, "List after an empty Replace", len(x.List()), 0)
		noError(t, x.Add(last))
	}},
	{"key errors", nil, func(t *testing.T, x cacheIndexer) {
		a := pod("a", "n1", "1")
		noError(t, x.Add(a))
		_, _, getErr := x.Get(42)
		for name, err := range map[string]error{
			"Add": x.Add(42), "Update": x.Update(42), "Delete": x.Delete(42), "Get": getErr,
			"Replace": x.Replace([]any{pod("b", "n1", "2"), 42}, "2"),
		} {
			var keyError contract.KeyError
			if !errors.As(err, &keyError) || keyError.Obj != 42 || errors.Unwrap(keyError) == nil {
				t.Errorf("%s of what has no key: error %v; want a KeyError that carries it and wraps the cause",
					name, err)
			}
		}
		equal(t, "ListKeys after what failed", x.ListKeys(), []string{"ns/a"})
	}},
	{"tombstones and explicit keys", nil, func(t *testing.T, x cacheIndexer) {
		a, b := pod("a", "n1", "1"), pod("b", "n1", "2")
		noError(t, x.Add(a))
		noError(t, x.Add(b))
		wantGet(t, x, contract.ExplicitKey("ns/a"), a)
		noError(t, x.Delete(contract.DeletedFinalStateUnknown{Key: "ns/a", Obj: pod("a", "n1", "7")}))
		wantGet(t, x, a, nil)
		equal(t, "version: a tombstone has none", x.LastStoreSyncResourceVersion(), "2")
		noError(t, x.Delete(contract.ExplicitKey("ns/b")))
		equal(t, "List", len(x.List()), 0)
	}},
	{"resource versions", nil, func(t *testing.T, x cacheIndexer) {
		version := func(want string) {
			t.Helper()
			equal(t, "LastStoreSyncResourceVersion", x.LastStoreSyncResourceVersion(), want)
		}
		version("")
		noError(t, x.Add(pod("a", "n1", "3")))
		version("3")
		noError(t, x.Update(pod("a", "n1", "4")))
		version("4")
		x.Bookmark("8")
		version("8")
		noError(t, x.Delete(pod("a", "n1", "9")))
		version("9")
		noError(t, x.Replace([]any{pod("a", "n1", "5")}, "12"))
		version("12")
		if err := x.Transaction(write(contract.TransactionTypeUpdate, pod("a", "n1", "13")),
			write(contract.TransactionTypeDelete, pod("a", "n1", "14"))); err != nil {
			t.Fatal(err)
		}
		version("14")
	}},
	{"transaction", nil, func(t *testing.T, x cacheIndexer) {
		a, b := pod("a", "n2", "3"), pod("b", "n1", "4")
		noError(t, x.Add(pod("gone", "n1", "1")))
		err := x.Transaction(
			write(contract.TransactionTypeAdd, pod("a", "n1", "2")),
			write(contract.TransactionTypeUpdate, a),
			write(contract.TransactionTypeDelete, contract.DeletedFinalStateUnknown{Key: "ns/gone"}),
			write(contract.TransactionTypeAdd, b))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "ListKeys", slices.Sorted(slices.Values(x.ListKeys())), []string{"ns/a", "ns/b"})
		wantGet(t, x, a, a)
		if err := x.Transaction(); err != nil {
			t.Errorf("an empty Transaction: %v", err)
		}
	}},
	{"transaction with key errors", nil, func(t *testing.T, x cacheIndexer) {
		err := x.Transaction(
			write(contract.TransactionTypeAdd, pod("a", "n1", "1")),
			write(contract.TransactionTypeAdd, 42),
			write(contract.TransactionTypeAdd, pod("b", "n1", "2")),
			write(contract.TransactionTypeDelete, 43))
		if err == nil {
			t.Fatal("no error")
		}
		equal(t, "SuccessfulIndices", err.SuccessfulIndices, []int{0, 2})
		equal(t, "TotalTransactions", err.TotalTransactions, 4)
		var first contract.KeyError
		if len(err.Errors) != 2 || !errors.As(err.Errors[0], &first) || first.Obj != 42 {
			t.Errorf("errors %v; want a KeyError for each of 42 and 43", err.Errors)
		}
		equal(t, "ListKeys", slices.Sorted(slices.Values(x.ListKeys())), []string{"ns/a", "ns/b"})

		err = x.Transaction(write(contract.TransactionTypeAdd, 42))
		if err == nil || err.SuccessfulIndices == nil || len(err.SuccessfulIndices) != 0 {
			t.Errorf("a Transaction of nothing that can be keyed: %#v; want an error without successful "+
				"writes", err)
		}
	}},
	{"transformer", mark, func(t *testing.T, x cacheIndexer) {
		marked := func(name string) {
			t.Helper()
			got, exists, err := x.GetByKey("ns/" + name)
			if err != nil || !exists || got.(*corev1.Pod).Labels["marked"] != "yes" {
				t.Errorf("stored under %s: %v, %v, %v; want a marked pod", name, got, exists, err)
			}
		}
		noError(t, x.Add(pod("a", "n1", "1")))
		marked("a")
		noError(t, x.Update(pod("a", "n1", "2")))
		marked("a")
		noError(t, x.Replace([]any{pod("b", "n1", "3")}, "3"))
		marked("b")
		for name, err := range map[string]error{
			"Add": x.Add(pod("bad", "", "4")), "Update": x.Update(pod("bad", "", "5")),
			"Replace": x.Replace([]any{pod("c", "", "6"), pod("bad", "", "6")}, "6"),
		} {
			if !errors.Is(err, errTransform) || !strings.Contains(err.Error(), "transforming") {
				t.Errorf("%s: error %v; want the transformer's, wrapped", name, err)
			}
		}
		equal(t, "ListKeys after what failed", x.ListKeys(), []string{"ns/b"})
		noError(t, x.Delete(contract.DeletedFinalStateUnknown{Key: "ns/b"}))

		plain := pod("plain", "n1", "7")
		if err := x.Transaction(write(contract.TransactionTypeAdd, plain)); err != nil {
			t.Fatal(err)
		}
		if wantGet(t, x, plain, plain); plain.Labels["marked"] != "" {
			t.Error("a Transaction transforms")
		}
	}},
}

func TestAsClientGo(t *testing.T) {
	t.Parallel()
	for name, newIndexer := range implementations {
		for _, c := range cases {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				c.run(t, newIndexer(nil, contract.Indexers{"node": byNode}, c.transform))
			})
		}
	}
}

// The caller's key function is used, and its error is passed on.
func TestKeyFunc(t *testing.T) {
	t.Parallel()
	errKey := errors.New("no such key")
	x := indexer.New(func(obj any) (string, error) {
		if obj == "bad" {
			return "", errKey
		}
		return "key of " + obj.(string), nil
	}, mutexmap.New(nil), indexer.Options{})
	noError(t, x.Add("a"))
	equal(t, "ListKeys", x.ListKeys(), []string{"key of a"})
	if err := x.Add("bad"); !errors.Is(err, errKey) {
		t.Errorf("error %v; want to find the key function's", err)
	}
}

func write(kind contract.TransactionType, obj any) contract.Transaction {
	return contract.Transaction{Type: kind, Object: obj}
}

func wantGet(t *testing.T, x cacheIndexer, by, want any) {
	t.Helper()
	got, exists, err := x.Get(by)
	if got != want || exists != (want != nil) || err != nil {
		t.Errorf("Get(%v) gave %v, %v, %v; want %v", by, got, exists, err, want)
	}
}

func equal[V any](t *testing.T, what string, got, want V) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
