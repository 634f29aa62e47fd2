package keepertest

import (
	"encoding/hex"
	"math/rand/v2"
	"runtime"

	"k8s.io/apimachinery/pkg/api/meta"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

const (
	whyEqual    = "a controller would act on what the server never said"
	whyIdentity = "programs compare pointers to see whether an object has changed"
	whyMetadata = "an informer finds keys and versions without making objects"
	whyMemory   = "a controller that runs for months would run out of memory"
)

var cases = []suite.Case[constructor]{
	{Clause: "OBJECT-1", Name: "every-kind", Why: whyEqual,
		Run: func(t *suite.T, newKeeper constructor) {
			k := newKeeper()
			for _, kind := range kinds {
				t.Progress()
				for i, obj := range kind.make(t.Scale(60)) {
					want := obj.DeepCopyObject()
					kept := k.Keep(obj)
					if i%20 == 0 {
						runtime.GC()
					}
					sameValue(t, kind.name, k.Object(kept), want)
				}
			}
		}},
	{Clause: "OBJECT-1", Name: "any-object", Why: whyEqual,
		Run: func(t *suite.T, newKeeper constructor) {
			t.Random(func(rt *rapid.T) {
				k, n := newKeeper(), rapid.IntRange(1, 5).Draw(rt, "objects")
				kept, want := make([]any, n), make([]apiruntime.Object, n)
				for i := range kept {
					obj := anyObject(rt)
					want[i] = obj.DeepCopyObject()
					kept[i] = k.Keep(obj)
				}
				runtime.GC()
				for i := range kept {
					sameValue(rt, "a random object", k.Object(kept[i]), want[i])
				}
			})
		}},
	{Clause: "OBJECT-2", Name: "metadata", Why: whyMetadata,
		Run: func(t *suite.T, newKeeper constructor) {
			k := newKeeper()
			for _, kind := range kinds {
				for _, obj := range kind.make(20) {
					want := nameOf(t, obj)
					if got := nameOf(t, k.Keep(obj)); got != want {
						t.Fatalf("%s: the metadata of what is kept says %s, want %s", kind.name, got, want)
					}
				}
			}
		}},
	{Clause: "OBJECT-3", Name: "twice", Why: "what is kept would be kept again, and read wrongly",
		Run: func(t *suite.T, newKeeper constructor) {
			k := newKeeper()
			for _, kind := range kinds {
				for _, obj := range kind.make(20) {
					other := obj.DeepCopyObject()
					kept := k.Keep(obj)
					if again := k.Keep(kept); again != kept {
						t.Fatalf("%s: Keep of what was kept returns another value, a %T", kind.name, again)
					}
					got := k.Object(other)
					if got != any(other) {
						t.Fatalf("%s: Object of an object that was not kept returns another value, a %T",
							kind.name, got)
					}
				}
			}
		}},
	{Clause: "OBJECT-4", Name: "the-very-object", Why: whyIdentity,
		Run: func(t *suite.T, newKeeper constructor) {
			k := newKeeper()
			for _, kind := range kinds {
				t.Progress()
				objs := kind.make(20)
				kept := make([]any, len(objs))
				for i := range objs {
					kept[i] = k.Keep(objs[i])
				}
				runtime.GC()
				for i := range objs {
					if got := k.Object(kept[i]); got != any(objs[i]) {
						t.Fatalf("%s: Object returns another object than the one that was kept", kind.name)
					}
				}
				clear(objs)
				runtime.GC()
				runtime.GC()
				for i, one := range kept {
					objs[i] = k.Object(one).(apiruntime.Object)
				}
				runtime.GC()
				for i, one := range kept {
					if k.Object(one) != any(objs[i]) {
						t.Fatalf("%s: two calls of Object return two objects", kind.name)
					}
				}
			}
		}},
	{Clause: "OBJECT-5", Name: "later-versions", Why: whyEqual, Run: laterVersions},
	{Clause: "OBJECT-6", Name: "many-goroutines", Why: whyIdentity, Run: manyGoroutines},
	{Clause: "OBJECT-7", Name: "other-values",
		Why: "tombstones go through transforms and stores as objects do",
		Run: func(t *suite.T, newKeeper constructor) {
			k, obj := newKeeper(), kinds[0].make(1)[0]
			for _, v := range []any{nil, "text", 7, contract.ExplicitKey("a/b"), struct{ A int }{1},
				contract.DeletedFinalStateUnknown{Key: "a/b", Obj: obj}} {
				if got := k.Keep(v); got != v {
					t.Errorf("Keep(%T) returns a %T", v, got)
				}
				if got := k.Object(v); got != v {
					t.Errorf("Object(%T) returns a %T", v, got)
				}
			}
		}},
	{Clause: "OBJECT-8", Name: "objects-are-collected", Why: whyMemory, Run: areCollected},
	{Clause: "OBJECT-8", Name: "memory-stays", Why: whyMemory, Run: memoryStays},
}

// laterVersions keeps versions of the same objects beside each other, drops some, and looks at the
// others.
func laterVersions(t *suite.T, newKeeper constructor) {
	k := newKeeper()
	for _, kind := range kinds {
		t.Progress()
		objs := kind.make(60)
		held := make([]apiruntime.Object, len(objs)) // handed out
		want := make([]apiruntime.Object, len(objs))
		kept, later := make([]any, len(objs)), make([]any, len(objs))
		wantLater := make([]apiruntime.Object, len(objs))
		for i, obj := range objs {
			want[i] = obj.DeepCopyObject()
			changed := obj.DeepCopyObject()
			change(t, changed)
			wantLater[i] = changed.DeepCopyObject()
			kept[i] = k.Keep(obj)
			held[i] = k.Object(kept[i]).(apiruntime.Object)
			later[i] = k.Keep(changed)
			objs[i] = nil
		}
		for i := 0; i < len(kept); i += 2 {
			kept[i] = nil
		}
		for round := range 2 {
			runtime.GC()
			for i := range want {
				sameValue(t, kind.name+" handed out before", held[i], want[i])
				if kept[i] != nil {
					sameValue(t, kind.name, k.Object(kept[i]), want[i])
				}
				sameValue(t, "later version of "+kind.name, k.Object(later[i]), wantLater[i])
				if round == 0 && i%3 == 0 {
					k.Keep(wantLater[(i+1)%len(wantLater)].DeepCopyObject())
				}
			}
		}
	}
}

func manyGoroutines(t *suite.T, newKeeper constructor) {
	const goroutines = 4
	k := newKeeper()
	for range t.Scale(5) {
		t.Progress()
		objs := kinds[0].make(100)
		want := make([]apiruntime.Object, len(objs))
		kept := make([]any, len(objs))
		for i := range objs {
			want[i] = objs[i].DeepCopyObject()
			kept[i] = k.Keep(objs[i])
		}
		clear(objs)
		runtime.GC()
		runtime.GC()
		seen := make([][]any, goroutines)
		actors := make([]func(), 0, goroutines+1)
		for g := range goroutines {
			actors = append(actors, func() {
				for _, one := range kept {
					seen[g] = append(seen[g], k.Object(one))
				}
			})
		}
		actors = append(actors, func() {
			for _, obj := range kinds[0].make(100) {
				k.Keep(obj)
			}
		})
		t.Together(actors...)
		for i := range kept {
			for g := range goroutines {
				if seen[g][i] != seen[0][i] {
					t.Fatalf("two goroutines read object %d at once and got two objects",
						i)
				}
			}
			sameValue(t, "an object that several goroutines read", seen[0][i], want[i])
		}
	}
}

// areCollected wants objects that went to be collected, though others stay.
func areCollected(t *suite.T, newKeeper constructor) {
	k := newKeeper()
	stays := k.Keep(kinds[0].make(1)[0])
	for _, kind := range kinds {
		t.Progress()
		const n = 50
		var gone collected
		kept := make([]any, 0, n)
		for _, obj := range kind.make(n) {
			gone.watch(obj)
			kept = append(kept, k.Keep(obj))
		}
		for _, one := range kept {
			gone.watch(k.Object(one))
		}
		clear(kept)
		if left := gone.after(20); left > n/10 {
			t.Errorf("%s: %d of %d objects that nothing refers to are still there", kind.name, left, n)
		}
	}
	runtime.KeepAlive(stays)
	runtime.KeepAlive(k)
}

// memoryStays keeps and drops objects that have random text of their own, so that neither sharing
// nor compression makes a leak small. The text is large because the heap is measured, which the
// other tests of the process share.
func memoryStays(t *suite.T, newKeeper constructor) {
	const rounds, each, size = 24, 40, 50_000
	k, random := newKeeper(), rand.NewChaCha8([32]byte{})
	round := func() {
		t.Progress()
		for _, obj := range kinds[0].make(each) {
			once := make([]byte, size/2)
			_, _ = random.Read(once)
			m, _ := meta.Accessor(obj)
			m.SetAnnotations(map[string]string{"once": hex.EncodeToString(once)})
			k.Object(k.Keep(obj))
		}
	}
	for range rounds / 3 {
		round()
	}
	before := heap()
	for range rounds {
		round()
	}
	const most = rounds * each * size / 2
	grown := int64(heap()) - int64(before)
	if grown > most {
		t.Errorf("%d objects of %d KB came and went, and the heap has grown by %d KB, more than %d",
			rounds*each, size/1000, grown>>10, most>>10)
	}
	runtime.KeepAlive(k)
}
