package fifotest

// The transformer.

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/client-go/tools/cache"

	"github.com/informerbench/informerbench/conformance/suite"
	"github.com/informerbench/informerbench/contract"
)

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
	b.t.ErrorIf(len(tr.calls) > len(want), "the transformer was called for %v, want only %v", tr.calls,
		want)
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
			b.t.ErrorIf(renderObject(list[0]) != "known@3" || renderObject(list[1]) != "b@4",
				"the list that Replace was given holds transformed objects")
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
			b.t.ErrorIf(err == nil || !strings.Contains(err.Error(), errTransform.Error()),
				"Replace returned %v, want the transformer's error", err)
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
			b.t.FatalIf(!ok, "%T takes a transformer and is no cache.TransformingStore", b.f)
			got := store.Transformer()
			if got == nil || reflect.ValueOf(got).Pointer() != reflect.ValueOf(tr.transform).Pointer() {
				b.t.Errorf("Transformer does not return the function that was given")
			}
		}),
}
