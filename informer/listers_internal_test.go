package informer

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/contract"
	"github.com/informerbench/informerbench/impl/lockfree"
	"github.com/informerbench/informerbench/informer/indexer"
)

// TestRoomsThatAreGivenBackKeepNoObject: a room waits in the pool for the next List, and must not
// keep deleted objects in memory meanwhile. It is not parallel: nobody else may borrow the room.
func TestRoomsThatAreGivenBackKeepNoObject(t *testing.T) {
	const namespace, pods = "a", 5
	indexers := contract.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	filled := func(x cache.Indexer, objects ...any) cache.Indexer {
		for _, obj := range objects {
			if err := x.Add(obj); err != nil {
				t.Fatal(err)
			}
		}
		return x
	}
	var all []any
	for i := range pods {
		all = append(all, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: string(rune('a' + i%2)), Name: string(rune('a' + i))}})
	}
	appends := filled(indexer.New(nil, lockfree.New(indexers), indexer.Options{}), all...)
	lists := filled(cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers), all...)
	text := func(any) (string, error) { return "key", nil }
	noObject := filled(cache.NewIndexer(text, nil), "no object")

	for name, c := range map[string]struct {
		use  func(r *room) ([]any, error)
		want int // objects that it returns
	}{
		"List": {func(r *room) ([]any, error) {
			return r.list(appends), nil
		}, pods},
		"List of an indexer that cannot append": {func(r *room) ([]any, error) {
			return r.list(lists), nil
		}, pods},
		"ByIndex": {func(r *room) ([]any, error) {
			return r.byIndex(appends, cache.NamespaceIndex, namespace)
		}, 3},
		"a namespace without the index": {func(r *room) ([]any, error) {
			return r.inNamespace(r.list(appends), namespace)
		}, 3},
		"a namespace without the index, of an indexer that cannot append": {func(r *room) ([]any, error) {
			return r.inNamespace(r.list(lists), namespace)
		}, 3},
		"a namespace with an error at the end": {func(r *room) ([]any, error) {
			objects, err := r.inNamespace(append(r.list(lists), r.list(noObject)...), namespace)
			if err == nil {
				t.Error("a string is taken for an object")
			}
			return objects, nil
		}, 0},
	} {
		r := &room{objects: make([]any, 0, 2*pods)} // as after an earlier List
		objects, err := c.use(r)
		if err != nil || len(objects) != c.want {
			t.Errorf("%s: %d objects, %v; want %d", name, len(objects), err, c.want)
		}
		r.giveBack()
		for i, obj := range r.objects[:cap(r.objects)] {
			if obj != nil {
				t.Errorf("%s: the room keeps a %T at %d", name, obj, i)
			}
		}
	}
	if got := len(lists.List()); got != pods {
		t.Errorf("the indexer has %d objects, want %d", got, pods)
	}
}
