package synthetic

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

func jsonSize(t *testing.T, obj any) int {
	t.Helper()
	data, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return len(data)
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind ObjectKind
		want int
	}{{KindPod, 9_000}, {KindNode, 13_000}} {
		objects := Generate(ObjectSpec{Kind: c.kind, Count: 100}, 7)
		for i := range objects.Len() {
			if got := jsonSize(t, objects.At(i)); got < c.want*9/10 || got > c.want*11/10 {
				t.Fatalf("%s %d is %d bytes of JSON, want %d give or take 10 percent", c.kind, i, got, c.want)
			}
		}
	}
}

func TestGenerateIsAFunctionOfTheSeed(t *testing.T) {
	t.Parallel()
	for _, kind := range []ObjectKind{KindPod, KindNode, KindSmall} {
		spec := ObjectSpec{Kind: kind, Count: 200}
		a, b, other := Generate(spec, 1), Generate(spec, 1), Generate(spec, 2)
		if !reflect.DeepEqual(a.All(), b.All()) {
			t.Errorf("%s: the same seed gave other objects", kind)
		}
		if reflect.DeepEqual(a.All(), other.All()) {
			t.Errorf("%s: another seed gave the same objects", kind)
		}
	}
}

func TestKeysAndVersionsAreUnique(t *testing.T) {
	t.Parallel()
	for _, kind := range []ObjectKind{KindPod, KindNode, KindSmall, KindKey} {
		objects := Generate(ObjectSpec{Kind: kind, Count: 1_000, Namespaces: 7}, 3)
		keys, versions := map[string]bool{}, map[string]bool{}
		for i := range objects.Len() {
			keys[objects.Key(i)] = true
			if kind == KindKey {
				continue
			}
			obj := objects.At(i).(interface{ GetResourceVersion() string })
			versions[obj.GetResourceVersion()] = true
			if got := Key(obj); got != objects.Key(i) {
				t.Fatalf("%s %d: Key gives %q, the object's is %q", kind, i, objects.Key(i), got)
			}
		}
		if len(keys) != 1_000 || (kind != KindKey && len(versions) != 1_000) {
			t.Errorf("%s: %d keys and %d versions, want 1000 of each", kind, len(keys), len(versions))
		}
	}
	if got := Generate(ObjectSpec{Kind: KindKey, Count: 200, Namespaces: 100},
		1).Key(112); got != "ns-12/pod-000112" {
		t.Errorf("key 112 is %q", got)
	}
}

// TestPlacement checks Generate against the rule of its comment: nodes have equally many
// pods, give or take one, whatever the remainders are.
func TestPlacement(t *testing.T) {
	t.Parallel()
	for _, spec := range []ObjectSpec{
		{Kind: KindSmall, Count: 1_000, Namespaces: 10, PerNode: 100},
		{Kind: KindSmall, Count: 1_003, Namespaces: 7, Nodes: 11},
		{Kind: KindSmall, Count: 5, Namespaces: 100, Nodes: 100},
		{Kind: KindSmall, Count: 3_000, Namespaces: 50, Nodes: 50},
		{Kind: KindSmall, Count: 1},
	} {
		objects := Generate(spec, 9)
		perNode, perNamespace := map[string]int{}, map[string]int{}
		nodesOf := map[string]map[string]bool{}
		for i := range objects.Len() {
			pod := objects.At(i).(*corev1.Pod)
			perNode[pod.Spec.NodeName]++
			perNamespace[pod.Namespace]++
			if nodesOf[pod.Namespace] == nil {
				nodesOf[pod.Namespace] = map[string]bool{}
			}
			nodesOf[pod.Namespace][pod.Spec.NodeName] = true
		}
		if len(perNamespace) != spec.NamespaceCount() {
			t.Errorf("%+v: %d namespaces, want %d", spec, len(perNamespace), spec.NamespaceCount())
		}
		low, high := spec.Count/spec.NodeCount(), (spec.Count+spec.NodeCount()-1)/spec.NodeCount()
		for node, n := range perNode {
			if n < low || n > high {
				t.Errorf("%+v: %s has %d pods, want %d to %d", spec, node, n, low, high)
			}
		}
		for ns, nodes := range nodesOf {
			if want := min(perNamespace[ns], spec.NodeCount()); len(nodes) != want {
				t.Errorf("%+v: the %d pods of %s are on %d nodes, want %d", spec, perNamespace[ns], ns,
					len(nodes), want)
			}
		}
		if got := len(objects.IndexedValues(IndexNode)); got != len(perNode) {
			t.Errorf("%+v: %d indexed nodes, want %d", spec, got, len(perNode))
		}
	}
}

func TestMutate(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, kind := range []ObjectKind{KindPod, KindSmall, KindNode} {
		objects := Generate(ObjectSpec{Kind: kind, Count: 10, Nodes: 1}, 1)
		old := objects.At(3)
		before := jsonSize(t, old)
		versions := map[string]bool{}
		byNode := Indexers()[IndexNode]
		for i := range 200 {
			change := i%2 == 0
			next := objects.Mutate(old, rng, change)
			versions[next.(interface{ GetResourceVersion() string }).GetResourceVersion()] = true
			if Key(next) != Key(old) {
				t.Fatalf("%s: the key changed", kind)
			}
			was, _ := byNode(old)
			is, err := byNode(next)
			if err != nil {
				t.Fatal(err)
			}
			if moved := !cmp.Equal(was, is); kind != KindNode && moved != change {
				t.Fatalf("%s: changeIndexed=%v, but the indexed value went from %v to %v", kind, change, was,
					is)
			}
			old = next
		}
		if len(versions) != 200 || objects.Version() != "210" {
			t.Errorf("%s: %d versions up to %s, want 200 up to 210", kind, len(versions), objects.Version())
		}
		if jsonSize(t, objects.At(3)) != before || objects.At(3).(interface {
			GetResourceVersion() string
		}).GetResourceVersion() != "4" {
			t.Errorf("%s: Mutate changed the object that it was given", kind)
		}
	}
}

func TestIndexersRefuseStrangers(t *testing.T) {
	t.Parallel()
	if _, err := Indexers()[IndexNode]("a string"); err == nil {
		t.Error("a string was indexed by node")
	}
	pending := &corev1.Pod{}
	if values, err := Indexers()[IndexNode](pending); err != nil || len(values) != 0 {
		t.Errorf("a pod without a node has the values %v, error %v", values, err)
	}
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, Indexers())
	objects := Generate(ObjectSpec{Kind: KindSmall, Count: 300, Namespaces: 3, PerNode: 100}, 1)
	if err := indexer.Replace(objects.Items(), objects.Version()); err != nil {
		t.Fatal(err)
	}
	if got, err := indexer.ByIndex(IndexNode, "node-00001"); err != nil || len(got) != 100 {
		t.Errorf("%d pods on a node, error %v; want 100", len(got), err)
	}
}

// TestHeap checks the sharing between pods: 100,000 of them take less than 400 MB, so a
// fifth of them less than 80 MB.
func TestHeap(t *testing.T) {
	const count, limit = 20_000, 80 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	objects := Generate(ObjectSpec{Kind: KindPod, Count: count}, 1)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > limit {
		t.Errorf("%d pods take %d bytes of heap, want at most %d", count, used, limit)
	}
	runtime.KeepAlive(objects)
}

func BenchmarkGenerate(b *testing.B) {
	for b.Loop() {
		Generate(ObjectSpec{Kind: KindPod, Count: 100_000}, 1)
	}
}

func BenchmarkMutate(b *testing.B) {
	objects := Generate(ObjectSpec{Kind: KindPod, Count: 1_000}, 1)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, change := range []bool{false, true} {
		b.Run(fmt.Sprintf("index=%v", change), func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				objects.Mutate(objects.At(i%1_000), rng, change)
				i++
			}
		})
	}
}
