package packed

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// collected runs the collector until done, and reports whether it came to that.
func collected(done func() bool) bool {
	for range 100 {
		if runtime.GC(); done() {
			return true
		}
		runtime.Gosched()
	}
	return false
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: "u-1",
		ResourceVersion: "17", Labels: map[string]string{"app": name}}}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	k := New(Options{})
	kept := k.Keep(pod("a"))
	r := cold(t, kept)
	m, err := meta.Accessor(kept)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(m.GetNamespace(), m.GetName(), m.GetUID(), m.GetResourceVersion())
	if want := fmt.Sprint("ns", "a", "u-1", "17"); got != want {
		t.Errorf("metadata is %q, want %q", got, want)
	}
	if key, err := cache.MetaNamespaceKeyFunc(kept); key != "ns/a" || err != nil {
		t.Errorf("key is %q, %v", key, err)
	}
	if r.decoded.load().Value() != nil {
		t.Error("the metadata was decoded")
	}
	if again := k.Keep(kept); again != kept {
		t.Error("Keep changed a record")
	}
	if again := New(Options{}).Keep(kept); again != kept {
		t.Error("Keep changed a record of another keeper")
	}
}

// TestIdentity follows one object through its life: kept, referenced, collected, decoded, and
// collected again.
func TestIdentity(t *testing.T) {
	t.Parallel()
	k := New(Options{})
	obj := any(pod("a"))
	kept := k.Keep(obj)
	var gone atomic.Bool
	use := func(obj any) {
		gone.Store(false)
		runtime.AddCleanup(obj.(*corev1.Pod), func(*atomic.Bool) { gone.Store(true) }, &gone)
		runtime.GC()
		if got := k.Object(kept); got != obj {
			t.Fatalf("Object returned %p, but %p is in use", got, obj)
		}
		if !equality.Semantic.DeepEqual(obj, pod("a")) {
			t.Fatalf("decoded %v", obj)
		}
		runtime.KeepAlive(obj)
	}
	use(obj)
	for range 3 {
		if !collected(gone.Load) {
			t.Fatal("the record keeps its object alive")
		}
		use(k.Object(kept))
	}
	runtime.KeepAlive(kept)
}

// TestElements keeps objects that lie in one array and in the program's data.
func TestElements(t *testing.T) {
	t.Parallel()
	k := New(Options{})
	array := []corev1.Pod{*pod("a"), *pod("b"), *pod("c")}
	for i := range array {
		kept := k.Keep(&array[i])
		runtime.GC()
		if k.Object(kept) != any(&array[i]) {
			t.Errorf("element %d is another", i)
		}
	}
	kept := k.Keep(&global)
	runtime.GC()
	if k.Object(kept) != any(&global) {
		t.Error("the variable is another")
	}
}

var global = corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "global"}}

// TestReadersAgree lets goroutines read cold records at once: all that hold a result have the same.
func TestReadersAgree(t *testing.T) {
	t.Parallel()
	k := New(Options{FirstDictionary: 4})
	const readers = 8
	for i := range 300 {
		r := cold(t, k.Keep(pod(fmt.Sprint("pod-", i))))
		var got [readers]any
		var group sync.WaitGroup
		for n := range readers {
			group.Go(func() {
				if n == 0 && i%50 == 0 {
					runtime.GC()
				}
				got[n] = k.Object(r)
			})
		}
		group.Wait()
		for _, obj := range got {
			if obj != got[0] {
				t.Fatalf("record %d: readers hold %p and %p", i, got[0], obj)
			}
		}
	}
}

// TestKeepersAgree packs from several goroutines while dictionaries are made.
func TestKeepersAgree(t *testing.T) {
	t.Parallel()
	k := New(Options{FirstDictionary: 2})
	all := sources(t, 200)
	var group sync.WaitGroup
	for n := range 4 {
		group.Go(func() {
			for i := range 200 {
				s := all[(n+i)%2]
				obj := s.at(i)
				got := k.Object(cold(t, k.Keep(obj)))
				if !equality.Semantic.DeepEqual(got, obj) {
					t.Errorf("%s %d changed", s.name, i)
				}
			}
		})
	}
	group.Wait()
}

// TestRenewal packs pods of one shape and then of another. The new ones get a new dictionary, the
// old ones keep theirs, and it goes with the last of them.
func TestRenewal(t *testing.T) {
	t.Parallel()
	k := New(Options{FirstDictionary: 8})
	shape := func(seed uint64, i int) *corev1.Pod {
		p := pod(fmt.Sprint("pod-", i))
		rng := rand.New(rand.NewPCG(seed, 0))
		for range 40 {
			p.Annotations = map[string]string{"text": p.Annotations["text"] + fmt.Sprint(rng.Uint64())}
		}
		return p
	}
	var gone atomic.Bool
	renew := func() {
		var old []any
		for i := range 8 * growth {
			old = append(old, k.Keep(shape(1, i)))
		}
		first, last := old[len(old)-1].(*record), (*record)(nil)
		if first.made.dictionary == nil {
			t.Fatal("no dictionary")
		}
		runtime.AddCleanup(first.made, func(*atomic.Bool) { gone.Store(true) }, &gone)
		for i := range 3 * window {
			if last = k.Keep(shape(2, i)).(*record); last.made != first.made {
				break
			}
		}
		if last.made == first.made {
			t.Fatal("no new dictionary")
		}
		if a, b := len(first.blob.bytes()), len(last.blob.bytes()); b > a*3/2 {
			t.Errorf("a record of the new shape has %d bytes, one of the old %d", b, a)
		}
		for i, kept := range old {
			if got := k.Object(cold(t, kept)); !equality.Semantic.DeepEqual(got, shape(1, i)) {
				t.Fatalf("old object %d changed", i)
			}
		}
	}
	renew()
	if !collected(gone.Load) {
		t.Error("the old dictionary stays")
	}
	runtime.KeepAlive(k)
}

// TestFootprint measures what the doc comment promises: at most a tenth of the bytes and a
// fiftieth of the heap objects of decoded pods.
func TestFootprint(t *testing.T) {
	const n = 4000
	for _, s := range sources(t, n) {
		plain, plainObjects := footprint(n/8, s.at, nil)
		k := New(Options{})
		bytes, count := footprint(n, func(i int) any { return k.Keep(s.at(i)) }, nil)
		t.Logf("%s: %.0f bytes (%.3f) and %.2f heap objects (%.4f) each",
			s.name, bytes, bytes/plain, count, count/plainObjects)
		if bytes > plain/10 || count > plainObjects/50 {
			t.Errorf("%s: %.0f bytes of %.0f, %.2f heap objects of %.0f", s.name, bytes, plain, count,
				plainObjects)
		}
		runtime.KeepAlive(k)
	}
}

// TestMemoryComesBack drops records while their keeper goes on.
func TestMemoryComesBack(t *testing.T) {
	t.Parallel()
	k := New(Options{})
	var gone atomic.Int32
	const n = 500
	for i := range n {
		kept := k.Keep(pod(fmt.Sprint("pod-", i)))
		runtime.AddCleanup(kept.(*record), func(*atomic.Int32) { gone.Add(1) }, &gone)
		runtime.AddCleanup(kept.(*record).blob.length, func(*atomic.Int32) { gone.Add(1) }, &gone)
	}
	// The group holds at most the samples for its next dictionary.
	if !collected(func() bool { return gone.Load() >= 2*(n-laterSamples) }) {
		t.Errorf("%d records and blobs of %d were collected", gone.Load(), 2*n)
	}
	runtime.KeepAlive(k)
}

func TestHotAllocatesNothing(t *testing.T) {
	k := New(Options{})
	obj := pod("a")
	kept := k.Keep(obj)
	if n := testing.AllocsPerRun(100, func() { k.Object(kept) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	runtime.KeepAlive(obj)
}

// TestHotSet reads more objects than the set has places until each was hot, and then none.
func TestHotSet(t *testing.T) {
	t.Parallel()
	k := New(Options{})
	n := 2 * len(k.hot.places)
	var records []*record
	objs := make([]any, n)
	hotNow := func() (hot int) {
		for _, r := range records {
			if r.hot.Load() != nil {
				hot++
			}
		}
		return hot
	}
	for i := range n {
		objs[i] = pod(fmt.Sprint("pod-", i))
		records = append(records, k.Keep(objs[i]).(*record))
		for records[i].hot.Load() == nil {
			if got := k.Object(records[i]); got != objs[i] {
				t.Fatalf("Object returned %p for %p", got, objs[i])
			}
		}
		if got := k.Object(records[i]); got != objs[i] {
			t.Fatalf("a hot Object is %p, not %p", got, objs[i])
		}
		if hot := hotNow(); hot > len(k.hot.places) {
			t.Fatalf("%d records are hot, in %d places", hot, len(k.hot.places))
		}
	}
	if !collected(func() bool { return hotNow() == 0 }) {
		t.Errorf("%d records are hot after collections", hotNow())
	}
	if k.hot.ending.Load() {
		t.Error("the set waits for a collection, and has nothing to end")
	}
	runtime.KeepAlive(objs)
}

func TestCorruptRecordPanics(t *testing.T) {
	t.Parallel()
	k := New(Options{})
	r := cold(t, k.Keep(pod("broken")))
	whole := append(make([]byte, blobHeader), r.blob.bytes()...)
	r.blob = newBlob(whole[:len(whole)-3])
	defer func() {
		got := fmt.Sprint(recover())
		for _, part := range []string{"packed", "*v1.Pod", "ns/broken"} {
			if !strings.Contains(got, part) {
				t.Errorf("panic %q does not say %q", got, part)
			}
		}
	}()
	k.Object(r)
}

func TestValues(t *testing.T) {
	t.Parallel()
	k := New(Options{})
	kept := []any{k.Keep(pod("a")), k.Keep(pod("b"))}
	boom := errors.New("boom")
	for slot := range 5 {
		fails := func(any) ([]string, error) { return nil, boom }
		if _, err := k.Values(kept[0], slot, fails); !errors.Is(err, boom) {
			t.Errorf("slot %d: error %v", slot, err)
		}
		var calls atomic.Int32
		var group sync.WaitGroup
		var lists [4][]string
		for n := range lists {
			group.Go(func() {
				lists[n], _ = k.Values(kept[n%2], slot, func(obj any) ([]string, error) {
					calls.Add(1)
					return []string{obj.(*corev1.Pod).Namespace, fmt.Sprint(slot)}, nil
				})
			})
		}
		group.Wait()
		n := calls.Load()
		for i, r := range kept {
			got, err := k.Values(cold(t, r), slot, nil)
			if want := []string{"ns", fmt.Sprint(slot)}; !reflect.DeepEqual(got, want) || err != nil {
				t.Errorf("slot %d: %q, %v", slot, got, err)
			}
			if &got[0] != &lists[i][0] || r.(*record).decoded.load().Value() != nil {
				t.Errorf("slot %d of record %d is not remembered", slot, i)
			}
		}
		if n > 4 || calls.Load() != n {
			t.Errorf("slot %d was computed %d times", slot, calls.Load())
		}
	}
	for _, want := range [][]string{nil, {}} {
		r := k.Keep(pod("c"))
		for range 2 {
			got, err := k.Values(r, 0, func(any) ([]string, error) { return want, nil })
			if !reflect.DeepEqual(got, want) || err != nil {
				t.Errorf("values are %#v, %v, want %#v", got, err, want)
			}
		}
	}
	plain := pod("plain")
	got, _ := k.Values(plain, 0, func(obj any) ([]string, error) {
		return []string{obj.(*corev1.Pod).Name}, nil
	})
	if got[0] != "plain" {
		t.Errorf("values of an object are %q", got)
	}
}
