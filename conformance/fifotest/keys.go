package fifotest

// KeyFunc: its default, its failures, and tombstones.

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

var keyCases = fifoCases{
	check("FIFO-8", "key-error", "an object without a key is queued under the empty key, or the "+
		"error hides which it was", func(t *suite.T, construct newFIFO) {
		b := setUp(t, construct, known())
		for name, call := range map[string]func(any) error{"Add": b.f.Add, "Update": b.f.Update,
			"Delete": b.f.Delete} {
			wantKeyError(t, name, call("no key"), "no key")
		}
		b.drain()
	}),
	on("FIFO-9", "key-error-in-a-list", "a bad object in a list passes unseen", objs(),
		func(b *fixture) {
			only(b.t, contract.Coalescing, contract.InOrder)
			err := b.f.Replace([]any{obj("a", 1), "no key", obj("b", 2)}, "7")
			wantKeyError(b.t, "Replace", err, "no key")
		}),
	on("FIFO-9", "list-without-keys", "one object without a key keeps a whole list from the cache",
		nil, func(b *fixture) {
			only(b.t, contract.InOrderAtomic)
			b.must(b.f.Replace([]any{obj("a", 1), "no key"}, "7"))
			b.drain("ReplacedAll(rv 7 [a@1 no key])")
		}),
	ofTransform("FIFO-8", "key-error-before-transformer",
		"an object without a key is queued under the empty key once it was transformed",
		func(b *fixture, tr *transformer) {
			tr.takes = true
			for name, call := range map[string]func(any) error{"Add": b.f.Add, "Update": b.f.Update,
				"Delete": b.f.Delete} {
				wantKeyError(b.t, name, call("no key"), "no key")
			}
			b.drain()
		}),
	check("FIFO-11", "nil-object", "an object that a decoder left nil ends the process",
		func(t *suite.T, construct newFIFO) {
			b := setUpFIFO(t, construct(contract.FIFOConfig{KeyFunc: func(o any) (string, error) {
				return fmt.Sprint(o), nil
			}, KnownObjects: known()}))
			b.add(nil)
			b.pop("Added(<nil>)")
			b.replace(nil)
			if b.class == contract.InOrderAtomic {
				b.drain("ReplacedAll(rv 7 [<nil>])")
			} else {
				b.drain("Replaced(<nil>)")
			}
		}),
	on("FIFO-10", "tombstones",
		"a missed deletion fails for want of a key, and the object stays in the cache for ever",
		objs(obj("a", 1), obj("b", 2)), func(b *fixture) {
			// KeyFunc accepts only objects of the suite, and these tombstones hold none.
			b.remove(contract.DeletedFinalStateUnknown{Key: "a"},
				contract.DeletedFinalStateUnknown{Key: "b", Obj: "no key"})
			b.drain("Deleted(tombstone a <nil>)", "Deleted(tombstone b no key)")
		}),
	on("FIFO-10", "tombstone-joins-its-key",
		"the deletion of an object is processed apart from its update", nil, func(b *fixture) {
			only(b.t, contract.Coalescing)
			b.add(obj("a", 1), obj("b", 2))
			b.remove(contract.DeletedFinalStateUnknown{Key: "a", Obj: obj("b", 3)})
			b.drain("Added(a@1) Deleted(tombstone a b@3)", "Added(b@2)")
		}),
	check("FIFO-11", "default-key-func",
		"code written for client-go's defaults panics or mixes up namespaces",
		func(t *suite.T, construct newFIFO) {
			b := setUpFIFO(t, construct(contract.FIFOConfig{KnownObjects: known()}))
			pod := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}
			node := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
			b.add(pod, node, contract.ExplicitKey("ns/b"))
			wantKeyError(t, "Add", b.f.Add(42), 42)
			b.update(contract.ExplicitKey("ns/a"))
			want := []contract.Deltas{
				{{Type: contract.Added, Object: pod}},
				{{Type: contract.Added, Object: node}},
				{{Type: contract.Added, Object: contract.ExplicitKey("ns/b")}},
				{{Type: contract.Updated, Object: contract.ExplicitKey("ns/a")}},
			}
			if b.class == contract.Coalescing {
				want[0] = append(want[0], want[3]...)
				want = want[:3]
			}
			for i, w := range want {
				p := b.popWith(nil)
				same := len(p.deltas) == len(w)
				for j := 0; same && j < len(w); j++ {
					same = p.deltas[j] == w[j]
				}
				if !same {
					t.Fatalf("Pop %d gave process %v, want %v", i+1, p.deltas, w)
				}
			}
			b.drain()
		}),
	check("FIFO-11", "key-func-is-asked",
		"objects that a program keys by another field are mixed up by their names",
		func(t *suite.T, construct newFIFO) {
			only(t, contract.Coalescing, contract.InOrder)
			b := setUpFIFO(t, construct(
				contract.FIFOConfig{KnownObjects: known(), KeyFunc: func(o any) (string, error) {
					return string(o.(*metav1.PartialObjectMetadata).UID), nil
				}}))
			b.add(named("ns", "a", "1"), named("ns", "a", "2"))
			b.replace(named("ns", "b", "1"))
			wantDeletions(b, "2")
		}),
	check("FIFO-11", "one-key-in-many-forms",
		"a deletion misses its object because the key was put together in another way",
		func(t *suite.T, construct newFIFO) {
			only(t, contract.Coalescing, contract.InOrder)
			b := setUpFIFO(t, construct(contract.FIFOConfig{KnownObjects: known()}))
			for _, same := range [][]any{
				{named("n", "x", ""), contract.ExplicitKey("n/x")},
				{contract.ExplicitKey("a/b"), named("", "a/b", ""), named("a", "b", "")},
				{named("x/y", "z", ""), contract.ExplicitKey("x/y/z")},
				{contract.ExplicitKey("/y/z"), named("/y", "z", "")},
				{contract.ExplicitKey("/q")},
				{contract.ExplicitKey("q"), named("", "q", "")},
			} {
				b.add(same...)
			}
			b.replace()
			wantDeletions(b, "n/x", "a/b", "x/y/z", "/y/z", "/q", "q")
		}),
}

func named(namespace, name, uid string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(uid)}}
}

// wantDeletions checks the keys of all tombstones that wait, in order.
func wantDeletions(b *fixture, want ...string) {
	b.f.Close()
	var got []string
	for p := b.popWith(nil); p.err == nil; p = b.popWith(nil) {
		for _, d := range p.deltas {
			if tombstone, ok := d.Object.(contract.DeletedFinalStateUnknown); ok &&
				d.Type == contract.Deleted {
				got = append(got, tombstone.Key)
			}
		}
	}
	if !slices.Equal(got, want) {
		b.t.Fatalf("the list implied the deletions of the keys %q, want %q",
			got, want)
	}
}

// wantKeyError checks that err is a KeyError for o.
func wantKeyError(t *suite.T, call string, err error, o any) {
	var keyError contract.KeyError
	if !errors.As(err, &keyError) {
		t.Errorf("%s of an object without a key returned %v, want a KeyError", call, err)
		return
	}
	if keyError.Obj != o {
		t.Errorf("the KeyError of %s carries %v, want %v", call, keyError.Obj, o)
	}
}

// The transformer.

// transformer stamps objects: version 1 becomes 1001, and so on. It counts its calls, and
// fails for version failOn.
type transformer struct {
	calls  map[string]int
	failOn int
	takes  bool // whether it returns foreign values unchanged, instead of an error
}

var errTransform = errors.New("cannot transform")

func (tr *transformer) transform(o any) (any, error) {
	tr.calls[renderObject(o)]++
	in, ok := o.(*object)
	switch {
	case !ok && tr.takes:
		return o, nil
	case !ok:
		return nil, fmt.Errorf("the transformer was given %T", o)
	case in.version == tr.failOn:
		return nil, errTransform
	}
	return obj(in.key, in.version+1000), nil
}

// ofTransform makes a case for FIFOs with a transformer.
func ofTransform(clause, name, why string, run func(b *fixture, tr *transformer)) fifoCase {
	return check(clause, name, why, func(t *suite.T, _ newFIFO) {
		construct := settingsOf(t).newTransforming
		if construct == nil {
			t.Skipf("no constructor of a FIFO with a transformer was given (fifotest.NewTransforming)")
		}
		tr := &transformer{calls: map[string]int{}}
		k := known(obj("known", 1), obj("gone", 2))
		run(setUpFIFO(t, construct(contract.FIFOConfig{KeyFunc: keyFunc, KnownObjects: k}, tr.transform)),
			tr)
	})
}

func (tr *transformer) wantCalls(b *fixture, want ...string) {
	for _, o := range want {
		if tr.calls[o] != 1 {
			b.t.Errorf("the transformer was called %d times for %s, want once", tr.calls[o], o)
		}
	}
	if len(tr.calls) > len(want) {
		b.t.Errorf("the transformer was called for %v, want only %v", tr.calls,
			want)
	}
}

var transformCases = fifoCases{
	ofTransform("FIFO-53", "events",
		"objects keep the fields that the transformer should have dropped, or lose them twice",
		func(b *fixture, tr *transformer) {
			b.add(obj("a", 1))
			b.update(obj("b", 2))
			b.remove(obj("known", 3))
			b.drain("Added(a@1001)", "Updated(b@1002)", "Deleted(known@1003)")
			tr.wantCalls(b, "a@1", "b@2", "known@3")
		}),
	ofTransform("FIFO-53", "list",
		"objects keep the fields that the transformer should have dropped, or lose them twice",
		func(b *fixture, tr *transformer) {
			list := []any{obj("known", 3), obj("b", 4)}
			b.must(b.f.Replace(list, "7"))
			if renderObject(list[0]) != "known@3" || renderObject(list[1]) != "b@4" {
				b.t.Errorf("the list that Replace was given holds transformed objects")
			}
			b.drain(map[contract.FIFOClass][]string{
				contract.Coalescing: {"Replaced(known@1003)", "Replaced(b@1004)",
					"Deleted(tombstone gone gone@2)"},
				contract.InOrder: {"Deleted(tombstone gone gone@2)", "Replaced(known@1003)",
					"Replaced(b@1004)"},
				contract.InOrderAtomic: {"ReplacedAll(rv 7 [known@1003 b@1004])"},
			}[b.class]...)
			tr.wantCalls(b, "known@3", "b@4")
		}),
	ofTransform("FIFO-54", "tombstones-and-resync",
		"an object is transformed again when it is resynced, and breaks",
		func(b *fixture, tr *transformer) {
			b.remove(tombstone(obj("gone", 3)))
			b.must(b.f.Resync())
			want := []string{"Deleted(tombstone gone gone@3)", "Sync(known@1)"}
			if b.class == contract.InOrderAtomic {
				want[1] = "SyncAll(all)"
			}
			b.drain(want...)
			tr.wantCalls(b)
		}),
	ofTransform("FIFO-55", "error",
		"an object that cannot be transformed is queued as it is, or as nil",
		func(b *fixture, tr *transformer) {
			tr.failOn = 3
			for name, call := range map[string]func(any) error{"Add": b.f.Add, "Update": b.f.Update,
				"Delete": b.f.Delete} {
				if err := call(obj("known", 3)); !errors.Is(err, errTransform) {
					b.t.Errorf("%s returned %v, want the transformer's error", name, err)
				}
			}
			err := b.f.Replace([]any{obj("known", 3)}, "7")
			if err == nil || !strings.Contains(err.Error(), errTransform.Error()) {
				b.t.Errorf("Replace returned %v, want the transformer's error", err)
			}
			b.f.Close()
			for p := b.popWith(nil); p.err == nil; p = b.popWith(nil) {
				for _, d := range p.deltas {
					if o, ok := d.Object.(*object); d.Object == nil || ok && o.version%1000 == 3 {
						b.t.Errorf("%s was queued though the transformer failed", render(p.deltas))
					}
				}
			}
		}),
	ofTransform("FIFO-56", "transformer", "the reflector gathers a list of objects in full size",
		func(b *fixture, tr *transformer) {
			store, ok := b.f.(cache.TransformingStore)
			if !ok {
				b.t.Fatalf("%T takes a transformer and is no cache.TransformingStore", b.f)
			}
			got := store.Transformer()
			if got == nil || reflect.ValueOf(got).Pointer() != reflect.ValueOf(tr.transform).Pointer() {
				b.t.Errorf("Transformer does not return the function that was given")
			}
		}),
}
